import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export interface LoopbackServer {
  /** `http://127.0.0.1:port` */
  readonly url: string
  /** Closes the server and all connections. A second call does nothing. */
  readonly stop: () => Promise<void>
}

/** Serves on 127.0.0.1. Port 0, the default, takes a free port. */
export async function startLoopbackServer(
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  port = 0,
): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      // This is a bug of the emulator. No provider answers with 599.
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      if (!response.headersSent) response.writeHead(599, { 'Content-Type': 'text/plain' })
      response.end(`The emulator failed.\n${text}\n`)
    })
  })
  server.listen(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      if (!server.listening) return
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
