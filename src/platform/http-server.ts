import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'

export interface HttpServer {
  /** Where it listens, for people on this machine. */
  readonly url: string
  /** Takes no more connections, and resolves when every request was answered, or cut off after `graceMs`. */
  close(graceMs: number): Promise<void>
}

export interface HttpServerOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

/** @throws Error when the address cannot be used, with the operating system's reason. */
export async function listen({ fetch, host, port }: HttpServerOptions): Promise<HttpServer> {
  const server = createAdaptorServer({ fetch })
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(
        new Error(
          `Cannot listen on port ${port} of ${host}: ${cause.message}. Set PORT or HOST to another one, ` +
            'or stop what uses it.',
          { cause },
        ),
      )
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
  const address = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`,
    close: (graceMs) =>
      new Promise((resolve, reject) => {
        const cutOff = setTimeout(() => {
          if ('closeAllConnections' in server) server.closeAllConnections()
        }, graceMs)
        server.close((error) => {
          clearTimeout(cutOff)
          if (error) reject(error)
          else resolve()
        })
      }),
  }
}
