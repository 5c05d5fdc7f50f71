import type { Problem, ProblemField } from '../signup/wire.ts'
import { answer, type Answer } from './answer.ts'
import { securityWith } from './headers.ts'
import { ToldErrors } from './told-errors.ts'

/** Each status of a refusal: its title, and then the reasons that have it. */
const statuses = {
  400: ['Bad Request', 'malformed', 'incompleteBody', 'pageAddress', 'notHttp'],
  401: ['Unauthorized', 'apiKey', 'metricsToken'],
  403: ['Forbidden', 'origin', 'challenge', 'bulkUnconfirmed'],
  404: ['Not Found', 'noSuchPath', 'noSuchSignup', 'noSuchSite', 'noSuchPuzzle', 'noSuchLink'],
  405: ['Method Not Allowed', 'method', 'tunnel'],
  408: ['Request Timeout', 'tooSlow'],
  410: ['Signups are closed', 'closed'],
  413: ['Content Too Large', 'bodyTooLarge', 'bulkTooLarge'],
  415: ['Unsupported Media Type', 'contentType', 'jsonOnly', 'contentCoding', 'charset'],
  417: ['Expectation Failed', 'expectation'],
  422: ['Unprocessable Content', 'fields', 'bulk', 'keyUsedBefore'],
  429: ['Too Many Requests', 'tooMany'],
  431: ['Request Header Fields Too Large', 'headersTooLarge'],
  500: ['Internal Server Error', 'unexpected'],
  503: [
    'Service Unavailable',
    ...['journalUnavailable', 'outcomeUnknown', 'challengeUnavailable'],
    ...['tooBusy', 'tooManyInTurn', 'tooManyPuzzles'],
  ],
} as const

type Status = keyof typeof statuses

/** The reason for a refusal. The log uses the same names. */
export type RefusalKind = KindIn<(typeof statuses)[Status]>
type KindIn<Row> = Row extends readonly [string, ...infer Kinds] ? Kinds[number] : never

const statusOf = Object.fromEntries(
  Object.entries(statuses).flatMap(([status, [, ...kinds]]) =>
    kinds.map((kind) => [kind, Number(status)]),
  ),
) as Readonly<Record<RefusalKind, Status>>

/** The refusals of requests that bring no signup, or of which nobody knows what they bring. */
const ofOtherRequests =
  /^(pageAddress|notHttp|metricsToken|noSuch.*|method|tunnel|tooSlow|expectation|headersTooLarge|tooManyPuzzles)$/

/** Every reason for which a signup may be refused. */
export const signupRefusals = Object.keys(statusOf).filter((kind) => !ofOtherRequests.test(kind))

/** Refuses a request. Any handler may throw it; the edge turns it into an answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly kind: RefusalKind
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly errors: readonly ProblemField[] | undefined
  /** How many errors there are besides those that are told. */
  readonly errorsLeftOut: number
  /** Whether pages of every origin may read the answer. */
  readonly isPublic: boolean

  constructor(
    kind: RefusalKind,
    detail: string,
    more: Partial<Pick<Refusal, 'headers' | 'errors' | 'errorsLeftOut' | 'isPublic'>> = {},
  ) {
    const { stackTraceLimit } = Error
    // Nobody reads where it was thrown, and a stack costs more than all the rest of it.
    Error.stackTraceLimit = 0
    super(detail)
    Error.stackTraceLimit = stackTraceLimit
    const { headers = [], errors, errorsLeftOut = 0, isPublic = false } = more
    const told = new ToldErrors()
    this.kind = kind
    this.headers = headers
    this.errors = errors && told.take(errors)
    this.errorsLeftOut = errorsLeftOut + told.leftOut
    this.isPublic = isPublic
  }

  get status(): Status {
    return statusOf[this.kind]
  }

  /** Whether the service is at fault. Then the log tells more. */
  get isOurs(): boolean {
    return this.status >= 500
  }
}

/**
 * The refusal as a problem document (RFC 9457).
 *
 * @param notice what forms show of it to visitors, in their language
 */
export function problem(refusal: Refusal, requestId: string, notice?: string): Answer {
  const { kind, status, message, errors, errorsLeftOut, headers, isPublic } = refusal
  const body: Problem = {
    type: kind === 'closed' ? '/problems/closed' : 'about:blank',
    title: statuses[status][0],
    status,
    detail: message,
    ...(errors && { errors }),
    ...(errorsLeftOut > 0 && { errorsLeftOut }),
    ...(kind === 'outcomeUnknown' && { outcome: 'unknown' }),
    ...(notice !== undefined && { notice }),
    requestId,
  }
  return answer(status, JSON.stringify(body), {
    headers: ['content-type', 'application/problem+json', ...headers],
    vary: 'Accept, Origin',
    isPublic,
    ...(isPublic && { security: publicSecurity }),
  })
}

/** Without it, a browser would tell of a blocked script and not of the refusal. */
const publicSecurity = securityWith({ 'cross-origin-resource-policy': 'cross-origin' })
