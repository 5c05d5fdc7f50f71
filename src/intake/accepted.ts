import { type Answer, json } from '../http/answer.ts'
import type { SignupStatus } from '../journal/contracts/intake-log.ts'
import type { Millis } from '../signup/signup.ts'
import type { BulkAccepted, BulkResult, SignupAccepted } from '../signup/wire.ts'
import type { Progress } from './waiting.ts'

/**
 * The answer to an accepted signup: 202, or 201 when the visitor waited until the row was written.
 *
 * @param isReplay whether an earlier request with the same key stored the signup
 */
export function accepted(
  { id, sheetTab, receivedAt }: SignupStatus,
  progress: Progress,
  isReplay: boolean,
): Answer {
  const status = progress.areWritten ? 'written' : 'accepted'
  const body: SignupAccepted = { id, status, sheetTab, receivedAt: isoTime(receivedAt) }
  return answerOf(body, progress, isReplay)
}

/**
 * The answer to a bulk request: as for one signup, or 207 when some signups were rejected.
 *
 * @param errorsLeftOut how many errors the results do not tell
 */
export function bulkAccepted(
  results: readonly BulkResult[],
  errorsLeftOut: number,
  progress: Progress,
  isReplay: boolean,
): Answer {
  const rejected = results.filter(({ status }) => status === 'rejected').length
  const body: BulkAccepted = {
    accepted: results.length - rejected,
    rejected,
    results,
    ...(errorsLeftOut > 0 && { errorsLeftOut }),
  }
  return answerOf(body, progress, isReplay, rejected > 0)
}

/** A posted form may get a page instead of JSON, depending on `Accept`. */
const vary = 'Accept'

function answerOf(
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

/** Formats a time and remembers the last result, because signups often share a millisecond. */
const isoTime = (() => {
  let last: { readonly millis: Millis; readonly text: string } | undefined
  return (millis: Millis): string => {
    if (last?.millis !== millis) last = { millis, text: new Date(millis).toISOString() }
    return last.text
  }
})()
