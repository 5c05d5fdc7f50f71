import type { Connection, PlainAnswer } from '../platform/http-exchange.ts'
import type { Application } from './edge.ts'

/** Where the other end is not known. */
const unknownConnection: Connection = { remoteAddress: undefined }

/**
 * An application as the `fetch` of runtimes that serve by web `Request` and `Response`. Such a runtime
 * has read the head of a request, so that what is no HTTP never comes here.
 */
export function toFetch(
  application: Pick<Application, 'fetch'>,
): (request: Request, connection?: Connection) => Promise<Response> {
  return async (request, connection = unknownConnection) => {
    const answer = await application.fetch(withHost(request), connection)
    return responseOf(answer, request.method)
  }
}

/** A `Request` that was made by a program may have its host in the address only. */
function withHost(request: Request): Request {
  if (request.headers.has('host')) return request
  const headers = new Headers(request.headers)
  headers.set('host', new URL(request.url).host)
  return new Request(request, { headers })
}

/** A web `Response` of an answer to a request by this method. */
export function responseOf({ status, headers: list, body }: PlainAnswer, method: string): Response {
  const headers = new Headers()
  for (let at = 0; at < list.length; at += 2) headers.append(list[at] ?? '', list[at + 1] ?? '')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  // Told here, so that the answer to HEAD has it too.
  if (bytes) headers.set('content-length', String(bytes.byteLength))
  const isSent = bytes !== null && bytes.byteLength > 0 && method !== 'HEAD'
  return new Response(isSent ? bytes : null, { status, headers })
}
