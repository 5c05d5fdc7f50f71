import type { Health } from '../ops/health.ts'
import { parseSignup } from '../signup/parse.ts'
import type { ApiKeys } from './api-keys.ts'
import { type ArrivingBodies, readBody } from './body.ts'
import type { Visit } from './edge.ts'
import { type FormPostOptions, parsePosted, sendOn } from './form-post.ts'
import { contentOf, idempotencyKey, idempotencyOf } from './idempotency.ts'
import { prefersHtml } from './negotiate.ts'
import { accepted, type Answer, refuse } from './respond.ts'
import { submit, type SubmitOptions, tooManyTabs, visitorOf } from './submit.ts'
import { patienceOf, progressOf, type Waiting } from './wait.ts'

export interface SignupIntake extends SubmitOptions, FormPostOptions {
  readonly health: Health
  readonly waiting: Waiting
  readonly apiKeys: ApiKeys
  readonly bodyBytesMax: number
  readonly arriving: ArrivingBodies
}

/** `POST /api/signup`: from the request to the answer. */
export async function postSignup(
  request: Request,
  intake: SignupIntake,
  visit: Visit,
): Promise<Response | Answer> {
  const { tabs, bodyBytesMax, arriving, apiKeys, clock } = intake
  const hasApiKey = await apiKeys.areIn(request.headers)
  const key = idempotencyKey(request.headers)
  const body = await readBody(request, bodyBytesMax, arriving)
  if (body.kind === 'form') visit.typed = body.fields
  const count = () => {
    if (!hasApiKey) visit.take(1)
  }
  const patience = patienceOf(request, clock)
  const parsed =
    body.kind === 'form'
      ? parsePosted(request, body.fields, intake)
      : parseSignup(body.value, { ...tabs, source: 'api' })
  if (!parsed.ok) {
    count()
    throw refuse.fields(parsed.problems)
  }
  const idempotency = await idempotencyOf(key, 'signup', () => contentOf(parsed.value))
  // Durable from here on: the visitor may leave.
  const visitor = visitorOf(visit, parsed.value.challengeToken)
  const submission = { parsed: [parsed.value], idempotency, visitor, count }
  const { results, isReplay } = await submit(submission, intake)
  const [status] = results
  if (!status) throw refuse.fields([tooManyTabs])
  if (body.kind === 'form' && prefersHtml(request.headers.get('accept'))) {
    const { redirect } = parsed.value
    return sendOn(request, { redirect, isReplay }, visit.ownOrigin, intake)
  }
  return accepted(status, { ...(await progressOf([status], patience, intake)), isReplay })
}
