import { Agent, request as httpRequest } from 'node:http'

import type { FuzzRequest, RawRequest } from './fuzz-requests.ts'
import { openRaw } from '../../harness/raw-http.ts'

export interface FuzzAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Sends requests over connections that are used again. Rejects when the connection breaks. */
export function createFuzzClient(url: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(url)
  const send = ({ method, path, headers, body }: Omit<FuzzRequest, 'kind' | 'numbers'>) => {
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

const last = 'GET /api/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** Sends the bytes. Returns what came back, and whether that is all: after 1.5 s without a byte it gives up. */
export async function sendRawRequest(url: string, { bytes, isCutOff }: RawRequest) {
  await using connection = openRaw(url)
  connection.write(bytes)
  if (isCutOff) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return { text: '', isAll: false }
  }
  // The server may read this as the rest of the request, and then it sends nothing more.
  connection.write(last)
  let isAll = true
  connection.socket.setTimeout(1_500, () => {
    isAll = false
    connection.socket.destroy()
  })
  const text = await connection.closed
  return { text, isAll }
}

/** Runs `work` for each item, `atOnce` at a time. */
export async function runAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
