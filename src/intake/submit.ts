import type { Challenge } from '../challenge/challenge.ts'
import type {
  Appended,
  AppendResults,
  Idempotency,
  IntakeLog,
  OwnedKey,
} from '../journal/contracts/intake-log.ts'
import { JournalUnavailable, OutcomeUnknown } from '../journal/contracts/errors.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { Digest } from '../platform/digest.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import type { Millis, Signup, SignupId } from '../signup/signup.ts'
import { contentOf, fingerprintOf, type Turns } from './idempotency.ts'
import { refuse } from '../http/refuse.ts'
import type { Client } from '../http/client.ts'
import type { Exchange } from '../http/exchange.ts'

export interface SubmitParts {
  /** Undefined when there is no challenge and everybody is admitted. */
  readonly challenge: Challenge | undefined
  readonly journal: IntakeLog
  readonly events: Events
  readonly digest: Digest
  readonly clock: Clock
  /** Makes a new UUIDv7. Ids always increase. */
  readonly newId: (now: Millis) => SignupId
  readonly turns: Turns
}

/** What a request wants to be stored together. */
export interface Submission {
  readonly signups: readonly ParsedSignup[]
  readonly challengeToken: string | undefined
  readonly idempotency: Idempotency | undefined
}

export interface Submitted {
  /** The result of each signup, in order; undefined when its tab would exceed the limit of tabs. */
  readonly results: AppendResults
  /** Whether an earlier request with the same key stored these signups, and this one nothing. */
  readonly isReplay: boolean
}

/**
 * Refuses a client that has used up its limit, before its body is read. A request with a known
 * idempotency key is not refused, as it may be a replay; it counts as one.
 *
 * @throws Refusal 429
 */
export async function refuseSpent(
  key: OwnedKey | undefined,
  exchange: Exchange,
  intakes: { readonly of: (exchange: Exchange) => SubmitParts },
): Promise<void> {
  if (!exchange.knownSite) {
    exchange.take(1)
    return
  }
  const options = intakes.of(exchange)
  const { journal, turns } = options
  const knows = (known: OwnedKey) => turns.has(known) || journal.knows(known)
  if (key && (await orUnavailable(() => knows(key), exchange, options))) exchange.takeReplays(1)
  else exchange.take(1)
}

/**
 * Stores parsed signups with one durable write. A request with the key of an earlier request waits for
 * it and gets its answer.
 *
 * @throws Refusal when the key came with other content, when the signups are too many, when the
 *   challenge is not passed, or when the journal cannot be written
 */
export async function submit(
  submission: Submission,
  exchange: Exchange,
  options: SubmitParts,
): Promise<Submitted> {
  const { idempotency } = submission
  const { turns, events } = options
  const work = () =>
    idempotency
      ? turns.take(idempotency, exchange.client.rateLimitKey, () =>
          storeOnce(submission, idempotency, exchange, options),
        )
      : store(submission, exchange, options)
  const answer = await orUnavailable(work, exchange, options)
  if (answer.kind === 'mismatch') throw refuse.keyUsedBefore()
  if (answer.kind === 'tokenUsed') throw refuse.challenge()
  const { results } = answer
  if (answer.kind === 'replayed') {
    events.requestReplayed()
    return { results, isReplay: true }
  }
  events.signupsAccepted(results.filter(Boolean).length, answer.duplicates)
  return { results, isReplay: false }
}

/** @throws Refusal 503 when the journal cannot be used, or does not tell what became of the signups */
async function orUnavailable<T>(
  work: () => T | Promise<T>,
  { requestId }: Exchange,
  { events }: SubmitParts,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
    events.journalUnavailable(error, requestId)
    throw error instanceof OutcomeUnknown ? refuse.outcomeUnknown() : refuse.journalUnavailable()
  }
}

/** Stores the signups unless the key is known. A replay has its own limit and needs no new token. */
async function storeOnce(
  submission: Submission,
  idempotency: Idempotency,
  exchange: Exchange,
  options: SubmitParts,
): Promise<Appended> {
  const known = await options.journal.recall(idempotency)
  if (!known) return store(submission, exchange, options)
  if (known.kind === 'replayed') exchange.takeReplays(exchange.signups)
  else exchange.take(exchange.signups)
  return known
}

async function store(
  submission: Submission,
  exchange: Exchange,
  options: SubmitParts,
): Promise<Appended> {
  exchange.take(exchange.signups)
  const token = await admit(submission, exchange, options)
  const receivedAt = options.clock.now()
  const signups = submission.signups.map((one) => signupOf(one, receivedAt, options))
  return options.journal.append(signups, {
    idempotency: submission.idempotency,
    token,
    client: exchange.client.rateLimitKey,
  })
}

function signupOf(parsed: ParsedSignup, receivedAt: number, { newId }: SubmitParts): Signup {
  const { email, sheetTab, source, name, tags, metadata, fields } = parsed
  const cells = { email, sheetTab, source, name, tags, metadata, fields }
  return { id: newId(receivedAt), receivedAt, ...cells }
}

/**
 * Admits visitors who pass the challenge. The provider accepts a token again for the same content, so
 * that a request can be repeated after a crash. The journal makes sure that a token is used for one
 * append only: it stores the token together with the signups.
 *
 * @returns the fingerprint of the token for the journal; undefined when there is no challenge
 * @throws Refusal when the visitor does not pass
 */
export async function admit(
  submission: Submission,
  { client, requestId }: Pick<Exchange, 'requestId'> & { client: Pick<Client, 'visitorAddress'> },
  { challenge, events, digest }: Pick<SubmitParts, 'challenge' | 'events' | 'digest'>,
): Promise<string | undefined> {
  if (!challenge) return undefined
  const { challengeToken: token } = submission
  const submissionId = submissionIdOf(submission, digest)
  const remoteAddress = client.visitorAddress
  const verdict = await challenge.verify({ token, submissionId, remoteAddress })
  events.challengeAnswered(verdict, requestId)
  if (verdict.kind === 'rejected') throw refuse.challenge()
  if (verdict.kind !== 'passed') throw refuse.challengeUnavailable(verdict.retryAfterSeconds)
  // Test keys give everybody the same token, so there the fingerprint also depends on the content.
  return fingerprintOf('token', [token, challenge.isForTests ? submissionId : ''], digest)
}

/** Identifies the request, so that a repeated one is recognised: by its key and content, or by content alone. */
function submissionIdOf({ signups, idempotency }: Submission, digest: Digest): string {
  if (!idempotency) return fingerprintOf('unkeyed', signups.map(contentOf), digest)
  const { space, key, fingerprint } = idempotency
  return fingerprintOf('keyed', [space, key, fingerprint], digest)
}
