import type { Connection, PlainAnswer } from '../src/platform/http-exchange.ts'
import type { Application } from '../src/http/edge.ts'

/** Stands in when the runtime does not tell the client's address. */
const unknownConnection: Connection = { remoteAddress: undefined }

/**
 * Makes a `fetch` handler of an application, for runtimes that serve by web `Request` and `Response`.
 * Such a runtime answers malformed HTTP itself, so `refuse` is not needed.
 */
export function toFetch(
  application: Pick<Application, 'fetch'>,
): (request: Request, connection?: Connection) => Promise<Response> {
  return async (request, connection = unknownConnection) => {
    const answer = await application.fetch(withHost(request), connection)
    return responseOf(answer, request.method)
  }
}

/** Adds the `host` header when it is missing, as in a `Request` that a program made. */
function withHost(request: Request): Request {
  if (request.headers.has('host')) return request
  const headers = new Headers(request.headers)
  headers.set('host', new URL(request.url).host)
  return new Request(request, { headers })
}

/** Makes a web `Response` of an answer. A HEAD request gets no body. */
export function responseOf({ status, headers: list, body }: PlainAnswer, method: string): Response {
  const headers = new Headers()
  for (let at = 0; at < list.length; at += 2) headers.append(list[at] ?? '', list[at + 1] ?? '')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  // Set explicitly, so that the answer to HEAD has it too.
  if (bytes) headers.set('content-length', String(bytes.byteLength))
  return new Response(method === 'HEAD' ? null : bytes, { status, headers })
}
