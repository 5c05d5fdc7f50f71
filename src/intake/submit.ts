import type {
  Appended,
  AppendResults,
  Idempotency,
  IntakeLog,
  OwnedKey,
} from '../journal/intake-log.ts'
import { JournalUnavailable } from '../journal/unavailable.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import type { Millis, Signup, SignupId } from '../signup/signup.ts'
import type { Admission, Applicant } from './admission.ts'
import type { Turns } from './idempotency.ts'
import { refuse } from '../http/refuse.ts'
import type { Exchange } from '../http/exchange.ts'

export interface SubmitOptions {
  readonly journal: IntakeLog
  readonly events: Events
  readonly clock: Clock
  /** A fresh UUIDv7; they rise. */
  readonly newId: (now: Millis) => SignupId
  readonly turns: Turns
  readonly admission: Admission
}

export interface Submission extends Applicant {
  readonly exchange: Exchange
  /** How many count against the limit of the client's address, unless they are answered again. */
  readonly asked: number
}

export interface Submitted {
  /** For each signup, in order: undefined when its tab would be one too many. */
  readonly results: AppendResults
  /** Nothing was added: it is the answer to an earlier request with the same key. */
  readonly isReplay: boolean
}

/**
 * Refuses who has no signup left, before the body is read: unless it may be answered again, as its
 * key is known, and then it counts as one that is.
 * @throws Refusal 429
 */
export async function refuseSpent(
  key: OwnedKey | undefined,
  exchange: Exchange,
  options: SubmitOptions,
): Promise<void> {
  const { journal, turns } = options
  const knows = (known: OwnedKey) => turns.has(known) || journal.knows(known)
  if (key && (await orUnavailable(() => knows(key), exchange, options))) exchange.takeReplays(1)
  else exchange.take(1)
}

/**
 * From parsed signups to the durable write, which is one for all of them. A request with the key of
 * an earlier one waits for it and gets its answer; throws `Refusal` when the contents differ,
 * when they are too many, when the challenge is not passed, or when the journal cannot be written.
 */
export async function submit(submission: Submission, options: SubmitOptions): Promise<Submitted> {
  const { idempotency, exchange } = submission
  const { turns, events } = options
  const work = () =>
    idempotency
      ? turns.take(idempotency, exchange.countedAs, () =>
          storeOnce(submission, idempotency, options),
        )
      : store(submission, options)
  const answer = await orUnavailable(work, exchange, options)
  if (answer.kind === 'mismatch') throw refuse.keyUsedBefore()
  if (answer.kind === 'tokenUsed') throw refuse.challenge()
  const { kind, results } = answer
  if (kind === 'appended') events.signupsAccepted(results.filter(Boolean).length)
  return { results, isReplay: kind === 'replayed' }
}

/** @throws Refusal 503 when the journal cannot be used */
async function orUnavailable<T>(
  work: () => T | Promise<T>,
  { requestId }: Exchange,
  { events }: SubmitOptions,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
    events.journalUnavailable(error, requestId)
    throw refuse.journalUnavailable()
  }
}

/** What is answered again is counted by a limit of its own, and needs no fresh token. */
async function storeOnce(
  submission: Submission,
  idempotency: Idempotency,
  options: SubmitOptions,
): Promise<Appended> {
  const { exchange, asked } = submission
  const known = await options.journal.recall(idempotency)
  if (!known) return store(submission, options)
  if (known.kind === 'replayed') exchange.takeReplays(asked)
  else exchange.take(asked)
  return known
}

async function store(submission: Submission, options: SubmitOptions): Promise<Appended> {
  const { parsed, idempotency, exchange, asked } = submission
  exchange.take(asked)
  const token = await options.admission.admit(submission)
  const receivedAt = options.clock.now()
  const signups = parsed.map((one) => accept(one, receivedAt, options))
  return options.journal.append(signups, { idempotency, token, opener: exchange.countedAs })
}

function accept(parsed: ParsedSignup, receivedAt: number, { newId }: SubmitOptions): Signup {
  const { email, sheetTab, source, name, tags, metadata } = parsed
  return { id: newId(receivedAt), receivedAt, email, sheetTab, source, name, tags, metadata }
}
