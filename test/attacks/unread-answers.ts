import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from './carry-out.ts'

/** Short requests with large answers. */
const paths = ['/api/openapi.json', '/', '/embed.js', '/api/health', '/nothing']
const post =
  'POST /api/signup HTTP/1.1\r\nHost:a\r\nContent-Type:application/json\r\nContent-Length:26\r\n\r\n' +
  '{"email":"ada@example.com"}'.slice(0, 26)
const requests = [...paths.map((path) => `GET ${path} HTTP/1.1\r\nHost:a\r\n\r\n`), post]

/** Longer than the service lets a client take to read an answer. */
const readNothingMs = 35_000

export const unreadAnswers: Attack = {
  what: 'Requests are sent ahead without end, and no answer is read.',
  // Most of it is garbage: Node makes objects for each request that it has read.
  peakBytesMax: 600 * 1024 * 1024,
  run: async ({ url }, size) => {
    const [connections, ahead] = size === 'small' ? [50, 2_000] : [200, 5_000]
    const { hostname, port } = new URL(url)
    const sockets = Array.from({ length: connections }, (_, index) => {
      const socket = connect(Number(port), hostname).pause()
      socket.on('error', () => {})
      socket.write((requests[index % requests.length] ?? '').repeat(ahead))
      return socket
    })
    await sleep(size === 'small' ? 2_000 : readNothingMs)
    // A socket notices the end of its connection only when it reads.
    for (const socket of sockets) socket.resume()
    await sleep(1_000)
    for (const socket of sockets) socket.resetAndDestroy()
  },
}
