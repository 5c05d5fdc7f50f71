import { once } from 'node:events'
import { createServer } from 'node:net'

/** Each worker of a run has a range of its own and takes one port after the other, so that no two take the same. */
const count = 500
const first = 20_000 + count * (Number(process.env['VITEST_POOL_ID'] ?? 0) % 20)
let next = Math.floor(Math.random() * count)

/**
 * A port of 127.0.0.1 on which nothing listens, for a server that starts later. No connection takes it
 * until then, because systems take the ports of connections from a higher range.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % count)
    const server = createServer()
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
