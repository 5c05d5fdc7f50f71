import { type Body, type BodyLimits, isSmallBody, readBody } from '../http/body.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { prefersHtml } from '../http/negotiate.ts'
import type { Answer } from '../http/answer.ts'
import { Refusal } from '../http/problem.ts'
import { refuse } from '../http/refuse.ts'
import type { OwnedKey } from '../journal/contracts/intake-log.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import { keyField } from '../signup/form.ts'
import type { ParseContext } from '../signup/parse.ts'
import { ownedKey } from './idempotency.ts'
import { refuseSpent, type Submission, submit, type SubmitParts, type Submitted } from './submit.ts'
import { type Patience, patienceOf, type Waiting } from './waiting.ts'

/** The intakes of all sites, with what they share. */
export interface Intakes {
  readonly bodies: BodyLimits
  /** The intake of the request's site. Throws a `Refusal` while the site is unknown. */
  readonly of: (exchange: Exchange) => Intake
}

/** What takes in the signups of one site. */
export interface Intake extends SubmitParts {
  readonly waiting: Waiting
  /** What the parser needs to know, for each way in. Made once, not for each signup. */
  readonly contexts: Readonly<Record<'api' | 'form' | 'bulk', ParseContext>>
  readonly people: FormPages
  readonly bulkItemsMax: number
}

/** How to treat people who post a form from a page. */
export interface FormPages {
  /** The fields that the form's page requires and the form lacks. */
  missing(exchange: Exchange, fields: FormEntries): readonly FieldProblem[]
  /** Sends the visitor to the next page after the signup was accepted. `redirect` is not checked yet. */
  sendOn(exchange: Exchange, redirect: string | undefined): Answer
}

/** What an endpoint makes of a body. */
export interface Posted<Kept> extends Submission {
  /** The key under which a form is stored that brought none. */
  readonly formKey?: string | undefined
  readonly kept: Kept
}

export interface Endpoint<Kept> {
  readonly takesForms: boolean
  /**
   * Finds the signups of a body, and notes with the exchange how many they are.
   *
   * @throws Refusal when none of them can be stored
   */
  readonly read: (
    body: Body,
    key: OwnedKey | undefined,
    exchange: Exchange,
    intake: Intake,
  ) => Posted<Kept> | Promise<Posted<Kept>>
}

export interface Accepted<Kept> extends Submitted {
  readonly patience: Patience | undefined
  readonly kept: Kept
}

/**
 * Takes signups in, one or many, from the request to the durable write: when this resolves, the client may
 * leave. What it returns does not hold the request, so that waiting for rows costs little memory.
 *
 * @throws Refusal when nothing was stored, or when it is not known
 */
export async function accept<Kept>(
  exchange: Exchange,
  intakes: Intakes,
  { takesForms, read }: Endpoint<Kept>,
): Promise<Accepted<Kept>> {
  const { request } = exchange
  const key = ownedKey(request, exchange.client)
  // The page with the refusal shows what was typed, so a small form is read even when it is refused.
  const isGivenBack = () => takesForms && prefersHtml(request) && isSmallBody(request)
  if (exchange.isSpent && !isGivenBack()) await refuseSpent(key, exchange, intakes)
  const sent = await readBody(exchange, intakes.bodies)
  exchange.signups = 1
  if (sent.kind === 'form') {
    if (!takesForms) throw refuse.jsonOnly()
    exchange.postedFields = sent.fields
  }
  const body = takeSiteOut(sent, exchange)
  const intake = intakes.of(exchange)
  const patience = patienceOf(request, intake.clock)
  const posted = await read(body, key, exchange, intake)
  const { kept, formKey } = posted
  try {
    const { results, isReplay } = await submit(posted, exchange, intake)
    return { results, isReplay, patience, kept }
  } catch (error) {
    const isUnknown = error instanceof Refusal && error.kind === 'outcomeUnknown'
    if (isUnknown && formKey !== undefined) {
      const others = exchange.postedFields?.filter(([name]) => name !== keyField) ?? []
      exchange.postedFields = [...others, [keyField, formKey]]
    }
    throw error
  }
}

/**
 * Uses the site of a posted request, and takes the field `site` out of its body. Without sites there
 * is no such field: the body stays as it is, and only the address may name the site.
 *
 * @throws Refusal 422 when the site is unknown, is no text, or is not that of the address; 403 when it does
 *   not allow the request's origin
 */
export function takeSiteOut(body: Body, exchange: Exchange): Body {
  if (!exchange.hasSites) {
    exchange.useSiteOfBody(undefined)
    return body
  }
  if (body.kind === 'form') {
    const isSite = ([name]: readonly [string, string]) => name === 'site'
    const named = new Set(body.fields.filter(isSite).map(([, value]) => value))
    named.delete('')
    if (named.size > 1) throw wrong('The site must be named once.')
    exchange.useSiteOfBody([...named][0])
    return { kind: 'form', fields: body.fields.filter((field) => !isSite(field)) }
  }
  const { site, ...value } = body.value
  if (typeof site !== 'string' && site !== undefined && site !== null) {
    throw wrong('The site must be text.')
  }
  exchange.useSiteOfBody(site === null || site === '' ? undefined : site)
  return { kind: 'json', value }
}

function wrong(message: string) {
  return refuse.fields([{ field: 'site', message }])
}
