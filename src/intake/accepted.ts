import { type Answer, type Extras, json } from '../http/answer.ts'
import type { SignupStatus } from '../journal/intake-log.ts'
import type { Millis } from '../signup/signup.ts'
import type { BulkAccepted, BulkResult, SignupAccepted } from '../signup/wire.ts'
import type { Progress } from './waiting.ts'

/**
 * On disk and on its way; or written, for a visitor who waited for that.
 *
 * @param isReplay it is the answer to an earlier request with the same key
 */
export function accepted(
  { id, sheetTab, receivedAt }: SignupStatus,
  progress: Progress,
  isReplay: boolean,
): Answer {
  const body: SignupAccepted = {
    id,
    status: progress.areWritten ? 'written' : 'accepted',
    sheetTab,
    receivedAt: isoTime(receivedAt),
    ...deliveryOf(progress),
  }
  return replayed(json(outcomeOf(progress), body, extrasOf(progress)), isReplay)
}

/** As for one signup; in parts when some were rejected. */
export function bulkAccepted(
  results: readonly BulkResult[],
  progress: Progress,
  isReplay: boolean,
): Answer {
  const rejected = results.filter(({ status }) => status === 'rejected').length
  const body: BulkAccepted = {
    accepted: results.length - rejected,
    rejected,
    results,
    ...deliveryOf(progress),
  }
  const outcome = rejected > 0 ? 'partlyAccepted' : outcomeOf(progress)
  return replayed(json(outcome, body, extrasOf(progress)), isReplay)
}

/** The answer, which says so when it is given again. */
export function replayed(answer: Answer, isReplay: boolean): Answer {
  return isReplay ? { ...answer, headers: [...answer.headers, ...replayedHeaders] } : answer
}

const replayedHeaders = ['idempotency-replayed', 'true']

function outcomeOf({ waitSeconds }: Progress): 'accepted' | 'written' {
  return waitSeconds === undefined ? 'accepted' : 'written'
}

/** A form of a person is answered with a page where that is preferred. */
const vary = 'Accept'
const plain = { vary }

function extrasOf({ waitSeconds }: Progress): Extras {
  if (waitSeconds === undefined) return plain
  return { vary, headers: ['preference-applied', `wait=${waitSeconds}`] }
}

/** Remembers the last: the signups of one commit share a few milliseconds. */
const isoTime = (() => {
  let last: { readonly millis: Millis; readonly text: string } | undefined
  return (millis: Millis): string => {
    if (last?.millis !== millis) last = { millis, text: new Date(millis).toISOString() }
    return last.text
  }
})()

function deliveryOf({ blockedBy }: Progress): Pick<SignupAccepted, 'delivery'> {
  return blockedBy === undefined ? {} : { delivery: { state: 'blocked', error: blockedBy } }
}
