import { type Answer, json } from '../http/answer.ts'
import type { BulkAccepted, SignupAccepted } from '../signup/wire.ts'
import type { Progress } from './waiting.ts'

/** A posted form may get a page instead of JSON, depending on `Accept`. */
const vary = 'Accept, Origin'

/**
 * The answer to accepted signups: 202, 201 when the visitor waited until the rows were written, or 207.
 *
 * @param isReplay whether an earlier request with the same key stored the signups
 * @param isPartly whether some signups were rejected
 */
export function accepted(
  body: SignupAccepted | BulkAccepted,
  { waitSeconds, blockedBy }: Progress,
  isReplay: boolean,
  isPartly = false,
): Answer {
  const hasWaited = waitSeconds !== undefined
  const outcome = hasWaited ? 'written' : 'accepted'
  const told =
    blockedBy === undefined ? body : { ...body, delivery: { state: 'blocked', error: blockedBy } }
  const headers = hasWaited ? ['preference-applied', `wait=${waitSeconds}`] : []
  return replayed(json(isPartly ? 'partlyAccepted' : outcome, told, { vary, headers }), isReplay)
}

/** Adds the `Idempotency-Replayed` header when the answer is a replay. */
export function replayed(answer: Answer, isReplay: boolean): Answer {
  return isReplay ? { ...answer, headers: [...answer.headers, ...replayedHeaders] } : answer
}

const replayedHeaders = ['idempotency-replayed', 'true']
