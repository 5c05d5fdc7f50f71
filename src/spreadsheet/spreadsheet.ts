import type { FrozenBatch, Marked } from '../signup/batch.ts'
import type { Millis, Signup } from '../signup/signup.ts'
import type { RefusalReason, Warning } from '../signup/trouble.ts'

/**
 * Where rows go. The comments here are the contract, and one test suite holds every
 * implementation to it (`test/spreadsheet/spreadsheet-contract.ts`). Implementations never decide on a retry,
 * never log and never guess; they report an outcome and the writer decides. They are called by one
 * writer, one call at a time, but `remove` at any time beside. They do not throw for anything the outside
 * world may do.
 */
export interface Spreadsheet {
  /** Where a person finds the rows: a URL or a folder. */
  readonly location: string

  /** The limits and the pace for writing. Never changes. */
  readonly profile: Profile

  /** Problems, after the last call, that do not stop rows from being written. */
  readonly warnings: readonly Warning[]

  /** Checks that the spreadsheet can be reached, and reads what `write` needs. */
  open(signal: AbortSignal): Promise<Opened>

  /**
   * Writes all rows of the batch or none, in order, below the content of each tab. Makes missing tabs
   * with the header row, and gives an empty tab the header row. A tab without signups gets nothing and
   * is not made, but the batch is fenced as usual. Safe to repeat at any time, even after a restart: a
   * batch that was applied is not applied again, and the outcome is `applied`. A batch that was given
   * up is not applied any more, and the outcome is `abandoned`.
   */
  write(batch: FrozenBatch, signal: AbortSignal, maySend?: MaySend): Promise<Outcome>

  /**
   * Gives up a batch whose outcome is unknown. `abandoned` proves that it was not applied and never can
   * be; `applied` proves that it was applied. Safe to repeat.
   */
  abandon(batch: FrozenBatch, signal: AbortSignal, maySend?: MaySend): Promise<Abandoned>

  /**
   * Forgets these markers. Call it only for batches that ended so long ago that no late request of
   * theirs can still be on its way.
   */
  prune(markers: readonly number[], signal: AbortSignal): Promise<Pruned>

  /**
   * Completes what a journal that was lost has begun to write. Call it before rows are compared with
   * another journal, which knows nothing of that.
   */
  finishEarlier(): Promise<Finished>

  /** Begins to read the rows of all tabs. It may be used beside a writer of another process. */
  rowReader(): RowReader

  /**
   * Looks for these rows in all tabs, and tries once to remove those that it finds. A row is known by
   * its address, letter case aside, and its timestamp; where signups of the person have the same timestamp and
   * keep their rows, by all of its cells. Never changes another row, whatever people do
   * meanwhile. Call it again until it finds none of them; safe to repeat at any time.
   */
  remove(rows: readonly RowToRemove[], signal: AbortSignal): Promise<Removal>
}

export interface RowToRemove {
  readonly email: string
  readonly receivedAt: Millis
  /** Signups with this address and timestamp that have rows: for each one, the row that is most like it stays. */
  readonly spared?: readonly Signup[]
}

/** What delivery keeps to when it writes to a spreadsheet. */
export interface Profile {
  /** The most rows in a batch. */
  readonly rowsMax: number
  /** The most bytes in a batch, by `rowBytes`. A single larger row is sent alone. */
  readonly bytesMax: number
  /** The bytes of a signup's row. `textBytes` is the size of its texts in UTF-8, without its tab's name. */
  rowBytes(signup: Signup, textBytes: number): number
  readonly markers: {
    /** The most markers in the spreadsheet at the same time; Infinity when it needs none. */
    readonly max: number
    /** The highest id of a marker; the lowest is 1. */
    readonly idMax: number
  }
  /**
   * How long to wait for more signups before a batch is frozen: until none came for `quietMs`, but at
   * most `maxMs`, or `burstMaxMs` when many signups arrive at a time.
   */
  readonly linger: { readonly quietMs: Millis; readonly maxMs: Millis; readonly burstMaxMs: Millis }
  /** Whether the provider has a quota. Then batches keep to a pace. */
  readonly hasQuota: boolean
}

/**
 * Called right before each request that changes a remote spreadsheet, after slow steps such as getting
 * the access token. If it returns false, the request is not sent and the outcome is `retryable`. It is
 * needed because a suspended process may wake up between any two steps.
 */
export type MaySend = () => Promise<boolean>

/**
 * Awaited before every call to a provider that has a quota, to keep the pace. Then the call must be made
 * at once. Asks `maySend` as late as possible; false is its answer.
 */
export type CallGate = (signal: AbortSignal, maySend?: MaySend) => Promise<boolean>

export type Opened = Open | Refused | Retryable
export type Abandoned = Applied | { readonly kind: 'abandoned' } | Failed
export type Outcome = Abandoned | Foreign
export type Finished = { readonly kind: 'finished' } | Failed
export type Pruned = MarkersGone | Failed
export type Removal = Removed | Refused | Retryable

/** For each row that was asked for, in their order. */
export interface Removed {
  readonly kind: 'removed'
  /** How many rows were it before the try: 0 shows that none is left. */
  readonly standing: readonly number[]
  /** Why the try removed some rows not, or maybe not. */
  readonly failure?: Failed
}

interface MarkersGone {
  readonly kind: 'pruned'
  /** All other markers that were made in this spreadsheet, by whatever journal. */
  readonly others: readonly Marked[]
}

export interface Open {
  readonly kind: 'open'
}

export interface Applied {
  readonly kind: 'applied'
}

/** This attempt certainly did not apply the batch, and only a person can remove the reason. */
export interface Refused {
  readonly kind: 'refused'
  readonly reason: RefusalReason
  /** The tab that cannot be written; undefined when the whole spreadsheet cannot be written. */
  readonly tab?: NamedTab
  /** The provider's words for the log, without names of tabs. */
  readonly message: string
  /** What to do about it. */
  readonly hint: string
  readonly cause?: unknown
}

export interface NamedTab {
  /** Never log the name, because visitors can choose it. */
  readonly name: string
  /** How to find the tab without its name. */
  readonly place: string
}

interface Failure {
  readonly message: string
  /** The least time before the next try; 0 to try at once, absent to let the backoff decide. */
  readonly afterMs?: Millis
  readonly cause?: unknown
}

/** This attempt certainly did not apply the batch. Trying again can help. */
export interface Retryable extends Failure {
  readonly kind: 'retryable'
}

/** The batch may be applied, now or later. Only `write` or `abandon` of the same batch can tell. */
export interface Unknown extends Failure {
  readonly kind: 'unknown'
}

/** The batch was certainly not applied, because somebody else uses its marker id. */
export interface Foreign {
  readonly kind: 'foreign'
  readonly message: string
}

/** The call did not do what it should have done. */
export type Failed = Refused | Retryable | Unknown

/** What a signup's row is known by. */
export interface RowKey {
  /** As it stands in the cell, maybe with an apostrophe in front (see `cellKey`). */
  readonly email: string
  /** The row's timestamp; undefined when it has none of the form that we write. */
  readonly at: Millis | undefined
}

/**
 * Reads the rows of all tabs once, part by part, so that memory stays bounded. People may change the
 * spreadsheet between two parts: then rows may be missing in what was read, or be there twice. Only
 * `isOneMoment` or a second reading with the same rows shows that nobody did.
 */
export interface RowReader extends AsyncDisposable {
  /**
   * The next rows. After `retryable` the same call may be made again. After `changed` or `end` the
   * reader is used up.
   */
  next(signal: AbortSignal): Promise<NextRows>
}

/** - `changed`: somebody has changed tabs or columns meanwhile: begin with a new reader. */
export type NextRows = RowPart | RowsEnd | { readonly kind: 'changed' } | Refused | Retryable

/** Rows of one tab, in their order. A part may be empty. */
export interface RowPart {
  readonly kind: 'rows'
  /** The same for one tab in every reading, whatever its name is. */
  readonly place: string
  /** The tab's name; in the workbook that of its file, where its rows do not tell. */
  readonly tab: string
  readonly rows: readonly RowKey[]
}

/** Takes the rows of a spreadsheet, reading by reading. */
export interface RowTaker {
  /** Begins a reading, and forgets the rows of the reading before. */
  begin(): void
  /** Takes the next rows of a tab. Other work runs meanwhile. */
  note(part: Omit<RowPart, 'kind'>): Promise<void>
  /** Whether this reading gave the same rows as the one before, in the same order, and perhaps more below. */
  readonly isSteady: boolean
}

export interface RowsEnd {
  readonly kind: 'end'
  /** Whether all rows are of one moment. */
  readonly isOneMoment: boolean
}
