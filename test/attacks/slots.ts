import { connect, type Socket } from 'node:net'
import type { Attack } from './carry-out.ts'
import { comesFromElsewhere, signUp } from './bystander.ts'

const post = 'POST /api/signup HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
/** A request whose last byte is missing. */
const stalledBody = (bytes: number) =>
  `${post}Content-Length: ${bytes}\r\n\r\n${' '.repeat(bytes - 1)}`
/** Large bodies take most of the space, and small ones take the rest. */
const bodies = [...Array<number>(80).fill(1_000_000), ...Array<number>(220).fill(4_500)].map(
  stalledBody,
)
/** Counts as busy, so that only the share of each address leaves connections for others. */
const smallBody = `${post}Content-Length: 1000\r\n\r\n`
/** Counts as idle, so that the service closes it for a new connection, also of the same address. */
const halfHead = 'GET /api/health HTTP/1.1\r\n'

export const slots: Attack = {
  what: 'One address takes all connections and all the space for bodies, and others still sign up.',
  peakBytesMax: 600 * 1024 * 1024,
  run: async ({ url }, size) => {
    const { hostname, port } = new URL(url)
    const sockets: Socket[] = []
    const open = (bytes: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(bytes, () => resolve()))
        socket.on('error', () => {}).once('close', () => resolve())
        sockets.push(socket)
      })
    const connections = size === 'small' ? 500 : 10_500
    for (const body of bodies) await open(body)
    const bytes = comesFromElsewhere ? smallBody : halfHead
    for (let count = 0; count < connections; count += 50) {
      await Promise.all(Array.from({ length: 50 }, () => open(bytes)))
    }
    await signUp(url)
    for (const socket of sockets) socket.resetAndDestroy()
    // This is answered after the service has noticed the resets.
    await signUp(url)
  },
}
