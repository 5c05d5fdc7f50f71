import { once } from 'node:events'
import { createServer } from 'node:net'

/** Systems take the ports of connections from a higher range. */
const first = 20_000
const count = 10_000

/**
 * A port of 127.0.0.1 on which nothing listens, for a server that starts later. No connection takes it
 * until then, because systems take the ports of connections from a higher range.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * count)
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
