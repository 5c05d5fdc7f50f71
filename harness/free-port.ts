import { once } from 'node:events'
import { createServer } from 'node:net'

/** Systems give connections ports above these. */
const first = 20_000
const count = 10_000

/**
 * A port of 127.0.0.1 on which nothing listens, for a server that is started later. No connection of
 * any program takes it meanwhile, as systems choose from higher ones.
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
