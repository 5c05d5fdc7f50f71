import type { SignupStatus } from '../journal/intake-log.ts'
import type { ProtocolFailure } from '../platform/http-exchange.ts'
import type { FieldProblem } from '../signup/parse.ts'
import type { Millis, Receipt } from '../signup/signup.ts'
import type {
  BulkAccepted,
  BulkResult,
  Problem,
  ProblemField,
  SignupAccepted,
  SignupStatusAnswer,
} from '../signup/wire.ts'
import type { Standing } from './rate-limit.ts'
import type { Progress } from '../intake/waiting.ts'

/** The one file that knows status codes and how answers look. */

/** What a refusal is called in the log: the name of what makes it. */
export type RefusalKind =
  | 'malformed'
  | 'incompleteBody'
  | 'apiKey'
  | 'origin'
  | 'challenge'
  | 'noSuchPath'
  | 'noSuchSignup'
  | 'method'
  | 'bodyTooLarge'
  | 'contentType'
  | 'bulkTooLarge'
  | 'jsonOnly'
  | 'contentCoding'
  | 'charset'
  | 'pageAddress'
  | 'fields'
  | 'bulk'
  | 'keyUsedBefore'
  | 'tooMany'
  | 'protocol'
  | 'journalUnavailable'
  | 'tooBusy'
  | 'tooManyInTurn'
  | 'challengeUnavailable'
  | 'unexpected'

/** Why a request is not answered as asked; thrown anywhere in intake, answered here. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly kind: RefusalKind
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly errors: readonly ProblemField[] | undefined

  constructor(
    kind: RefusalKind,
    status: number,
    detail: string,
    more: { errors?: readonly ProblemField[]; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.kind = kind
    this.status = status
    this.headers = more.headers ?? {}
    this.errors = more.errors
  }
}

export const refuse = {
  malformed: (detail: string) => new RequestRefused('malformed', 400, detail),
  incompleteBody: () =>
    new RequestRefused('incompleteBody', 400, 'The body ended before it was complete.'),
  apiKey: () =>
    new RequestRefused(
      'apiKey',
      401,
      'Bulk signups need an API key of this service. Send it as "Authorization: Bearer <key>".',
      { headers: { 'www-authenticate': 'Bearer' } },
    ),
  /**
   * @param origin as `webOrigin` gives it
   * @param isReadable whether the page itself, which needs the CORS headers for that, may read why
   */
  origin: (origin: string | undefined, isReadable: boolean) =>
    new RequestRefused(
      'origin',
      403,
      origin !== undefined
        ? `Pages of ${origin} may not send signups here. Their operator can add this origin to ` +
            'ALLOWED_ORIGINS.'
        : 'Pages without a web origin, such as sandboxed frames and local files, may send signups ' +
            'only where ALLOWED_ORIGINS is *.',
      isReadable ? { headers: { 'access-control-allow-origin': '*' } } : {},
    ),
  challenge: () => new RequestRefused('challenge', 403, 'Invalid challenge token'),
  noSuchPath: () => new RequestRefused('noSuchPath', 404, 'There is nothing at this address.'),
  noSuchSignup: () => new RequestRefused('noSuchSignup', 404, 'There is no signup with this id.'),
  method: (allowed: readonly string[]) =>
    new RequestRefused('method', 405, `This address takes ${allowed.join(', ')} only.`, {
      headers: { allow: allowed.join(', ') },
    }),
  bodyTooLarge: (bytesMax: number) =>
    new RequestRefused(
      'bodyTooLarge',
      413,
      `The body is larger than the limit of ${bytesMax} bytes.`,
    ),
  contentType: () =>
    new RequestRefused(
      'contentType',
      415,
      'Send application/json, application/x-www-form-urlencoded or multipart/form-data, ' +
        'and say which in the Content-Type header.',
    ),
  bulkTooLarge: (count: number, itemsMax: number) =>
    new RequestRefused(
      'bulkTooLarge',
      413,
      `The list holds ${count} signups, over the limit of ${itemsMax} in one request. ` +
        'Send it in several parts.',
    ),
  jsonOnly: () =>
    new RequestRefused(
      'jsonOnly',
      415,
      'Send bulk signups as JSON, with Content-Type: application/json.',
    ),
  contentCoding: () =>
    new RequestRefused(
      'contentCoding',
      415,
      'Compressed bodies are not taken. Send it without Content-Encoding, and with no ' +
        'Transfer-Encoding but chunked.',
      { headers: { 'accept-encoding': 'identity' } },
    ),
  charset: () =>
    new RequestRefused(
      'charset',
      415,
      'Only UTF-8 is taken. Send the body in UTF-8, with charset=utf-8 or none.',
    ),
  pageAddress: (problems: readonly FieldProblem[]) =>
    new RequestRefused(
      'pageAddress',
      400,
      `No signup can be taken with what the address of this page asks for: ${summary(problems)}`,
      { errors: problems },
    ),
  fields: (problems: readonly FieldProblem[]) =>
    new RequestRefused('fields', 422, summary(problems), { errors: problems }),
  bulk: (problems: readonly ProblemField[]) =>
    new RequestRefused(
      'bulk',
      422,
      'None of the signups was accepted; "errors" names each wrong field with the place of its ' +
        'signup in the list, from 0. Correct them and send them again.',
      { errors: problems },
    ),
  keyUsedBefore: () =>
    new RequestRefused(
      'keyUsedBefore',
      422,
      'This Idempotency-Key came with other content before. Send that content again, or take a new ' +
        'key for new content.',
    ),
  tooMany: ({ policy, limit, waitMs }: Standing, count: number) => {
    const what = policy === 'signups' ? 'signups a minute are taken' : 'are answered again a minute'
    return new RequestRefused(
      'tooMany',
      429,
      count > limit
        ? `At most ${limit} ${what} from one address, and here are ${count}. ` +
            'Send fewer at a time, or with an API key.'
        : `At most ${limit} ${what} from one address. ` +
            'Send it again after the seconds in Retry-After.',
      { headers: { 'retry-after': seconds(waitMs) } },
    )
  },
  protocol: (failure: ProtocolFailure) => {
    const { status, detail, headers } = protocolRefusals[failure]
    return new RequestRefused('protocol', status, detail, headers && { headers })
  },
  journalUnavailable: () =>
    new RequestRefused(
      'journalUnavailable',
      503,
      'Signups cannot be stored just now and this one was not. Send it again a little later.',
      { headers: { 'retry-after': '5' } },
    ),
  tooBusy: () =>
    new RequestRefused(
      'tooBusy',
      503,
      'Too many large bodies are on their way here just now, and this one was not read. Send it ' +
        'again a little later.',
      { headers: { 'retry-after': '2' } },
    ),
  tooManyInTurn: () =>
    new RequestRefused(
      'tooManyInTurn',
      503,
      'Too many requests wait here for an earlier one with their Idempotency-Key, and this one was ' +
        'not looked at. Send it again a little later.',
      { headers: { 'retry-after': '2' } },
    ),
  challengeUnavailable: (retryAfterSeconds: number) =>
    new RequestRefused(
      'challengeUnavailable',
      503,
      'Challenge tokens cannot be verified just now, so this signup was not stored. Send it again a ' +
        'little later.',
      { headers: { 'retry-after': String(retryAfterSeconds) } },
    ),
  unexpected: () =>
    new RequestRefused(
      'unexpected',
      500,
      'Something went wrong here. It was logged with the requestId.',
    ),
}

interface ProtocolRefusal {
  readonly status: number
  readonly detail: string
  readonly headers?: Record<string, string>
}

const protocolRefusals: Readonly<Record<ProtocolFailure, ProtocolRefusal>> = {
  malformed: {
    status: 400,
    detail:
      'This is not a valid HTTP request: its first line, its headers or its framing are wrong.',
  },
  tunnel: {
    status: 405,
    detail: 'This is not a proxy: CONNECT is not taken.',
    headers: { allow: 'GET, HEAD, POST, OPTIONS' },
  },
  tooSlow: {
    status: 408,
    detail: 'The request did not arrive in time. Send it again, without a pause.',
  },
  expectation: {
    status: 417,
    detail: 'Of the Expect header only 100-continue is understood. Send none.',
  },
  headersTooLarge: {
    status: 431,
    detail: 'The address and the headers together are too long. Send fewer or shorter ones.',
  },
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** RFC 9457. */
export function problem(refused: RequestRefused, requestId: string): Response {
  const { status, message, errors, headers } = refused
  const body: Problem = {
    type: 'about:blank',
    title: titles[status] ?? 'Error',
    status,
    detail: message,
    ...(errors && { errors }),
    requestId,
  }
  const type = { 'content-type': 'application/problem+json' }
  return json(body, status, { ...headers, ...varies, ...type })
}

/**
 * An answer to signups, as plain data: making a `Response` and changing its `Headers` costs more than
 * storing the signup (docs/decisions/performance.md). It is JSON, or a page to those who prefer one.
 */
export class Answer {
  readonly status: number
  readonly body: string
  /** Names and values in turn, besides those that every answer has. */
  readonly headers: readonly string[]

  constructor(status: number, body: object, { waitSeconds }: Progress, isReplay: boolean) {
    this.status = status
    this.body = JSON.stringify(body)
    this.headers = [
      ...(waitSeconds === undefined ? [] : ['preference-applied', `wait=${waitSeconds}`]),
      ...(isReplay ? ['idempotency-replayed', 'true'] : []),
    ]
  }
}

/**
 * 202: on disk, on its way. 201: written, for a visitor who waited for that.
 *
 * @param isReplay it is the answer to an earlier request with the same key
 */
export function accepted(receipt: Receipt, progress: Progress, isReplay: boolean): Answer {
  const body: SignupAccepted = {
    id: receipt.id,
    status: progress.areWritten ? 'written' : 'accepted',
    sheetTab: receipt.sheetTab,
    receivedAt: isoTime(receipt.receivedAt),
    ...deliveryOf(progress),
  }
  return new Answer(acceptedStatus(progress), body, progress, isReplay)
}

/** As for one signup; 207 when some were rejected. */
export function bulkAccepted(
  results: readonly BulkResult[],
  progress: Progress,
  isReplay: boolean,
): Answer {
  const rejected = results.filter(({ status }) => status === 'rejected').length
  const body: BulkAccepted = {
    accepted: results.length - rejected,
    rejected,
    results,
    ...deliveryOf(progress),
  }
  return new Answer(rejected > 0 ? 207 : acceptedStatus(progress), body, progress, isReplay)
}

function acceptedStatus({ waitSeconds }: Progress): number {
  return waitSeconds === undefined ? 202 : 201
}

/** Remembers the last: the signups of one commit share a few milliseconds. */
const isoTime = (() => {
  let last: { readonly millis: Millis; readonly text: string } | undefined
  return (millis: Millis): string => {
    if (last?.millis !== millis) last = { millis, text: new Date(millis).toISOString() }
    return last.text
  }
})()

function deliveryOf({ blockedBy }: Progress): Pick<SignupAccepted, 'delivery'> {
  return blockedBy === undefined ? {} : { delivery: { state: 'blocked', error: blockedBy } }
}

export function signupStatus(status: SignupStatus): Response {
  const { id, sheetTab, receivedAt, writtenAt } = status
  const body: SignupStatusAnswer = {
    id,
    status: writtenAt === undefined ? 'accepted' : 'written',
    sheetTab,
    receivedAt: new Date(receivedAt).toISOString(),
    ...(writtenAt !== undefined && { writtenAt: new Date(writtenAt).toISOString() }),
  }
  return json(body, 200)
}

/** For load balancers: 503 takes this instance out of rotation. */
export function readiness(body: object, isReady: boolean): Response {
  return json(body, isReady ? 200 : 503, isReady ? {} : { 'retry-after': '5' })
}

export function ok(body: object): Response {
  return json(body, 200)
}

/** A page for people. What was typed may be in it: it is never stored, unless `headers` say so. */
export function page(html: string, status: number, headers: Record<string, string>): Response {
  return text(html, status, { 'content-type': 'text/html; charset=utf-8', ...headers })
}

/** To another page, by GET: its reload sends no form again. `location` is a serialised URL or a part of one. */
export function seeOther(location: string, isReplay: boolean): Response {
  const replayed = isReplay ? { 'idempotency-replayed': 'true' } : {}
  const headers = { location, 'content-length': '0', ...replayed, ...varies }
  return new Response(null, { status: 303, headers })
}

/** Of answers that are a page or JSON, as the sender prefers. */
const varies = { vary: 'Accept' }

/** An answer to OPTIONS: what this address takes. */
export function options(allowed: readonly string[], headers: Record<string, string>): Response {
  return new Response(null, { status: 204, headers: { allow: allowed.join(', '), ...headers } })
}

/** Where a client stands, as structured fields (draft-ietf-httpapi-ratelimit-headers-09). */
export function rateLimitHeaders(standing: Standing): Record<string, string> {
  const { policy, limit, remaining, waitMs } = standing
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=60`,
    ratelimit: `"${policy}";r=${remaining};t=${seconds(waitMs)}`,
  }
}

function json(body: object, status: number, headers: Record<string, string> = {}): Response {
  return text(JSON.stringify(body), status, { 'content-type': 'application/json', ...headers })
}

function text(content: string, status: number, headers: Record<string, string>): Response {
  const bytes = utf8.encode(content)
  return new Response(bytes, {
    status,
    headers: {
      // Told here, so that the answer to HEAD has it too.
      'content-length': String(bytes.byteLength),
      ...headers,
    },
  })
}

const utf8 = new TextEncoder()

function seconds(ms: number): string {
  return String(Math.ceil(ms / 1000))
}

function summary(problems: readonly FieldProblem[]): string {
  const [first] = problems
  if (problems.length === 1 && first) {
    return first.field === '' ? first.message : `${first.field}: ${first.message}`
  }
  return `${problems.length} fields need a change; "errors" names each.`
}
