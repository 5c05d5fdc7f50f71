import type { Digest } from '../platform/digest.ts'
import type { Answer } from '../http/answer.ts'
import type { ApiKeys } from '../http/api-keys.ts'
import { type Body, type BodyLimits, isSmallBody, readBody } from '../http/body.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { prefersHtml } from '../http/negotiate.ts'
import { Refusal } from '../http/problem.ts'
import { refuse } from '../http/refuse.ts'
import type { SignupStatus } from '../journal/contracts/intake-log.ts'
import {
  type FieldProblem,
  type ParseContext,
  type Parsed,
  type ParsedSignup,
  parseForm,
  parseSignup,
  tooManyTabs,
} from '../signup/parse.ts'
import { accepted, replayed } from './accepted.ts'
import { takeSiteOut } from './body-site.ts'
import {
  contentOf,
  formKey,
  idempotencyOf,
  idempotencyOfForm,
  ownedKey,
  withKey,
} from './idempotency.ts'
import { refuseSpent, submit, type SubmitParts } from './submit.ts'
import { type Patience, patienceOf, type Waiting } from './waiting.ts'

/** The intakes of all sites, with what they share. */
export interface Intakes<Intake> {
  readonly apiKeys: ApiKeys
  readonly bodies: BodyLimits
  /** The intake of the request's site. Throws a `Refusal` while the site is unknown. */
  readonly of: (exchange: Exchange) => Intake
}

export interface SignupIntake extends SubmitParts {
  readonly digest: Digest
  readonly waiting: Waiting
  /** The default tab and the allowed tabs. */
  readonly tabs: Omit<ParseContext, 'source'>
  readonly people: FormPages
}

/** How to treat people who post a form from a page. */
export interface FormPages {
  /** The fields that the form's page requires and the form lacks. */
  missing(exchange: Exchange, fields: FormEntries): readonly FieldProblem[]
  /** Sends the visitor to the next page after the signup was accepted. `redirect` is not checked yet. */
  sendOn(exchange: Exchange, redirect: string | undefined): Answer
}

/** `POST /api/signup`: from the request to the answer. */
export async function postSignup(
  exchange: Exchange,
  intakes: Intakes<SignupIntake>,
): Promise<Answer> {
  const { status, isReplay, patience, page } = await acceptOne(exchange, intakes)
  const { waiting, people } = intakes.of(exchange)
  if (page) return replayed(people.sendOn(exchange, page.redirect), isReplay)
  if (patience) await waiting.untilWritten([status], patience, exchange.client.rateLimitKey)
  return accepted(status, waiting.progressOf([status], patience), isReplay)
}

interface Accepted {
  readonly status: SignupStatus
  readonly isReplay: boolean
  readonly patience: Patience | undefined
  /** Present when a person posted a form and is sent to another page. */
  readonly page: Pick<ParsedSignup, 'redirect'> | undefined
}

/** Takes the signup in, up to the durable write. A separate function, so that waiting keeps no request in memory. */
async function acceptOne(exchange: Exchange, intakes: Intakes<SignupIntake>): Promise<Accepted> {
  const { apiKeys, bodies } = intakes
  const { request } = exchange
  if (apiKeys.areSet) exchange.client.apiKey = apiKeys.digestIn(exchange)
  const key = ownedKey(exchange)
  // The page with the refusal shows what was typed, so read a small form even when it is refused.
  const isGivenBack = () => isForPerson(exchange) && isSmallBody(request)
  if (exchange.isSpent && !isGivenBack()) await refuseSpent(key, exchange, intakes)
  const sent = await readBody(exchange, bodies)
  exchange.signups = 1
  if (sent.kind === 'form') exchange.postedFields = sent.fields
  const body = takeSiteOut(sent, exchange)
  const intake = intakes.of(exchange)
  const { clock, digest } = intake
  const patience = patienceOf(request, clock)
  const parsed = parseBody(body, exchange, intake)
  const { challengeToken } = parsed
  const isPage = body.kind === 'form' && isForPerson(exchange)
  const ofForm = key === undefined && isPage ? formKey(body.fields) : undefined
  const content = contentOf(parsed)
  const idempotency =
    ofForm !== undefined
      ? idempotencyOfForm(ofForm, content, digest)
      : key && idempotencyOf(key, 'signup', content, digest)
  // Durable from here on: the visitor may leave.
  const submission = { parsed: [parsed], challengeToken, idempotency, exchange, asked: 1 }
  const { results, isReplay } = await submit(submission, intake).catch((error: unknown) => {
    const isUnknown = error instanceof Refusal && error.kind === 'outcomeUnknown'
    if (isUnknown && ofForm !== undefined && isPage)
      exchange.postedFields = withKey(body.fields, ofForm)
    throw error
  })
  const [status] = results
  if (!status) throw refuse.fields([tooManyTabs])
  exchange.postedFields = undefined
  return { status, isReplay, patience, page: isPage ? parsed : undefined }
}

function isForPerson({ request }: Exchange): boolean {
  return prefersHtml(request.headers.get('accept'))
}

/** @throws Refusal with everything that is wrong */
function parseBody(body: Body, exchange: Exchange, intake: SignupIntake): ParsedSignup {
  const parsed =
    body.kind === 'form'
      ? parsePosted(body.fields, exchange, intake)
      : parseSignup(body.value, { ...intake.tabs, source: 'api' })
  if (parsed.ok) return parsed.value
  throw refuse.fields(parsed.problems)
}

/** Parses a posted form. A form from our own page must have the fields that the page requires. */
function parsePosted(
  fields: FormEntries,
  exchange: Exchange,
  { tabs, people }: SignupIntake,
): Parsed {
  const parsed = parseForm(fields, { ...tabs, source: 'form' })
  const missing = people.missing(exchange, fields)
  if (missing.length === 0) return parsed
  return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), ...missing] }
}
