import type { OpenJournal, OpenReader, RestoreResult } from '../journal/contracts/journal.ts'
import type { Logger } from '../ops/log.ts'

/** Where the journal of all sites is kept, a folder or a database, and what differs with the place. */
export interface JournalHome {
  /**
   * Opens the journal for a service, and makes it or brings it up to date if necessary. Hold the home
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

  /**
   * Keeps other services out of a home that only one may use. Rejects when another one holds it, at once
   * or, when a service starts, after some seconds.
   */
  hold(starting?: Starting): Promise<Hold>

  isInUse(): Promise<boolean>

  /**
   * The names of the home's files that have this ASCII text in any letter case; undefined when it has no
   * files.
   */
  filesWith(text: string): Promise<readonly string[] | undefined>

  /** The journal that services used here before, when they use another home now and it was left behind. */
  leftBehind(): OldJournal | undefined

  readonly copies: OwnCopies | ForeignCopies
}

/** A journal in `DATA_DIR` that a service with `DATABASE_URL` does not use. */
export interface OldJournal {
  readonly path: string
  readonly isMoved: boolean
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

  /** Calls `lost` when another service uses the home all the same; the reason is in the log. */
  watch(log: Logger, lost: () => void): void
}

/** Rollcall itself copies the journal. */
export interface OwnCopies {
  readonly kind: 'own'
  /** Copies it into this empty file, and returns how many signups the copy has. */
  copyTo(file: string, stop: AbortSignal): Promise<number>
  /**
   * Makes a backup the journal. No provider is called: the service compares the spreadsheet later.
   *
   * @param options.replace whether to put a journal that is there aside, instead of refusing
   * @throws Error when a service runs, when the backup cannot be used, and when a journal is there that may
   *   not be replaced; the message says what to do
   */
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

/** The part of a site. @throws Error when the journal was not opened with it, which is a defect */
export function partOf<Part>(
  parts: ReadonlyMap<string, Part>,
  { name }: { readonly name: string },
): Part {
  const part = parts.get(name)
  if (part === undefined) throw new Error(`The journal was opened without the site ${name}.`)
  return part
}

/**
 * Opens the journal beside services with all sites that it has ever had, also those that are not in the
 * settings. Rejects when there is no journal: opening it to write would make it.
 */
export async function openPresent(
  home: Pick<JournalHome, 'openReader' | 'openBeside'>,
): Promise<OpenJournal> {
  const reading = await home.openReader()
  const known = [...reading.sites.keys()]
  await reading[Symbol.asyncDispose]()
  return home.openBeside(known)
}
