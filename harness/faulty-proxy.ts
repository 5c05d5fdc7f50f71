import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What the proxy does with a request and its answer. */
export type Fault =
  | 'pass'
  /** The request arrives. The connection breaks before the answer. */
  | 'drop answer'
  /** The request arrives. The connection breaks in the middle of the answer's body. */
  | 'cut answer'
  /** The request arrives. The proxy answers with a page of its own. */
  | 'page instead'
  /** The request arrives. No answer ever comes. */
  | 'hang'
  /** The request does not arrive. */
  | 'drop request'
  /** The request does not arrive. The proxy answers with this status, and a page or this JSON. */
  | {
      readonly status: number
      readonly headers?: Record<string, string>
      readonly json?: object
    }

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string
  /** The headers of all requests so far. */
  readonly requests: IncomingMessage['headers'][]
}

/** Starts a proxy before `target`. It plays one fault for each request, and then passes requests on. */
export async function startFaultyProxy(
  target: string,
  faults: readonly Fault[],
): Promise<FaultyProxy> {
  const requests: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    const fault = faults[requests.length] ?? 'pass'
    requests.push(request.headers)
    play(fault, target, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function play(
  fault: Fault,
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const sent = await buffer(request)
  if (fault === 'drop request') return void response.destroy()
  if (typeof fault === 'object') {
    const body = fault.json ? JSON.stringify(fault.json) : '<h1>of the proxy</h1>'
    return void response.writeHead(fault.status, fault.headers).end(body)
  }
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
  const answer = await fetch(target + (request.url ?? ''), {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>,
    ...(sent.length > 0 && { body: new Uint8Array(sent) }),
  })
  const body = await answer.text()
  if (fault === 'hang') return
  if (fault === 'drop answer') return void response.destroy()
  if (fault === 'page instead') return void response.writeHead(200).end('<h1>of the proxy</h1>')
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (fault === 'pass') return void response.end(body)
  response.write(body.slice(0, body.length / 2), () => response.destroy())
}
