import type { Logger } from '../ops/log.ts'
import type { Clock } from '../platform/clock.ts'
import type { Connection, ProtocolFailure } from '../platform/http-server.ts'
import { clientAddress } from './client-address.ts'
import { secure, securityHeaders } from './headers.ts'
import {
  type AllowedOrigins,
  corsHeaders,
  isOriginAllowed,
  ownOrigin,
  requestHosts,
} from './origin.ts'
import type { FormEntries } from './pages/typed-form.ts'
import { RateLimit, type Standing } from './rate-limit.ts'
import { Answer, problem, rateLimitHeaders, refuse, type RequestRefused } from './respond.ts'
import { visitorAddress } from './visitor-address.ts'

export interface EdgeOptions {
  readonly allowedOrigins: AllowedOrigins
  /** How many proxies in front are trusted to tell the client's address. */
  readonly trustedProxies: number
  /** Per client address; 0 is no limit. */
  readonly signupsPerMinute: number
  readonly clock: Clock
  readonly log: Logger
  /** Runs something in such a way that every log line from it carries the id. */
  readonly inRequest: <T>(requestId: string, run: () => T) => T
}

/** What handlers know of a request besides its content. */
export interface Visit {
  readonly requestId: string
  /** The fields of a posted form, once they were read: a refusal shows them again. */
  typed?: FormEntries
  /** The visitor's own; undefined when only a proxy's is known. */
  readonly remoteAddress?: string | undefined
  /** The origin under which the visitor sees us. */
  readonly ownOrigin: string
  /**
   * Counts signups against the limit of the client's address.
   * @throws RequestRefused 429 when they are too many; then none of them counts.
   */
  take(count: number): void
}

export interface Application {
  /** Never throws. */
  handle(request: Request, visit: Visit): Promise<Response | Answer>
  /** Answers a request that is refused before it comes to a handler. */
  refuse(refused: RequestRefused, request: Request, visit: Visit): Response | Promise<Response>
}

/**
 * What holds for every request, whatever its path: an id, the origin check, CORS and security
 * headers.
 */
export function createEdge(options: EdgeOptions, application: Application) {
  const { allowedOrigins, trustedProxies, signupsPerMinute, clock, log } = options
  const isProxyTrusted = trustedProxies > 0
  const rateLimit = new RateLimit({ perMinute: signupsPerMinute, clock })
  let wasWarned = false

  const addressOf = (request: Request, { remoteAddress }: Connection): string | undefined => {
    const forwardedFor = request.headers.get('x-forwarded-for')
    const { address, warning } = clientAddress({ remoteAddress, forwardedFor, trustedProxies })
    if (warning !== undefined && signupsPerMinute > 0 && !wasWarned) {
      wasWarned = true
      log.warn(warning)
    }
    return address
  }

  const answer = async (request: Request, connection: Connection, requestId: string) => {
    const { headers } = request
    let standing: Standing | undefined
    const take = (count: number) => {
      const address = addressOf(request, connection)
      if (address === undefined || signupsPerMinute === 0) return
      standing = rateLimit.take(address, count)
      if (!standing.isTaken) throw refuse.tooMany(standing, count)
    }

    const origin = headers.get('origin')
    const hosts = () => requestHosts(headers, isProxyTrusted)
    const isAllowed = origin === null || isOriginAllowed(origin, allowedOrigins, hosts())
    const visit: Visit = {
      requestId,
      take,
      // Found out only when somebody asks, as few do.
      get remoteAddress() {
        const { remoteAddress } = connection
        const forwardedFor = headers.get('x-forwarded-for')
        return visitorAddress({ remoteAddress, forwardedFor, trustedProxies })
      },
      get ownOrigin() {
        return ownOrigin(request, hosts(), isProxyTrusted)
      },
    }
    const response = isAllowed
      ? await application.handle(request, visit)
      : await application.refuse(refuse.origin(), request, visit)

    const cors = corsHeaders(isAllowed ? origin : null, allowedOrigins)
    const limits = standing ? rateLimitHeaders(standing) : {}
    return dressed(response, requestId, { ...cors, ...limits })
  }

  return (request: Request, connection: Connection): Promise<Response> => {
    const requestId = requestIdOf(request.headers, isProxyTrusted)
    return options.inRequest(requestId, () => answer(request, connection, requestId))
  }
}

/** The answer to a request that HTTP itself cannot make sense of. */
export function refuseProtocol(failure: ProtocolFailure): Response {
  const requestId = crypto.randomUUID()
  return dressed(problem(refuse.protocol(failure), requestId), requestId, {})
}

function dressed(
  response: Response | Answer,
  requestId: string,
  headers: Readonly<Record<string, string>>,
): Response {
  if (response instanceof Answer) return dressedAnswer(response, requestId, headers)
  response.headers.set('x-request-id', requestId)
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'vary') response.headers.append(name, value)
    else response.headers.set(name, value)
  }
  secure(response.headers)
  return response
}

function dressedAnswer(
  { status, headers, body }: Answer,
  requestId: string,
  { vary, ...added }: Readonly<Record<string, string>>,
): Response {
  return new Answer(
    status,
    {
      ...securityHeaders,
      ...headers,
      ...added,
      vary: [headers['vary'], vary].filter((it) => it !== undefined).join(', '),
      'x-request-id': requestId,
    },
    body,
  ).toResponse()
}

/** A trusted proxy's own id is kept, when it is one that can hold nothing but an id. */
function requestIdOf(headers: Headers, isProxyTrusted: boolean): string {
  const given = isProxyTrusted ? headers.get('x-request-id') : null
  return given !== null && /^[0-9a-f-]{16,64}$/i.test(given) ? given : crypto.randomUUID()
}
