import type { Challenge } from '../challenge/challenge.ts'
import type {
  Addressing,
  Appended,
  Idempotency,
  IntakeLog,
  OwnedKey,
} from '../journal/contracts/intake-log.ts'
import { JournalUnavailable, OutcomeUnknown } from '../journal/contracts/errors.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import { keyField } from '../signup/form.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import type { Language } from '../signup/languages.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import type { SpamFilter } from './spam-filter.ts'
import type { Millis, Signup, SignupId } from '../signup/signup.ts'
import { contentOf, fingerprintOf, type Turns } from './idempotency.ts'
import { requestLanguage } from '../http/negotiate.ts'
import { refuse } from '../http/refuse.ts'
import type { Client } from '../http/client.ts'
import type { Exchange } from '../http/exchange.ts'

/** What it takes of a site to store its signups. */
export interface StoreParts {
  /** Undefined when there is no challenge and everybody is admitted. */
  readonly challenge: Challenge | undefined
  readonly journal: IntakeLog
  readonly events: Events
  readonly clock: Clock
  /** Makes a new UUIDv7. Ids always increase. */
  readonly newId: (now: Millis) => SignupId
  readonly turns: Turns
  /** Undefined when it is off. */
  readonly spamFilter?: SpamFilter | undefined
  /** Set when visitors get mails. */
  readonly mail?: VisitorMail | undefined
}

export interface VisitorMail {
  /** Whether they confirm their signups by the link of a mail; otherwise they are greeted by one. */
  readonly confirms: boolean
  /** The language of the site's own texts, if it says one. */
  readonly language: Language | undefined
}

/** What a request wants to be stored together. */
export interface Submission {
  readonly signups: readonly ParsedSignup[]
  readonly challengeToken: string | undefined
  readonly idempotency: Idempotency | undefined
  /** Whether the request, which has an API key, says that its people have confirmed. */
  readonly isConfirmed?: boolean | undefined
  /** Whether it is one person's own: neither bulk nor with an API key. */
  readonly isOwn?: boolean
  /** The key under which a form is stored that brought none. */
  readonly formKey?: string | undefined
}

/**
 * Refuses a client that has used up its limit, before its body is read. A request with a known
 * idempotency key is not refused, as it may be a replay; it counts as one.
 *
 * @param parts undefined while the site is unknown
 * @throws Refusal 429
 */
export async function refuseSpent(
  key: OwnedKey | undefined,
  exchange: Exchange,
  parts: StoreParts | undefined,
): Promise<void> {
  if (key && parts && (await isKnown(key, exchange, parts))) exchange.takeReplays(1)
  else exchange.take(1)
}

async function isKnown(key: OwnedKey, exchange: Exchange, parts: StoreParts): Promise<boolean> {
  try {
    return parts.turns.has(key) || (await parts.journal.knows(key))
  } catch (error) {
    throw refusalOf(error, exchange, parts)
  }
}

/**
 * Stores parsed signups with one durable write: when this resolves, the client may leave. A request with the key
 * of an earlier request waits for it and gets its answer.
 *
 * @returns the result of each signup, in order, as `AppendResults`: at least one; and whether an earlier request with
 *   the same key stored these signups, and this one nothing
 * @throws Refusal when the key came with other content, when the signups are too many, when the
 *   challenge is not passed, when the site is closed, or when the journal cannot be written
 */
export async function store(submission: Submission, exchange: Exchange, parts: StoreParts) {
  const { idempotency, formKey } = submission
  const work = () => append(submission, exchange, parts)
  let answer: Appended
  try {
    answer = await (idempotency ? once(idempotency, work, exchange, parts) : work())
  } catch (error) {
    // So that the form that is shown again brings its key.
    if (error instanceof OutcomeUnknown && formKey !== undefined) {
      const others = exchange.postedFields?.filter(([name]) => name !== keyField) ?? []
      exchange.postedFields = [...others, [keyField, formKey]]
    }
    throw refusalOf(error, exchange, parts)
  }
  if (answer.kind === 'mismatch') throw refuse.keyUsedBefore()
  if (answer.kind === 'tokenUsed') throw refuse.challenge()
  if (answer.results.length === 0) throw refuse.closed()
  const isReplay = answer.kind === 'replayed'
  if (isReplay) parts.events.requestReplayed()
  return { results: answer.results, isReplay }
}

/**
 * What to throw for an error of the journal: 503 when it cannot be used, or does not tell what became of the
 * signups. Any other error stays.
 */
export function refusalOf(
  error: unknown,
  { requestId }: Pick<Exchange, 'requestId'>,
  { events }: Pick<StoreParts, 'events'>,
): unknown {
  if (!(error instanceof JournalUnavailable)) return error
  events.journalUnavailable(error, requestId)
  return error instanceof OutcomeUnknown ? refuse.outcomeUnknown() : refuse.journalUnavailable()
}

/** Appends unless the key is known. A replay has its own limit and needs no new token. */
function once(
  key: Idempotency,
  work: () => Promise<Appended>,
  exchange: Exchange,
  { turns, journal }: StoreParts,
): Promise<Appended> {
  return turns.take(key, exchange.client.rateLimitKey, async () => {
    const known = await journal.recall(key)
    if (!known) return work()
    if (known.kind === 'replayed') exchange.takeReplays(exchange.signups)
    else exchange.take(exchange.signups)
    return known
  })
}

async function append(
  submission: Submission,
  exchange: Exchange,
  parts: StoreParts,
): Promise<Appended> {
  const { client } = exchange
  const { challenge, journal, mail } = parts
  const { idempotency, isConfirmed = false, isOwn = false } = submission
  exchange.take(exchange.signups)
  if (journal.openness(parts.clock.now()) === 'closed') {
    // Another instance may have given the last seat to this key after it was looked up.
    return (idempotency && (await journal.recall(idempotency))) ?? { kind: 'appended', results: [] }
  }
  const token = challenge && (await admit(challenge, submission, exchange, parts))
  const receivedAt = parts.clock.now()
  const signups = submission.signups.map((one) => signupOf(one, receivedAt, client, parts))
  const terms = { idempotency, token, client: client.rateLimitKey }
  const addressing = mail && addressingOf(exchange, mail)
  const isPending = addressing && mail.confirms && !isConfirmed
  const answer = await (isPending
    ? journal.ask(signups, { ...terms, addressing })
    : journal.append(signups, isOwn ? { ...terms, greeting: addressing } : terms))
  if (answer.kind === 'appended') tellStored(signups, answer, parts)
  return answer
}

/** The problem of a JSON body that says its people have confirmed, without a key to vouch for it. */
export function unvouched(
  { confirmed }: Readonly<Record<string, unknown>>,
  { apiKey }: Pick<Client, 'apiKey'>,
): readonly FieldProblem[] {
  if (confirmed !== true || apiKey !== undefined) return []
  const message =
    'Only a request with a valid API key can say that people have confirmed: send one, or leave this out.'
  return [{ field: 'confirmed', message }]
}

/** What a mail needs to know of the request: whose turn it takes, and the language that its sender reads. */
function addressingOf({ client, request }: Exchange, { language }: VisitorMail): Addressing {
  const share = client.apiKey === undefined ? client.share.client : 'key'
  return { share, language: requestLanguage(request, language).language }
}

function signupOf(
  parsed: ParsedSignup,
  receivedAt: number,
  client: Client,
  { newId, spamFilter }: StoreParts,
): Signup {
  const { email, sheetTab, source, name, tags, metadata, fields } = parsed
  const id = newId(receivedAt)
  const signup = { id, receivedAt, email, sheetTab, source, name, tags, metadata, fields }
  if (!spamFilter || client.apiKey !== undefined) return signup
  const suspect = spamFilter.signalsOf(parsed, client.publicAddress)
  return suspect ? { ...signup, suspect } : signup
}

/** Suspect signups count as accepted only where their rows go to the tab that they asked for, and pending ones never. */
function tellStored(
  signups: readonly Signup[],
  { results, duplicates }: Extract<Appended, { kind: 'appended' }>,
  { events, spamFilter }: StoreParts,
): void {
  const stored = signups.filter((_, index) => results[index])
  const suspects = stored.filter(({ suspect }) => suspect)
  for (const { id, suspect = [] } of suspects) events.signupSuspected(id, suspect)
  const pending = results.filter((status) => status?.beside).length
  if (pending > 0) events.signupsPending(pending)
  const held = spamFilter?.quarantines ? suspects.length : 0
  if (pending === 0) events.signupsAccepted(stored.length - held, duplicates)
}

/**
 * Admits visitors who pass the challenge. The provider accepts a token again for the same content, so
 * that a request can be repeated after a crash. The journal makes sure that a token is used for one
 * append only: it stores the token together with the signups.
 *
 * @returns the fingerprint of what was spent for the journal
 * @throws Refusal when the visitor does not pass
 */
export async function admit(
  challenge: Challenge,
  submission: Submission,
  { client, requestId }: Pick<Exchange, 'requestId'> & { client: Pick<Client, 'visitorAddress'> },
  { events }: Pick<StoreParts, 'events'>,
): Promise<string> {
  const { challengeToken: token } = submission
  const submissionId = submissionIdOf(submission)
  const remoteAddress = client.visitorAddress
  const verdict = await challenge.verify({ token, submissionId, remoteAddress })
  events.challengeAnswered(verdict, requestId)
  if (verdict.kind === 'rejected') throw refuse.challenge()
  if (verdict.kind !== 'passed') throw refuse.challengeUnavailable(verdict.retryAfterSeconds)
  // Test keys give everybody the same token, so there the fingerprint also depends on the content.
  return fingerprintOf('token', [verdict.spent ?? token, challenge.isForTests ? submissionId : ''])
}

/** Identifies the request, so that a repeated one is recognised: by its key and content, or by content alone. */
function submissionIdOf({ signups, idempotency }: Submission): string {
  if (!idempotency) return fingerprintOf('unkeyed', signups.map(contentOf))
  const { space, key, fingerprint } = idempotency
  return fingerprintOf('keyed', [space, key, fingerprint])
}
