import type { OpenJournal, OpenReader } from '../journal/contracts/journal.ts'
import type { Logger } from '../ops/log.ts'
import type { RestoreResult } from './restore.ts'

/**
 * Where the journal of all sites is, and what differs with the place. `storeOf` (`choose-store.ts`) knows the places;
 * nobody else asks.
 */
export interface Store {
  /**
   * Opens the journal for a service, and makes it or brings it up to date if necessary. Hold the store
   * first. Rejects when the journal cannot be used; the message says what to do.
   */
  open(starting: Starting): Promise<OpenJournal>

  /**
   * Opens the journal to write beside services, which may run with other settings. Makes the journal if it
   * is missing. Rejects when it cannot be used or is of another version.
   *
   * @param others names of further sites to open, which the settings do not have
   */
  openBeside(others?: Iterable<string>): Promise<OpenJournal>

  /**
   * Opens the journal to try out what a command would write. Makes nothing: without a journal, it is an
   * empty one in memory. Rejects when the journal cannot be used or is of another version.
   */
  openForTrial(): Promise<OpenJournal>

  /**
   * Opens the journal for reading only, beside services. Changes nothing. Rejects when there is none, or
   * when it is of another version.
   */
  openReader(): Promise<OpenReader>

  /** Keeps other services out of a store that only one may use. Rejects when another one holds it. */
  hold(): Promise<Hold>

  /** Whether a service uses the journal now. */
  isInUse(): Promise<boolean>

  /**
   * The names of the store's files that have this ASCII text in any letter case; undefined when it has no
   * files.
   */
  filesWith(text: string): Promise<readonly string[] | undefined>

  /** How the journal is backed up. */
  readonly copies: OwnCopies | ForeignCopies
}

export interface Starting {
  /** Told why the start has to wait, and what the operator may not expect. */
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Aborts to wait no longer. */
  readonly stop?: AbortSignal | undefined
}

/** Disposing lets other services in. */
export interface Hold extends Disposable {
  /** Removes other users' rights to the data. */
  keepPrivate(log: Logger): Promise<void>

  /** Calls `lost` when another service uses the store all the same; the reason is in the log. */
  watch(log: Logger, lost: () => void): void
}

/** Rollcall itself copies the journal. */
export interface OwnCopies {
  readonly kind: 'own'
  /** As `copyJournal`. */
  copyTo(file: string, stop: AbortSignal): Promise<number>
  /** As `restoreJournal`. */
  restore(file: string, options: { readonly replace: boolean }): Promise<RestoreResult>
  /** Paths of what else there is to keep, which is in no copy. */
  readonly notIncluded: readonly string[]
}

/** The tools of the database copy it. */
export interface ForeignCopies {
  readonly kind: 'foreign'
  /** Sentences that say how. */
  readonly toBackUp: string
  readonly toRestore: string
}
