import type { Millis } from '../../signup/signup.ts'

/**
 * The journal's interface by which one instance of a site delivers, and the others look on. Only
 * instances on PostgreSQL can be on several machines.
 *
 * An instance is one open journal. The lease keeps instances from spending calls twice. Rows do not
 * depend on it: markers keep every batch from being written twice, whoever sends it.
 *
 * An instance that held the lease and lost it or gave it up ends no batch: `settle` and `release` of its
 * delivery log reject with `Overtaken`, and change nothing. An instance that never held it is not checked.
 */
export interface Lease {
  /**
   * Takes the lease if no instance holds it, or renews it if this one does. Rejects with
   * `JournalUnavailable` when that cannot be told; what an earlier call granted stays granted.
   */
  hold(): Promise<Tenure>

  /**
   * Gives the lease up, so that another instance can take it at once. Does nothing if this instance does
   * not hold it. Rejects with `JournalUnavailable`; then the lease ends when its time is over.
   */
  release(): Promise<void>
}

export type Tenure = Held | { readonly kind: 'elsewhere' }

export interface Held {
  readonly kind: 'held'
  /** Grows each time an instance takes the lease. Stays the same when it is renewed. */
  readonly term: number
  /** For how long this instance may deliver, from the moment before the call; `Infinity` is for ever. */
  readonly forMs: Millis
}
