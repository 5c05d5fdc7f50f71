import type {
  AnsweredRequest,
  Connection,
  HttpHeaders,
  HttpRequest,
  PlainAnswer,
  ProtocolFailure,
} from '../platform/http-exchange.ts'
import type { Answer } from './answer.ts'
import type { ApiKeys } from './api-keys.ts'
import { Exchange, type Surroundings } from './exchange.ts'
import { corsHeaders, webOrigin } from './origin.ts'
import { problem, Refusal } from './problem.ts'
import { type Allowance, SiteLimits, type SiteLimitsOptions } from './rate-limit.ts'
import { refuse } from './refuse.ts'
import type { Router } from './router.ts'
import type { EdgeSite } from './sites.ts'

export interface EdgeOptions extends Omit<Surroundings, 'limits'>, SiteLimitsOptions {
  /** The events of a site, or those of requests whose site is unknown. */
  readonly eventsOf: (site: EdgeSite | undefined) => EdgeEvents
  readonly router: Router
  /** Requests with one of them are not counted, and routes may need one. */
  readonly apiKeys: ApiKeys
  /** Turns a refusal into an answer, as JSON or as a page. Never throws. */
  readonly showRefusal: (refusal: Refusal, exchange: Exchange) => Answer | Promise<Answer>
  /** Receives an event for each answer. Left out when nobody wants to know. */
  readonly requestAnswered?: ((request: AnsweredRequest) => void) | undefined
}

/** Receives an event for each request that fails or is refused. */
export interface EdgeEvents {
  requestRefused(refusal: Refusal, requestId: string): void
  /** A request came from a page whose origin is not allowed. `origin` is undefined for a page without one. */
  originRefused(origin: string | undefined, requestId: string): void
  /** A handler threw an error that is not a `Refusal`. */
  requestFailed(error: unknown, requestId: string): void
  /** Signups were refused: as many as the request had, as far as that is known. */
  signupsRefused(reason: string, count: number): void
}

/** An HTTP application. An adapter connects it to a server. */
export interface Application {
  /** Answers a request. Never rejects. */
  fetch(request: HttpRequest, connection: Connection): Promise<PlainAnswer>
  /** Answers input that is not a valid HTTP request. */
  refuse(failure: ProtocolFailure): PlainAnswer
}

/**
 * Does what every request needs, whatever its path: gives it an id, checks its origin, turns errors
 * into answers, adds CORS and security headers.
 */
export function createEdge(options: EdgeOptions): Application {
  const { trustedProxies, eventsOf, router, apiKeys, showRefusal, requestAnswered, clock } = options
  const around = { ...options, limits: new SiteLimits(options) }

  return {
    async fetch(request, connection) {
      const began = requestAnswered ? clock.elapsed() : 0
      const found = router.find(request)
      const { handle, params, isPublic, route, isSignup, needsApiKey, checksOrigin } = found
      const requestId = requestIdOf(request.headers, trustedProxies > 0)
      const exchange = new Exchange({ requestId, request, connection, params }, around)
      exchange.mayBeFramed = !checksOrigin
      let answer: Answer
      try {
        const isAnyOrigin = isPublic || checksOrigin || exchange.isSiteInBody
        if (!isAnyOrigin && !exchange.isOriginAllowed) {
          throw exchange.refusedOrigin()
        }
        if (isSignup && apiKeys.areSet) exchange.client.apiKey = apiKeys.digestIn(exchange)
        if (needsApiKey && apiKeys.areSet && exchange.client.apiKey === undefined) {
          exchange.signups = 1
          throw refuse.apiKey()
        }
        answer = await handle(exchange)
        const { rejected, knownSite } = exchange
        if (rejected > 0) eventsOf(knownSite).signupsRefused('bulk', rejected)
      } catch (error) {
        const events = eventsOf(exchange.knownSite)
        const isRefusal = error instanceof Refusal
        if (!isRefusal) events.requestFailed(error, requestId)
        const refusal = exchange.countRefused(isRefusal ? error : refuse.unexpected())
        if (refusal.kind === 'origin') {
          events.originRefused(webOrigin(request.headers.get('origin') ?? ''), requestId)
        }
        events.requestRefused(refusal, requestId)
        if (isSignup) events.signupsRefused(refusal.kind, Math.max(1, exchange.signups))
        answer = await showRefusal(refusal, exchange)
      }
      const origin = exchange.isOriginAllowed ? request.headers.get('origin') : null
      const origins = checksOrigin ? [] : (exchange.knownSite?.origins ?? '*')
      const cors = corsHeaders(checksOrigin ? null : origin, origins)
      if (requestAnswered) {
        const { status } = answer
        const ms = clock.elapsed() - began
        requestAnswered({ route, method: request.method, status, ms, requestId })
      }
      const { body } = answer
      if (typeof body === 'object' && body && !(body instanceof Uint8Array)) {
        const failed = (error: unknown) =>
          eventsOf(exchange.knownSite).requestFailed(error, requestId)
        answer = { ...answer, body: telling(body, failed) }
      }
      return dressed(answer, requestId, cors, exchange.allowance)
    },
    refuse(failure) {
      const requestId = crypto.randomUUID()
      const refusal = refuse[failure === 'malformed' ? 'notHttp' : failure]()
      eventsOf(undefined).requestRefused(refusal, requestId)
      const { status, headers, security, body } = problem(refusal, requestId)
      requestAnswered?.({ route: undefined, method: undefined, status, ms: 0, requestId })
      // No page may read it, whatever its origin.
      const list = [...security, ...headers, 'vary', 'Accept', 'x-request-id', requestId]
      return { status, headers: list, body }
    },
  }
}

/** Tells what fails while a body comes bit by bit. */
async function* telling(body: AsyncGenerator<string>, failed: (error: unknown) => void) {
  try {
    yield* body
  } catch (error) {
    failed(error)
    throw error
  }
}

const toAnyOrigin = ['access-control-allow-origin', '*']
const nobody: readonly string[] = []

function dressed(
  { status, headers, body, vary, security, isPublic }: Answer,
  requestId: string,
  cors: readonly string[],
  allowance: Allowance | undefined,
): PlainAnswer {
  const list = [
    ...security,
    ...headers,
    ...(cors.length === 0 && isPublic ? toAnyOrigin : cors),
    ...(allowance ? rateLimitHeaders(allowance) : nobody),
  ]
  list.push('vary', vary, 'x-request-id', requestId)
  return { status, headers: list, body }
}

/** Tells the client's rate limit as structured fields (draft-ietf-httpapi-ratelimit-headers-09). */
function rateLimitHeaders(allowance: Allowance): readonly string[] {
  const { policy, limit, remaining, waitMs } = allowance
  const seconds = Math.ceil(waitMs / 1000)
  return [
    ...['ratelimit-policy', `"${policy}";q=${limit};w=60`],
    ...['ratelimit', `"${policy}";r=${remaining};t=${seconds}`],
  ]
}

/** Keeps the id of a trusted proxy if it looks like a plain id; otherwise makes a new one. */
function requestIdOf(headers: HttpHeaders, isProxyTrusted: boolean): string {
  const given = isProxyTrusted ? headers.get('x-request-id') : null
  return given !== null && /^[0-9a-f-]{16,64}$/i.test(given) ? given : crypto.randomUUID()
}
