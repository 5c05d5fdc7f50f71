import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis, Signup } from '../signup/signup.ts'
import type { RefusalReason, Warning } from '../signup/trouble.ts'

/**
 * Where rows go. The comments here are the contract, and one test suite holds every
 * implementation to it (`test/spreadsheet/spreadsheet-contract.ts`). Implementations never decide on a retry,
 * never log and never guess; they report an outcome and the writer decides. They are called by one
 * writer, one call at a time. They do not throw for anything the outside world may do.
 */
export interface Spreadsheet {
  /** Where a person finds the rows: a URL or a folder. */
  readonly location: string

  /** How it wants to be written. Never changes. */
  readonly profile: Profile

  /** What the operator should know while rows still go in, as of the last call. */
  readonly warnings: readonly Warning[]

  /**
   * Looks whether the spreadsheet can be reached, and learns what `write` needs to know. Given a name
   * for the default tab, tells also whether a new spreadsheet has another one in its place.
   */
  open(signal: AbortSignal, defaultTab?: string): Promise<Opened>

  /**
   * Writes all rows of the batch or none, below what each tab holds, in order. Makes tabs that are
   * missing, with the header row; gives an empty tab the header row. A tab without signups gets
   * nothing and is not made, but the batch is fenced like any other. Safe to repeat at any time,
   * after a restart too: a batch that was applied is not applied again and answers `applied`.
   */
  write(batch: FrozenBatch, signal: AbortSignal, maySend?: MaySend): Promise<Outcome>

  /**
   * Gives up a batch whose outcome is unknown: `abandoned` proves that it was not applied and can
   * never be applied any more, `applied` that it was. Safe to repeat.
   */
  abandon(batch: FrozenBatch, signal: AbortSignal, maySend?: MaySend): Promise<Abandoned>

  /**
   * Forgets what it kept to recognise these batches. Only for batches that were settled so long ago
   * that no late request of theirs can still be on its way.
   */
  prune(markers: readonly number[], signal: AbortSignal): Promise<Pruned>
}

/** How a spreadsheet wants to be written: what delivery keeps to. */
export interface Profile {
  /** A batch holds at most so many rows. */
  readonly rowsMax: number
  /** A batch holds rows of at most so many bytes, by `rowBytes`. A single larger row still goes alone. */
  readonly bytesMax: number
  /**
   * What the row of a signup takes.
   *
   * @param textBytes size of the signup's texts in UTF-8, without its tab's name
   */
  rowBytes(signup: Signup, textBytes: number): number
  readonly markers: {
    /** How many may stand in the spreadsheet at once; Infinity where it needs none. */
    readonly max: number
    /** Their ids are 1 to this. */
    readonly idMax: number
  }
  /**
   * How long to wait for more signups before a batch is frozen: until none came for `quietMs`, and at
   * most `maxMs`, or `burstMaxMs` while they come so fast that one batch is much better than two.
   */
  readonly linger: { readonly quietMs: Millis; readonly maxMs: Millis; readonly burstMaxMs: Millis }
  /** Whether its provider has a quota: then batches keep to a pace. */
  readonly hasQuota: boolean
}

/**
 * Asked right before each request that changes a remote spreadsheet, once everything is at hand that
 * took time to get, the access token above all. After a no the request is not sent, and the attempt is
 * `retryable`: a process that was stopped may wake up between any two steps.
 */
export type MaySend = () => Promise<boolean>

/** The pacing hook of implementations that have a quota: awaited before every call to the provider. */
export type CallGate = (signal: AbortSignal) => Promise<void>

export type Opened = Open | Refused | Retryable
export type Outcome = Applied | GivenUp | Refused | Retryable | Unknown | Foreign
export type Abandoned = Applied | GivenUp | Refused | Retryable | Unknown
export type Pruned = { readonly kind: 'pruned' } | Refused | Retryable | Unknown

/** It can be reached. */
export interface Open {
  readonly kind: 'open'
  /** The only tab of a spreadsheet that has one only, when it is empty and has another name than was given. */
  readonly onlyTab?: string
}

/** The rows are in the spreadsheet. */
export interface Applied {
  readonly kind: 'applied'
  /** Rows that are not where they should be, as a person had just changed the tab: for people. */
  readonly notices?: readonly string[]
}

/** The rows are not in the spreadsheet and never will be: `abandon` got there first. */
export interface GivenUp {
  readonly kind: 'abandoned'
}

/** Certainly not applied by this attempt, and only a person can mend the reason. */
export interface Refused {
  readonly kind: 'refused'
  readonly reason: RefusalReason
  /** The tab that cannot be written, when the others could be; otherwise the whole spreadsheet. */
  readonly tab?: RefusedTab
  /** The provider's words, for the log: no name of a tab is in them. */
  readonly message: string
  /** What to do about it. */
  readonly hint: string
  readonly cause?: unknown
}

export interface RefusedTab {
  /** Visitors name tabs: not for the log. */
  readonly name: string
  /** What a person finds it by, without its name. */
  readonly place: string
}

/** Certainly not applied by this attempt; trying again can help. */
export interface Retryable {
  readonly kind: 'retryable'
  readonly message: string
  /** Not before this long; 0 when trying at once makes sense, absent when backoff decides. */
  readonly afterMs?: Millis
  readonly cause?: unknown
}

/** Perhaps applied, perhaps not, perhaps later: only `write` or `abandon` of the same batch tells. */
export interface Unknown {
  readonly kind: 'unknown'
  readonly message: string
  readonly afterMs?: Millis
  readonly cause?: unknown
}

/** Certainly not applied: the batch's marker id is taken by something that is not ours. */
export interface Foreign {
  readonly kind: 'foreign'
  readonly message: string
}
