import type { Millis, Signup } from '../../signup/signup.ts'

/**
 * The journal's interface to forget people.
 *
 * An erased signup keeps its position, id, tab and time; all its cells become empty, and it gets no row.
 * A person who was forgotten has a tombstone: a hash of the address, keyed with a secret that is not in
 * the journal, and the last position at that time. Letter case does not count in addresses. Signups
 * after that position are new ones, which nothing here erases.
 *
 * No call holds the write lock for longer than a few milliseconds.
 */
export interface Erasure {
  /** Sets the tombstone of this address. Returns its position: signups up to it are to be erased. */
  forget(address: string): Promise<number>

  /**
   * Erases the next signups after the position `after` that have a tombstone: those of this address, or
   * of all addresses when none is given. Call it again until there is no `next`.
   */
  eraseNext(after: number, address?: string): Promise<ErasedSlice>

  /** The tombstones after this hash, in the order of hashes; about a thousand at once. */
  tombstones(after?: string): Promise<readonly Tombstone[]>

  /**
   * Takes tombstones of a later state of this journal, after a backup was restored. They cover no
   * position that this journal gives from now on. Call `eraseNext` afterwards. Note `restoredFact` before
   * both, so that rows that were written after the backup are removed, too.
   */
  adopt(tombstones: readonly Tombstone[]): Promise<void>

  /** The next rows after this position to remove from the spreadsheet; about a hundred at once. */
  removals(after: number): Promise<readonly RowToRemove[]>

  /**
   * For each of these rows, the signups of its person with its timestamp whose rows stay. Undefined while one of
   * them waits for its row, as nobody could tell the two apart, or while there are more than people make: then
   * its removal has to wait.
   */
  spared(rows: readonly RowToRemove[]): Promise<readonly (readonly Signup[] | undefined)[]>

  /** Notes that these rows are not in the spreadsheet any more, and forgets their addresses. */
  removed(positions: readonly number[]): Promise<void>

  /** What still has to be done before no address of a forgotten person is left in the journal. */
  unfinished(): Promise<Unfinished>

  /**
   * Drops the copies of erased cells that the engine has until it is told so: SQLite, in its write-ahead
   * log. Returns false when another process prevented that; then call it again a
   * moment later. Does nothing when nothing was erased since.
   */
  scrub(): Promise<boolean>
}

/** What one call has erased. */
export interface ErasedSlice {
  /** Where the next slice begins; undefined when all are done. */
  readonly next: number | undefined
  /** How many signups had no row, and get none. */
  readonly unwritten: number
  /** The positions of signups that have a row, or may have one after a restore. Its removal waits now. */
  readonly written: readonly number[]
  /** The positions of signups in the frozen batch. They are erased when it has ended. */
  readonly frozen: readonly number[]
  /** How many signups of other addresses name this address in another cell. They stay as they are. */
  readonly mentions: number
}

export interface Tombstone {
  readonly hash: string
  /** It covers signups up to this position. */
  readonly upto: number
}

/** A row, as the spreadsheet has it. */
export interface RowToRemove {
  readonly position: number
  /** The tab's name as it was first used. */
  readonly tab: string
  readonly email: string
  readonly receivedAt: Millis
  /** Whether its person has left by a link: it may wait for others, and goes behind those of `forget`. */
  readonly isLeaving: boolean
}

export interface Unfinished {
  /** Rows that can be removed now. */
  readonly removals: number
  /** Signups in the frozen batch that are erased when it has ended. */
  readonly frozen: number
}

/**
 * The journal's interface to keep the cells of signups for a time only.
 *
 * An expired signup keeps its position, id, tab and time; all its cells become empty, and its row stays
 * as it is. While duplicates are ignored, a keyed hash of its address stays, so that the tab still knows
 * the person, until `forget`. What a tombstone covers does not expire: it is erased as `eraseNext` does
 * it, so its row is removed and no hash stays.
 */
export interface Retention {
  /**
   * Expires up to a hundred signups whose last batch was settled before this time. A signup that waits to
   * be delivered once more stays as it is. Returns whether there may be more.
   */
  expire(writtenBefore: Millis): Promise<boolean>
}

/** The name of a fact: when the last expired batch was settled. Undefined when none has expired. */
export const expiredFact = 'expired'
