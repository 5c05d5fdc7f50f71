import { googleProfile } from '../src/spreadsheet/google/profile.ts'
import type { FrozenBatch, Marked } from '../src/signup/batch.ts'
import type { Warning } from '../src/signup/trouble.ts'
import type {
  Abandoned,
  Finished,
  MaySend,
  Opened,
  Outcome,
  Profile,
  Pruned,
  RowKey,
  RowPart,
  RowReader,
  Removal,
  RowToRemove,
  Spreadsheet,
} from '../src/spreadsheet/spreadsheet.ts'

/** What one `write` does: whether it writes the rows, and which outcome it returns. */
export interface Act {
  readonly applies: boolean
  readonly answers: Outcome
}

export const lostAnswer: Act = {
  applies: true,
  answers: { kind: 'unknown', message: 'no answer within 60000 ms' },
}
export const neverArrived: Act = {
  applies: false,
  answers: { kind: 'unknown', message: 'socket hang up' },
}

export function refuses(message: string, tab?: string): Act {
  const refused = { kind: 'refused', reason: 'other', message, hint: 'Mend it.' } as const
  if (tab === undefined) return { applies: false, answers: refused }
  const place = 'the tab at place 1'
  return {
    applies: false,
    answers: { ...refused, reason: 'protectedTab', tab: { name: tab, place } },
  }
}

/** A spreadsheet in memory that keeps the contract and answers as a test says. */
export class ScriptedSpreadsheet implements Spreadsheet {
  readonly location = 'a test'
  readonly profile: Profile
  warnings: readonly Warning[] = []
  /** Addresses by tab. */
  readonly rows: Record<string, string[]> = {}
  /** What its rows are known by. */
  readonly keys: { readonly tab: string; readonly key: RowKey }[] = []
  /** Every call, in order: `write 1`, `abandon 1`, `prune 2`. */
  readonly calls: string[] = []
  readonly markers = new Set<number>()
  /** Other markers that pruning finds. */
  readonly strays: Marked[] = []
  /** Whether markers keep batches out. */
  hasFence = true
  /** Called before each write. Without an act, the write succeeds. */
  script: (
    batch: FrozenBatch,
    attempt: number,
    maySend?: MaySend,
    signal?: AbortSignal,
  ) => Act | undefined | Promise<Act | undefined> = () => undefined
  /** Called by `open`. */
  opened: () => Opened = () => ({ kind: 'open' })
  /** Called before each `abandon`. Without a failure, it succeeds. */
  abandons: (
    batch: FrozenBatch,
    maySend?: MaySend,
  ) => Abandoned | undefined | Promise<Abandoned | undefined> = () => undefined
  /** Called before each `prune`. Without a failure, it succeeds. */
  prunes: () => Pruned | undefined = () => undefined
  /** Called before each `remove`. Without a failure, it removes all rows with the address. */
  removes: () => Removal | undefined = () => undefined
  readonly #attempts = new Map<number, number>()
  readonly #applied = new Set<number>()
  readonly #abandoned = new Set<number>()

  constructor(profile: Partial<Profile> = {}) {
    this.profile = { ...googleProfile, ...profile }
  }

  async open(): Promise<Opened> {
    this.calls.push('open')
    return this.opened()
  }

  async write(batch: FrozenBatch, signal?: AbortSignal, maySend?: MaySend): Promise<Outcome> {
    const attempt = (this.#attempts.get(batch.number) ?? 0) + 1
    this.#attempts.set(batch.number, attempt)
    this.calls.push(`write ${batch.number}`)
    const act = (await this.script(batch, attempt, maySend, signal)) ?? applies
    if (this.hasFence && this.#abandoned.has(batch.marker)) return { kind: 'abandoned' }
    if (act.applies) this.#apply(batch)
    // The marker of an applied batch makes every further try succeed without rows.
    if (this.#applied.has(batch.marker) && act.answers.kind === 'refused') return applies.answers
    return act.answers
  }

  async abandon(batch: FrozenBatch, _signal?: AbortSignal, maySend?: MaySend): Promise<Abandoned> {
    this.calls.push(`abandon ${batch.number}`)
    const failure = await this.abandons(batch, maySend)
    if (failure) return failure
    if (this.#applied.has(batch.marker) && this.hasFence) return { kind: 'applied' }
    this.#abandoned.add(batch.marker)
    this.markers.add(batch.marker)
    return { kind: 'abandoned' }
  }

  async prune(markers: readonly number[]): Promise<Pruned> {
    this.calls.push(`prune ${markers.length}`)
    const failure = this.prunes()
    if (failure) return failure
    for (const marker of markers) {
      this.markers.delete(marker)
      this.#applied.delete(marker)
    }
    return { kind: 'pruned', others: this.strays }
  }

  async finishEarlier(): Promise<Finished> {
    this.calls.push('finish')
    return { kind: 'finished' }
  }

  rowReader(): RowReader {
    this.calls.push('read')
    const parts: RowPart[] = this.keys.map(({ tab, key }) => {
      return { kind: 'rows', place: tab, tab, rows: [key] }
    })
    return {
      next: async () => parts.shift() ?? { kind: 'end', isOneMoment: true },
      [Symbol.asyncDispose]: async () => undefined,
    }
  }

  async remove(rows: readonly RowToRemove[]): Promise<Removal> {
    this.calls.push(`remove ${rows.length}`)
    const failure = this.removes()
    if (failure) return failure
    const standing = rows.map(({ email }) => {
      let count = 0
      for (const [tab, addresses] of Object.entries(this.rows)) {
        this.rows[tab] = addresses.filter((address) => address !== email)
        count += addresses.length - this.rows[tab].length
      }
      return count
    })
    return { kind: 'removed', standing }
  }

  #apply(batch: FrozenBatch): void {
    if (this.#applied.has(batch.marker) || this.#abandoned.has(batch.marker)) return
    this.#applied.add(batch.marker)
    this.markers.add(batch.marker)
    for (const { tab, signups } of batch.tabs) {
      this.rows[tab] = [...(this.rows[tab] ?? []), ...signups.map(({ email }) => email)]
      for (const { email, receivedAt: at } of signups) this.keys.push({ tab, key: { email, at } })
    }
  }
}

const applies: Act = { applies: true, answers: { kind: 'applied' } }
