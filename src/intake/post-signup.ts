import type { SignupStatus } from '../journal/intake-log.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { type ParsedSignup, parseSignup } from '../signup/parse.ts'
import type { ApiKeys } from '../http/api-keys.ts'
import { type ArrivingBodies, type Body, isSmallBody, readBody } from '../http/body.ts'
import { type FormPostOptions, parsePosted, sendOn } from '../pages/form-post.ts'
import { contentOf, idempotencyOf, ownedKey } from './idempotency.ts'
import { prefersHtml } from '../http/negotiate.ts'
import { accepted, type Answer, refuse } from '../http/respond.ts'
import { refuseSpent, submit, type SubmitOptions, tooManyTabs } from './submit.ts'
import type { Visit } from '../http/exchange.ts'
import { type Patience, patienceOf, type Waiting } from './waiting.ts'

export interface SignupIntake extends SubmitOptions, FormPostOptions {
  readonly waiting: Waiting
  readonly apiKeys: ApiKeys
  readonly bodyBytesMax: number
  readonly arriving: ArrivingBodies
}

/** `POST /api/signup`: from the request to the answer. */
export async function postSignup(
  request: HttpRequest,
  intake: SignupIntake,
  visit: Visit,
): Promise<Response | Answer> {
  const { status, isReplay, patience, page } = await takeIn(request, intake, visit)
  if (page) return sendOn(request, { redirect: page.redirect, isReplay }, visit, intake)
  const { waiting } = intake
  if (patience) await waiting.untilWritten([status], patience, visit.countedAs)
  return accepted(status, waiting.progressOf([status], patience), isReplay)
}

interface TakenIn {
  readonly status: SignupStatus
  readonly isReplay: boolean
  readonly patience: Patience | undefined
  /** For a person, who is sent on to another page. */
  readonly page: Pick<ParsedSignup, 'redirect'> | undefined
}

/** To the durable write. On its own, so that who waits longer keeps nothing of the request in memory. */
async function takeIn(request: HttpRequest, intake: SignupIntake, visit: Visit): Promise<TakenIn> {
  const { apiKeys, bodyBytesMax, arriving, clock } = intake
  if (apiKeys.areSet) visit.apiKey = apiKeys.digestIn(request.headers)
  const key = ownedKey(request.headers, visit)
  // The page that refuses a person shows what was typed, so a small form is read all the same.
  const isGivenBack = () => isForPerson(request) && isSmallBody(request)
  if (visit.isSpent && !isGivenBack()) await refuseSpent(key, visit, intake)
  const body = await readBody(request, bodyBytesMax, arriving, visit)
  const patience = patienceOf(request, clock)
  const parsed = parseBody(body, request, intake, visit)
  const { challengeToken } = parsed
  const idempotency =
    key === undefined ? undefined : idempotencyOf(key, 'signup', contentOf(parsed))
  // Durable from here on: the visitor may leave.
  const submission = { parsed: [parsed], challengeToken, idempotency, visit, asked: 1 }
  const { results, isReplay } = await submit(submission, intake)
  const [status] = results
  if (!status) throw refuse.fields([tooManyTabs])
  visit.typed = undefined
  const isPage = body.kind === 'form' && isForPerson(request)
  return { status, isReplay, patience, page: isPage ? parsed : undefined }
}

function isForPerson({ headers }: HttpRequest): boolean {
  return prefersHtml(headers.get('accept'))
}

/** @throws RequestRefused with everything that is wrong; also who sends such counts against the limit */
function parseBody(
  body: Body,
  request: HttpRequest,
  intake: SignupIntake,
  visit: Visit,
): ParsedSignup {
  if (body.kind === 'form') visit.typed = body.fields
  const parsed =
    body.kind === 'form'
      ? parsePosted(request, body.fields, intake)
      : parseSignup(body.value, { ...intake.tabs, source: 'api' })
  if (parsed.ok) return parsed.value
  visit.take(1)
  throw refuse.fields(parsed.problems)
}
