import type {
  Connection,
  HttpHeaders,
  HttpRequest,
  PlainAnswer,
  ProtocolFailure,
} from '../platform/http-exchange.ts'
import type { Answer } from './answer.ts'
import { Exchange, Reception, type ReceptionOptions } from './exchange.ts'
import { type AllowedOrigins, corsHeaders, isOriginAllowed, webOrigin } from './origin.ts'
import { problem, Refusal } from './problem.ts'
import type { Standing } from './rate-limit.ts'
import { refuse } from './refuse.ts'
import type { Router } from './router.ts'

export interface EdgeOptions extends ReceptionOptions {
  readonly allowedOrigins: AllowedOrigins
  readonly events: EdgeEvents
  readonly router: Router
  /** What a refusal looks like. Never throws. */
  readonly showRefusal: (refusal: Refusal, exchange: Exchange) => Answer | Promise<Answer>
}

/** What is told of requests that are not answered as asked. */
export interface EdgeEvents {
  requestRefused(refusal: Refusal, requestId: string): void
  /** A page of this web origin, or of none, is not allowed. */
  originRefused(origin: string | undefined, requestId: string): void
  /** A handler failed in a way that nobody foresaw. */
  requestFailed(error: unknown, requestId: string): void
}

/** An HTTP application, which an adapter puts on a server. */
export interface Application {
  /** Never rejects. */
  fetch(request: HttpRequest, connection: Connection): Promise<PlainAnswer>
  /** Answers what is no request by the rules of HTTP. */
  refuse(failure: ProtocolFailure): PlainAnswer
}

/**
 * What holds for every request, whatever its path: an id, the origin check, the one way from an error
 * to an answer, CORS and security headers.
 */
export function createEdge(options: EdgeOptions): Application {
  const { allowedOrigins, trustedProxies, events, router, showRefusal } = options
  const reception = new Reception(options)

  return {
    async fetch(request, connection) {
      const { handle, params, isPublic } = router.find(request)
      const requestId = requestIdOf(request.headers, trustedProxies > 0)
      const exchange = new Exchange({ requestId, request, connection, params }, reception)
      const origin = request.headers.get('origin')
      const isAllowed = origin === null || isOriginAllowed(origin, allowedOrigins, exchange.hosts)
      let answer: Answer
      try {
        if (!isAllowed && !isPublic) {
          const told = webOrigin(origin)
          events.originRefused(told, requestId)
          // A form of ours asks for `/api/config` first, and has to learn that nobody can sign up by it.
          throw refuse.origin(told, request.method === 'GET')
        }
        answer = await handle(exchange)
      } catch (error) {
        const refusal = refusalOf(error, requestId, events)
        events.requestRefused(refusal, requestId)
        answer = await showRefusal(refusal, exchange)
      }
      const cors = corsHeaders(isAllowed ? origin : null, allowedOrigins)
      return dressed(answer, requestId, cors, exchange.standing)
    },
    refuse(failure) {
      const requestId = crypto.randomUUID()
      const refusal = refuse.protocol(failure)
      events.requestRefused(refusal, requestId)
      const { status, headers, security, vary = '', body } = problem(refusal, requestId)
      const list = [...security, ...headers, 'vary', vary, 'x-request-id', requestId]
      return { status, headers: list, body }
    },
  }
}

/** What an error is to its visitor; one that nobody foresaw is told. */
function refusalOf(error: unknown, requestId: string, events: EdgeEvents): Refusal {
  if (error instanceof Refusal) return error
  events.requestFailed(error, requestId)
  return refuse.unexpected()
}

const toAnyOrigin = ['access-control-allow-origin', '*']
const nobody: readonly string[] = []

/** With all headers that every answer has. */
function dressed(
  { status, headers, body, vary, security, isPublic }: Answer,
  requestId: string,
  cors: readonly string[],
  standing: Standing | undefined,
): PlainAnswer {
  const list = [
    ...security,
    ...headers,
    ...(cors.length === 0 && isPublic ? toAnyOrigin : cors),
    ...(standing ? rateLimitHeaders(standing) : nobody),
  ]
  list.push('vary', vary === undefined ? 'Origin' : `${vary}, Origin`, 'x-request-id', requestId)
  return { status, headers: list, body }
}

/** Where a client stands, as structured fields (draft-ietf-httpapi-ratelimit-headers-09). */
function rateLimitHeaders(standing: Standing): readonly string[] {
  const { policy, limit, remaining, waitMs } = standing
  const seconds = Math.ceil(waitMs / 1000)
  return [
    ...['ratelimit-policy', `"${policy}";q=${limit};w=60`],
    ...['ratelimit', `"${policy}";r=${remaining};t=${seconds}`],
  ]
}

/** A trusted proxy's own id is kept, when it is one that can hold nothing but an id. */
function requestIdOf(headers: HttpHeaders, isProxyTrusted: boolean): string {
  const given = isProxyTrusted ? headers.get('x-request-id') : null
  return given !== null && /^[0-9a-f-]{16,64}$/i.test(given) ? given : crypto.randomUUID()
}
