import { createHash, type Hash } from 'node:crypto'
import type { RowsOfTab } from './contracts/comparison.ts'

interface TabDigest {
  count: number
  readonly hash: Hash
}

/** Tells whether two readings of a spreadsheet gave the same rows in the same order. */
export class RowDigests {
  #before: ReadonlyMap<string, TabDigest> | undefined
  #now: Map<string, TabDigest> | undefined
  /** The tabs of this reading that begin with all rows of the reading before. */
  readonly #agreeing = new Set<string>()

  begin(): void {
    this.#before = this.#now
    this.#now = new Map()
    this.#agreeing.clear()
  }

  note({ place, rows }: RowsOfTab): void {
    const tab = this.#now?.get(place) ?? { count: 0, hash: createHash('sha256') }
    this.#now?.set(place, tab)
    const before = this.#before?.get(place)
    const look = () => {
      if (before?.count !== tab.count) return
      if (hexOf(before.hash) === hexOf(tab.hash)) this.#agreeing.add(place)
    }
    look()
    for (const { email, at } of rows) {
      tab.hash.update(`${email}\n${at}\n`)
      tab.count += 1
      look()
    }
  }

  /** Rows may have been added below those of the reading before, as our own batches do. */
  get isSteady(): boolean {
    if (!this.#before) return false
    return [...this.#before.keys()].every((place) => this.#agreeing.has(place))
  }
}

function hexOf(hash: Hash): string {
  return hash.copy().digest('hex')
}
