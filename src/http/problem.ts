import { answer, type Answer } from './answer.ts'
import { securityWith } from './headers.ts'
import { ToldErrors } from './told-errors.ts'

/** One mistake in a request. `field` is empty when the mistake concerns the whole request. */
export interface FieldError {
  readonly field: string
  readonly message: string
  /** Place in a list of signups, from 0. */
  readonly index?: number
}

/** The reason for a refusal. The log uses the same names. */
export type RefusalKind = keyof typeof statuses

const statuses = {
  malformed: 400,
  incompleteBody: 400,
  pageAddress: 400,
  notHttp: 400,
  apiKey: 401,
  metricsToken: 401,
  origin: 403,
  challenge: 403,
  noSuchPath: 404,
  noSuchSignup: 404,
  noSuchSite: 404,
  method: 405,
  tunnel: 405,
  tooSlow: 408,
  bodyTooLarge: 413,
  bulkTooLarge: 413,
  contentType: 415,
  jsonOnly: 415,
  contentCoding: 415,
  charset: 415,
  expectation: 417,
  fields: 422,
  bulk: 422,
  keyUsedBefore: 422,
  tooMany: 429,
  headersTooLarge: 431,
  unexpected: 500,
  journalUnavailable: 503,
  outcomeUnknown: 503,
  tooBusy: 503,
  tooManyInTurn: 503,
  challengeUnavailable: 503,
} as const

const titles: Readonly<Record<(typeof statuses)[RefusalKind], string>> = {
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

/** The refusals of requests that bring no signup, or of which nobody knows what they bring. */
const ofOtherRequests: ReadonlySet<string> = new Set<RefusalKind>([
  ...([
    'pageAddress',
    'metricsToken',
    'noSuchPath',
    'noSuchSignup',
    'noSuchSite',
    'method',
  ] as const),
  ...(['notHttp', 'tunnel', 'tooSlow', 'expectation', 'headersTooLarge'] as const),
])

/** Every reason for which a signup may be refused. */
export const signupRefusals: readonly string[] = Object.keys(statuses).filter(
  (kind) => !ofOtherRequests.has(kind),
)

/** Refuses a request. Any handler may throw it; the edge turns it into an answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly kind: RefusalKind
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly errors: readonly FieldError[] | undefined
  /** How many errors there are besides those that are told. */
  readonly errorsLeftOut: number
  /** Whether pages of every origin may read the answer. */
  readonly isPublic: boolean

  constructor(
    kind: RefusalKind,
    detail: string,
    more: {
      errors?: readonly FieldError[]
      errorsLeftOut?: number
      headers?: readonly string[]
      isPublic?: boolean
    } = {},
  ) {
    super(detail)
    this.kind = kind
    this.headers = more.headers ?? []
    const { errors, errorsLeftOut = 0 } = more
    const told = new ToldErrors()
    this.errors = errors && told.take(errors)
    this.errorsLeftOut = errorsLeftOut + told.leftOut
    this.isPublic = more.isPublic ?? false
  }

  get status(): number {
    return statuses[this.kind]
  }

  /** Whether the service is at fault. Then the log tells more. */
  get isOurs(): boolean {
    return this.status >= 500
  }
}

/** The refusal as a problem document (RFC 9457). */
export function problem(refusal: Refusal, requestId: string): Answer {
  const { kind, message, errors, errorsLeftOut, headers, isPublic } = refusal
  const status = statuses[kind]
  const body = {
    type: 'about:blank',
    title: titles[status],
    status,
    detail: message,
    ...(errors && { errors }),
    ...(errorsLeftOut > 0 && { errorsLeftOut }),
    ...(kind === 'outcomeUnknown' && { outcome: 'unknown' as const }),
    requestId,
  }
  return answer(status, JSON.stringify(body), {
    headers: ['content-type', 'application/problem+json', ...headers],
    vary: 'Accept',
    isPublic,
    ...(isPublic && { security: publicSecurity }),
  })
}

/** Without it, a browser would tell of a blocked script and not of the refusal. */
const publicSecurity = securityWith({ 'cross-origin-resource-policy': 'cross-origin' })
