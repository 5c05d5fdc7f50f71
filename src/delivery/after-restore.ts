import { type DeliveryLog, restoredFact } from '../journal/contracts/delivery-log.ts'
import { type Clock, minute } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { RowTaker, Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import type { Attempts } from './attempts.ts'
import { readRows } from '../spreadsheet/read-rows.ts'

/** Finds out which waiting signups have a row already. */
export interface Arrivals extends RowTaker, Disposable {
  /** Notes which of them, up to this position, have a row in the last reading. They get no other one. */
  noteArrived(upto: number): Promise<void>
}

export interface AfterRestoreOptions {
  readonly journal: DeliveryLog
  readonly arrivals: () => Promise<Arrivals>
  readonly spreadsheet: Spreadsheet
  readonly clock: Pick<Clock, 'elapsed'>
  readonly attempts: Attempts
  /** When this process began to deliver, on the elapsed clock. */
  readonly startedAt: Millis
}

/** After it no call from before the restore can be applied: Google works on a call for at most 180 s. */
const callsEndMs = 4 * minute

/** How long to wait for a person who changes the spreadsheet. */
const lookAgainMs = minute

/**
 * Before the first batch of a journal that was restored from a backup, finds out which of its waiting
 * signups have a row already, because they were written after the backup. Their markers may be gone, so
 * their rows are compared. It is safe to be killed at any point: the next process does all of it again.
 *
 * Resolves with true when the first batch may be frozen, and with false to ask again.
 */
export async function isRestoreDone(options: AfterRestoreOptions): Promise<boolean> {
  const { journal, spreadsheet, clock, attempts, startedAt } = options
  const restored = await journal.fact(restoredFact)
  if (!restored) return true
  const waitMs = startedAt + callsEndMs - clock.elapsed()
  if (spreadsheet.profile.hasQuota && waitMs > 0) {
    await attempts.delay('A backup was restored: calls from before it may still arrive', waitMs)
    return false
  }
  const finished = await attempts.persist(() => spreadsheet.finishEarlier())
  if (finished?.kind !== 'finished') return false
  using arrivals = await options.arrivals()
  const read = await readRows(spreadsheet, arrivals, (call) => attempts.persist(call))
  if (!read) return false
  if (read === 'restless') {
    const why = 'The rows were changed each time while they were read'
    await attempts.delay(`${why}, or Google cannot read the title of a tab`, lookAgainMs)
    return false
  }
  await arrivals.noteArrived(Number(restored))
  await journal.noteFact(restoredFact, '')
  return true
}
