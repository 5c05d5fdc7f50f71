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

/** Each status of a refusal, with its title and the reasons that have it. */
const statuses = {
  400: { title: 'Bad Request', kinds: ['malformed', 'incompleteBody', 'pageAddress', 'notHttp'] },
  401: { title: 'Unauthorized', kinds: ['apiKey', 'metricsToken'] },
  403: { title: 'Forbidden', kinds: ['origin', 'challenge', 'bulkUnconfirmed'] },
  404: {
    title: 'Not Found',
    kinds: ['noSuchPath', 'noSuchSignup', 'noSuchSite', 'noSuchPuzzle', 'noSuchLink'],
  },
  405: { title: 'Method Not Allowed', kinds: ['method', 'tunnel'] },
  408: { title: 'Request Timeout', kinds: ['tooSlow'] },
  413: { title: 'Content Too Large', kinds: ['bodyTooLarge', 'bulkTooLarge'] },
  415: {
    title: 'Unsupported Media Type',
    kinds: ['contentType', 'jsonOnly', 'contentCoding', 'charset'],
  },
  417: { title: 'Expectation Failed', kinds: ['expectation'] },
  422: { title: 'Unprocessable Content', kinds: ['fields', 'bulk', 'keyUsedBefore'] },
  429: { title: 'Too Many Requests', kinds: ['tooMany'] },
  431: { title: 'Request Header Fields Too Large', kinds: ['headersTooLarge'] },
  500: { title: 'Internal Server Error', kinds: ['unexpected'] },
  503: {
    title: 'Service Unavailable',
    kinds: [
      'journalUnavailable',
      'outcomeUnknown',
      'tooBusy',
      'tooManyInTurn',
      'tooManyPuzzles',
      'challengeUnavailable',
    ],
  },
} as const

type Status = keyof typeof statuses

/** The reason for a refusal. The log uses the same names. */
export type RefusalKind = (typeof statuses)[Status]['kinds'][number]

const statusOf = Object.fromEntries(
  Object.entries(statuses).flatMap(([status, { kinds }]) =>
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
  readonly errors: readonly FieldError[] | undefined
  /** How many errors there are besides those that are told. */
  readonly errorsLeftOut: number
  /** Whether pages of every origin may read the answer. */
  readonly isPublic: boolean

  constructor(
    kind: RefusalKind,
    detail: string,
    more: Partial<Pick<Refusal, 'headers' | 'errors' | 'errorsLeftOut' | 'isPublic'>> = {},
  ) {
    super(detail)
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

/** The refusal as a problem document (RFC 9457). */
export function problem(refusal: Refusal, requestId: string): Answer {
  const { kind, status, message, errors, errorsLeftOut, headers, isPublic } = refusal
  const body = {
    type: 'about:blank',
    title: statuses[status].title,
    status,
    detail: message,
    ...(errors && { errors }),
    ...(errorsLeftOut > 0 && { errorsLeftOut }),
    ...(kind === 'outcomeUnknown' && { outcome: 'unknown' as const }),
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
