import { type Body, type BodyLimits, isSmallBody, readBody } from '../http/body.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { prefersHtml } from '../http/negotiate.ts'
import type { Answer } from '../http/answer.ts'
import { Refusal } from '../http/problem.ts'
import { refuse } from '../http/refuse.ts'
import type { AppendResults, OwnedKey } from '../journal/contracts/intake-log.ts'
import type { Digest } from '../platform/digest.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import type { ParseContext } from '../signup/parse.ts'
import type { Submission } from './admission.ts'
import { takeSiteOut } from './body-site.ts'
import { ownedKey, withKey } from './idempotency.ts'
import { refuseSpent, submit, type SubmitParts } from './submit.ts'
import { type Patience, patienceOf, type Waiting } from './waiting.ts'

/** The intakes of all sites, with what they share. */
export interface Intakes {
  readonly bodies: BodyLimits
  /** The intake of the request's site. Throws a `Refusal` while the site is unknown. */
  readonly of: (exchange: Exchange) => Intake
}

/** What takes in the signups of one site. */
export interface Intake extends SubmitParts {
  readonly digest: Digest
  readonly waiting: Waiting
  /** The default tab and the allowed tabs. */
  readonly tabs: Omit<ParseContext, 'source'>
  readonly people: FormPages
  /** The most signups in one request. */
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
  /** What the answer needs. */
  readonly kept: Kept
}

/** Where signups are posted. */
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

export interface Accepted<Kept> {
  /** The results of the signups that were read, in order. */
  readonly results: AppendResults
  /** Whether an earlier request with the same key stored these signups, and this one nothing. */
  readonly isReplay: boolean
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
  const key = ownedKey(exchange)
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
      exchange.postedFields = withKey(exchange.postedFields ?? [], formKey)
    }
    throw error
  }
}
