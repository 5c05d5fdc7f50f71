import type { HttpHeaders, HttpRequest, PlainAnswer } from '../platform/http-exchange.ts'
import type { Connection } from '../platform/http-exchange.ts'
import { secure, securityHeaders } from './headers.ts'
import type { Events } from '../ops/events.ts'
import { type AllowedOrigins, corsHeaders, isOriginAllowed, webOrigin } from './origin.ts'
import { Answer, problem, rateLimitHeaders, refuse, type RequestRefused } from './respond.ts'
import { Reception, type ReceptionOptions, Visit } from './exchange.ts'

export interface EdgeOptions extends ReceptionOptions {
  readonly allowedOrigins: AllowedOrigins
  readonly events: Events
}

export interface Application {
  handle(request: HttpRequest, visit: Visit): Response | Promise<Response | Answer>
  /** Whether every page may ask for this: a file that holds nothing of anybody. */
  isPublic(request: HttpRequest): boolean
  /** Answers what `handle` or the edge has thrown. Never throws. */
  refuse(error: unknown, request: HttpRequest, visit: Visit): Response | Promise<Response>
}

/**
 * What holds for every request, whatever its path: an id, the origin check, CORS and security
 * headers.
 */
export function createEdge(options: EdgeOptions, application: Application) {
  const { allowedOrigins, trustedProxies, events } = options
  const reception = new Reception(options)

  return async (request: HttpRequest, connection: Connection): Promise<Response | PlainAnswer> => {
    const requestId = requestIdOf(request.headers, trustedProxies > 0)
    const visit = new Visit(requestId, request, connection, reception)
    const origin = request.headers.get('origin')
    const isAllowed = origin === null || isOriginAllowed(origin, allowedOrigins, visit.hosts)
    let response: Response | Answer
    try {
      if (!isAllowed && !application.isPublic(request)) {
        const told = webOrigin(origin)
        events.originRefused(told, requestId)
        // A form of ours asks for `/api/config` first, and has to learn that nobody can sign up by it.
        throw refuse.origin(told, request.method === 'GET')
      }
      response = await application.handle(request, visit)
    } catch (error) {
      response = await application.refuse(error, request, visit)
    }
    const { standing } = visit
    const cors = corsHeaders(isAllowed ? origin : null, allowedOrigins)
    const added = standing ? { ...cors, ...rateLimitHeaders(standing) } : cors
    if (response instanceof Answer) return dressedAnswer(response, requestId, added)
    dress(response.headers, requestId, added)
    return response
  }
}

/** The answer to a request that HTTP itself cannot make sense of. */
export function refuseProtocol(refused: RequestRefused, requestId: string): Response {
  const response = problem(refused, requestId)
  dress(response.headers, requestId, {})
  return response
}

type Added = Readonly<Record<string, string>>

function dress(headers: Headers, requestId: string, added: Added): void {
  headers.set('x-request-id', requestId)
  for (const [name, value] of Object.entries(added)) {
    if (name === 'vary') headers.append(name, value)
    else headers.set(name, value)
  }
  secure(headers)
}

const answerHeaders = [
  ...Object.entries(securityHeaders).flat(),
  ...['content-type', 'application/json', 'vary', 'Accept, Origin'],
]

/** As `dress`, for plain data: a list grows for nothing. */
function dressedAnswer({ status, headers, body }: Answer, requestId: string, added: Added) {
  const list = [...answerHeaders, ...headers, 'x-request-id', requestId]
  for (const name in added) if (name !== 'vary') list.push(name, added[name] ?? '')
  return { status, headers: list, body }
}

/** A trusted proxy's own id is kept, when it is one that can hold nothing but an id. */
function requestIdOf(headers: HttpHeaders, isProxyTrusted: boolean): string {
  const given = isProxyTrusted ? headers.get('x-request-id') : null
  return given !== null && /^[0-9a-f-]{16,64}$/i.test(given) ? given : crypto.randomUUID()
}
