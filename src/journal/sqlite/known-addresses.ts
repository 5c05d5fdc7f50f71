import type { SqliteSite } from './site.ts'

/**
 * How many positions are read at once. That takes a tenth of a second and no lock that others wait for.
 * Each part is sorted first, because it is added to the table several times faster in order.
 */
const learnedAtOnce = 100_000

/** How many positions are read at most while others wait for the lock. That takes about a millisecond. */
const learnedLockedMax = 1_000

/**
 * The addresses that each tab has, in a temporary table of this connection, which SQLite moves to a
 * deleted file when it grows. An index of the journal would make every append slower.
 */
export class KnownAddresses {
  readonly #site: SqliteSite
  /** The addresses of signups up to this position are known. */
  #upto = 0
  #isTabResolved: boolean | undefined

  constructor(site: SqliteSite) {
    this.#site = site
  }

  /** Learns what all processes have committed so far, part by part. */
  async catchUp(): Promise<void> {
    while (!this.learnPart()) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Learns the next part of what all processes have committed, without a lock. Returns whether that is all. */
  learnPart(): boolean {
    const { db } = this.#site
    return db.read(() => {
      if (!this.#isCurrent()) this.#begin()
      const last = Number(db.get('lastPosition')?.['position'] ?? 0)
      const upto = Math.min(last, this.#upto + learnedAtOnce)
      if (upto > this.#upto) db.run('learnAddresses', this.#upto, upto)
      this.#upto = upto
      return upto === last
    })
  }

  /**
   * Learns the rest, up to this position. To call within a transaction, just after `learnPart`. Returns
   * false when that is needed again: signups have moved to another tab, or too many have come.
   */
  learnRest(upto: number): boolean {
    if (!this.#isCurrent() || upto - this.#upto > learnedLockedMax) return false
    if (upto > this.#upto) this.#site.db.run('learnAddresses', this.#upto, upto)
    return true
  }

  has(tab: number, email: string): boolean {
    return this.#site.db.get('knowsAddress', tab, email) !== undefined
  }

  /** Notes an address. Returns false when the tab has it already. */
  learn(tab: number, email: string): boolean {
    return this.#site.db.run('learnAddress', tab, email) > 0
  }

  #begin(): void {
    const { db, defaultTab } = this.#site
    db.run('cacheKnownAddresses')
    db.run('makeKnownAddresses')
    db.run('forgetAddresses')
    this.#upto = 0
    this.#isTabResolved = defaultTab.now().isResolved
  }

  /** To call when the transaction of `learnRest` and `learn` was committed. */
  keep(upto: number): void {
    this.#upto = upto
  }

  /** Signups without a tab move once, when the default tab gets its name. */
  #isCurrent(): boolean {
    return this.#isTabResolved === this.#site.defaultTab.now().isResolved
  }
}
