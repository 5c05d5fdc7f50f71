import type { DeliveryLog } from '../journal/contracts/delivery-log.ts'
import { type Clock, minute } from '../platform/clock.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis } from '../signup/signup.ts'
import type { Refused, Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import type { Attempts } from './attempts.ts'

/** How long after a spreadsheet's first batch the fence is tested. */
const testAfterMs = minute

/** A person may restore a version in the middle of a test, but hardly in the next one too. */
const testRounds = 2

export interface FenceOptions {
  readonly journal: Pick<DeliveryLog, 'fact' | 'noteFact'>
  readonly spreadsheet: Spreadsheet
  readonly clock: Pick<Clock, 'elapsed'>
  readonly attempts: Attempts
  /** No test begins later than this after its batch, because another writer may prune the marker then. */
  readonly withinMs: Millis
}

/** What keeps double rows out: a marker of each batch. It is tested once for each spreadsheet. */
export class Fence {
  readonly #options: FenceOptions
  /** The settled batch to test with, and when; `tested` once the fence is known to work. */
  #test: { readonly batch: FrozenBatch; readonly settledAt: Millis } | 'tested' | undefined

  constructor(options: FenceOptions) {
    this.#options = options
  }

  /** Whether the first batch of this process was settled. */
  get isBegun(): boolean {
    return this.#test !== undefined
  }

  /** The time at which the test is due. */
  get dueAt(): Millis {
    return typeof this.#test === 'object' ? this.#test.settledAt + testAfterMs : Infinity
  }

  /** Keeps the first batch that was settled, not before `settledAt` on the elapsed clock. */
  async begin({ number, marker, fingerprint }: FrozenBatch, settledAt: Millis): Promise<void> {
    const { journal, spreadsheet } = this.#options
    if (this.#test) return
    const isTested = (await journal.fact(factOf(spreadsheet))) !== undefined
    this.#test = isTested
      ? 'tested'
      : { batch: { number, marker, fingerprint, tabs: [] }, settledAt }
  }

  /**
   * Tests, when it is due, that a marker keeps its batch out. Giving up a settled batch must answer `applied`.
   * If it succeeds instead, either the fence does not hold, so that a lost answer would cause double rows, or
   * the marker is gone, because a person restored a version from before the batch. Then the marker that giving
   * up has made must keep out a try to write the batch.
   */
  async test(): Promise<void> {
    const { journal, spreadsheet, clock, attempts, withinMs } = this.#options
    if (typeof this.#test !== 'object' || clock.elapsed() < this.dueAt) return
    const { batch, settledAt } = this.#test
    let isBroken = false
    const isInTime = async () => clock.elapsed() <= settledAt + withinMs
    const result = await attempts.persist(async (signal) => {
      if (isBroken) return broken
      for (let round = 1; round <= testRounds; round++) {
        if (!(await isInTime())) return tooLate
        const end = await spreadsheet.abandon(batch, signal, isInTime)
        if (end.kind === 'applied') return holds
        if (end.kind !== 'abandoned') return end
        const again = await spreadsheet.write(batch, signal, isInTime)
        if (again.kind === 'abandoned') return holds
        if (again.kind !== 'applied') return again
      }
      // If this process was suspended in between, another writer may have pruned the marker.
      isBroken = await isInTime()
      return isBroken ? broken : tooLate
    })
    if (result?.kind === 'too late') this.#test = undefined
    if (result?.kind !== 'holds') return
    await journal.noteFact(factOf(spreadsheet), 'holds')
    this.#test = 'tested'
  }
}

const holds = { kind: 'holds' } as const

/** It is too late for the test with this batch. The next batch is used instead. */
const tooLate = { kind: 'too late' } as const

const broken: Refused = {
  kind: 'refused',
  reason: 'fence',
  message: 'The spreadsheet applied one batch id twice, so lost answers could lead to double rows',
  hint:
    'Make a new, empty spreadsheet (not a copy), share it with the service account as Editor, and ' +
    'name it in the settings. Rollcall keeps all signups meanwhile, and tests the spreadsheet again after ' +
    'a restart.',
}

function factOf({ location }: Spreadsheet): string {
  return `fence of ${location}`
}
