import {
  type Appended,
  type AppendResults,
  type Idempotency,
  type Journal,
  JournalUnavailable,
} from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { FieldProblem, ParsedSignup } from '../signup/parse.ts'
import type { Signup, SignupId } from '../signup/signup.ts'
import type { Admission, Visitor } from './admission.ts'
import type { Turns } from './idempotency.ts'
import { refuse } from './respond.ts'

export interface SubmitOptions {
  readonly journal: Journal
  readonly events: Events
  readonly clock: Clock
  /** A fresh UUIDv7. */
  readonly newId: () => SignupId
  readonly turns: Turns
  readonly admission: Admission
}

export interface Submission {
  readonly parsed: readonly ParsedSignup[]
  readonly idempotency: Idempotency | undefined
  readonly visitor: Visitor
  /**
   * Counts the request against the limit of the client's address, unless it is answered again.
   * @throws RequestRefused 429
   */
  readonly count: () => void
}

export interface Submitted {
  /** For each signup, in order: undefined when its tab would be one too many. */
  readonly results: AppendResults
  /** Nothing was added: it is the answer to an earlier request with the same key. */
  readonly isReplay: boolean
}

/**
 * From parsed signups to the durable write, which is one for all of them. A request with the key of
 * an earlier one waits for it and gets its answer; throws `RequestRefused` when the contents differ,
 * when they are too many, when the challenge is not passed, or when the journal cannot be written.
 */
export async function submit(submission: Submission, options: SubmitOptions): Promise<Submitted> {
  const { idempotency } = submission
  const answer = idempotency
    ? await options.turns.take(idempotency.key, () => store(submission, options))
    : await store(submission, options)
  if (answer.kind === 'mismatch') throw refuse.keyUsedBefore()
  return { results: answer.results, isReplay: answer.kind === 'replayed' }
}

async function store(submission: Submission, options: SubmitOptions): Promise<Appended> {
  const { visitor, idempotency, count } = submission
  const { journal, events, admission } = options
  try {
    const known = idempotency && (await journal.recall(idempotency))
    // Counted and admitted only now: what is answered again is free, and needs no fresh token.
    if (known?.kind === 'replayed') return known
    count()
    if (known) return known
    return await admission.admit(visitor, submission, () => append(submission, options))
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
    events.journalUnavailable(error)
    throw refuse.journalUnavailable()
  }
}

async function append(
  { parsed, idempotency }: Submission,
  options: SubmitOptions,
): Promise<Appended> {
  const { journal, events, clock } = options
  const receivedAt = clock.now()
  const signups = parsed.map((one) => accept(one, receivedAt, options))
  const answer = await journal.append(signups, idempotency)
  if (answer.kind === 'appended') {
    events.signupsAccepted(answer.results.filter((result) => result !== undefined).length)
  }
  return answer
}

function accept(parsed: ParsedSignup, receivedAt: number, { newId }: SubmitOptions): Signup {
  const { email, sheetTab, source, name, tags, metadata } = parsed
  return { id: newId(), receivedAt, email, sheetTab, source, name, tags, metadata }
}

/** The address is found out when the challenge asks for it. */
export function visitorOf(
  visit: Partial<Pick<Visitor, 'remoteAddress'>>,
  challengeToken: string | undefined,
): Visitor {
  return {
    challengeToken,
    get remoteAddress() {
      return visit.remoteAddress
    },
  }
}

/** Told when a signup's tab would be one too many. */
export const tooManyTabs: FieldProblem = {
  field: 'sheetTab',
  message: 'This tab does not exist and no more are made: name another one, or leave it out.',
}
