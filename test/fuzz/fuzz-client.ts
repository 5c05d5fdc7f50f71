import { Agent, request as httpRequest } from 'node:http'

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
}

export interface FuzzAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Sends requests over connections that are used again. Rejects when the connection breaks. */
export function createFuzzClient(url: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(url)
  const send = ({ method, path, headers, body }: FuzzRequest) => {
    const { promise, resolve, reject } = Promise.withResolvers<FuzzAnswer>()
    const outgoing = httpRequest({ agent, hostname, port, method, path, headers }, (incoming) => {
      let body = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (text: string) => (body += text))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const entries = Object.entries(incoming.headersDistinct)
        const flat = entries.map(([name, values = []]): [string, string] => [
          name,
          values.join(', '),
        ])
        resolve({ status: incoming.statusCode ?? 0, headers: new Headers(flat), body })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
    return promise
  }
  return {
    send,
    [Symbol.dispose]: () => {
      agent.destroy()
    },
  }
}
