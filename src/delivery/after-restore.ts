import type { Comparison } from '../journal/contracts/comparison.ts'
import { type DeliveryLog, restoredFact } from '../journal/contracts/delivery-log.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import type { Attempts } from './attempts.ts'
import { readRows, type RowsRead } from './read-rows.ts'

export interface AfterRestoreOptions {
  readonly journal: DeliveryLog
  /** Begins to compare the journal with the spreadsheet. */
  readonly comparison: () => Promise<Comparison>
  readonly spreadsheet: Spreadsheet
  readonly clock: Pick<Clock, 'elapsed'>
  readonly attempts: Attempts
}

const minute = 60 * 1000

/**
 * Google works on a call for at most 180 s. A call that was made before the backup was restored, just
 * before this process began, cannot be applied any more after this time.
 */
const callsEndMs = 4 * minute

/** How long to wait for a person who changes the spreadsheet. */
const lookAgainMs = minute

/** Signups that are noted at once. */
const pageSignups = 200

/**
 * Before the first batch of a journal that was restored from a backup, finds out which of its waiting
 * signups have a row already, because they were written after the backup. Their markers may be gone, so
 * their rows are compared. It is safe to be killed at any point: the next process does all of it again.
 */
export class AfterRestore {
  readonly #options: AfterRestoreOptions
  readonly #startedAt: Millis

  constructor(options: AfterRestoreOptions) {
    this.#options = options
    this.#startedAt = options.clock.elapsed()
  }

  /** Resolves with true when the first batch may be frozen, and with false to ask again. */
  async isDone(): Promise<boolean> {
    const { journal, spreadsheet, clock, attempts } = this.#options
    const restored = await journal.fact(restoredFact)
    if (!restored) return true
    const waitMs = this.#startedAt + callsEndMs - clock.elapsed()
    if (spreadsheet.profile.hasQuota && waitMs > 0) {
      await attempts.delay('A backup was restored: calls from before it may still arrive', waitMs)
      return false
    }
    const finished = await attempts.persist(() => spreadsheet.finishEarlier())
    if (finished?.kind !== 'finished') return false
    using comparison = await this.#options.comparison()
    const read = await readRows(spreadsheet, comparison, (call) => attempts.persist(call))
    if (!read) return false
    const obstacle = obstacleIn(read)
    if (obstacle !== undefined) {
      await attempts.delay(obstacle, lookAgainMs)
      return false
    }
    await comparison.compare(() => {})
    await noteArrived(comparison, Number(restored))
    await journal.noteFact(restoredFact, '')
    return true
  }
}

/** Why the rows that were read do not tell which signups have one; undefined when they do. */
function obstacleIn(read: RowsRead): string | undefined {
  if (read.kind === 'restless') return 'The rows were changed each time while they were read'
  if (read.unread.length === 0) return undefined
  const places = read.unread.map(({ place }) => place).join(', ')
  return `Google cannot read the title of ${places} in a range: rename that tab`
}

/** Notes the rows of signups up to this position. */
async function noteArrived(comparison: Comparison, upto: number): Promise<void> {
  for (let after = 0; ;) {
    const page = await comparison.found('arrived', after, pageSignups)
    const positions = page.map(({ position }) => position)
    await comparison.noteArrived(positions.filter((position) => position <= upto))
    if (page.length < pageSignups) return
    after = page.at(-1)?.position ?? after
  }
}
