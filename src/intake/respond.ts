import type { FieldProblem } from '../signup/parse.ts'
import type { Receipt } from '../signup/signup.ts'
import type { Problem, ProblemField, SignupAccepted, SignupStatusAnswer } from '../signup/wire.ts'
import type { SignupStatus } from '../journal/journal.ts'

/** The one file that knows status codes and how answers look. */

/** Why a request is not answered as asked; thrown anywhere in intake, answered here. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly errors: readonly ProblemField[] | undefined

  constructor(
    status: number,
    detail: string,
    more: { errors?: readonly ProblemField[]; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.status = status
    this.headers = more.headers ?? {}
    this.errors = more.errors
  }
}

export const refuse = {
  malformed: (detail: string) => new RequestRefused(400, detail),
  noSuchPath: () => new RequestRefused(404, 'There is nothing at this address.'),
  noSuchSignup: () => new RequestRefused(404, 'There is no signup with this id.'),
  method: (allowed: readonly string[]) =>
    new RequestRefused(405, `This address takes ${allowed.join(', ')} only.`, {
      headers: { allow: allowed.join(', ') },
    }),
  bodyTooLarge: (bytesMax: number) =>
    new RequestRefused(413, `The body is larger than the limit of ${bytesMax} bytes.`),
  contentType: () =>
    new RequestRefused(
      415,
      'Send application/json, application/x-www-form-urlencoded or multipart/form-data, ' +
        'and say which in the Content-Type header.',
    ),
  fields: (problems: readonly FieldProblem[]) =>
    new RequestRefused(422, summary(problems), { errors: problems }),
  journalUnavailable: () =>
    new RequestRefused(
      503,
      'Signups cannot be stored just now and this one was not. Send it again a little later.',
      { headers: { 'retry-after': '5' } },
    ),
  unexpected: () =>
    new RequestRefused(500, 'Something went wrong here. It was logged with the requestId.'),
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
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
  return json(body, status, { ...headers, 'content-type': 'application/problem+json' })
}

/** 202: on disk, on its way. `blockedBy` is what only the operator can mend. */
export function accepted(receipt: Receipt, blockedBy: string | undefined): Response {
  const body: SignupAccepted = {
    id: receipt.id,
    status: 'accepted',
    sheetTab: receipt.sheetTab,
    receivedAt: new Date(receipt.receivedAt).toISOString(),
    ...(blockedBy !== undefined && { delivery: { state: 'blocked', error: blockedBy } }),
  }
  return json(body, 202)
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

function json(body: object, status: number, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
}

function summary(problems: readonly FieldProblem[]): string {
  const [first] = problems
  if (problems.length === 1 && first) {
    return first.field === '' ? first.message : `${first.field}: ${first.message}`
  }
  return `${problems.length} fields need a change; "errors" names each.`
}
