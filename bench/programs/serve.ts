import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens on a free port, prints its address as the service does, and ends on SIGTERM. */
export function serve(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.stdout.write(`Rollcall listens on http://127.0.0.1:${port}\n`)
  })
  process.once('SIGTERM', () => {
    server.close()
    server.closeAllConnections()
  })
}
