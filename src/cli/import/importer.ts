import type { Imported, ImportLog, ImportTerms } from '../../journal/contracts/import-log.ts'
import { type Clock, iso } from '../../platform/clock.ts'
import { signupIds } from '../../signup/id.ts'
import { tooManyTabs } from '../../signup/parse.ts'
import type { Millis, Signup } from '../../signup/signup.ts'
import { type FileRecord, type ImportFile, UnreadableFile } from './file-record.ts'
import type { RejectedFile } from './rejected-file.ts'
import { parseRow, type RowOptions } from './to-signup.ts'

export interface ImporterOptions extends Omit<RowOptions, 'now'> {
  readonly add: ImportLog['add']
  readonly terms: ImportTerms
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>
  /** Where rejected records go; undefined when they are only counted. */
  readonly rejectedFile: RejectedFile | undefined
}

/** A transaction with so many signups, or with so many bytes of the file, takes two or three milliseconds. */
const signupsAtOnce = 100
const bytesAtOnce = 64 * 1024

/**
 * How long the journal is left to the service after a transaction, as a multiple of the time that this one
 * took. A process that finds the journal taken looks again every few milliseconds: without these rests it
 * would find it taken most times.
 */
const restFactor = 1.5

const problemsMax = 20

const forgotten = 'This person was forgotten. Only a signup of their own brings them back.'

/** Brings the records of one file into the journal, in short transactions. */
export class Importer {
  readonly #options: ImporterOptions
  readonly #newId = signupIds()
  readonly #dates = { earliest: Infinity, latest: -Infinity, without: 0 }
  /** `skipped` ones were not added because the tab has the address already. */
  readonly #counts = { read: 0, added: 0, skipped: 0, rejected: 0 }
  /** The first rejected rows. */
  readonly #problems: { readonly row: number; readonly reason: string }[] = []
  /** Checked, and not in the journal yet. */
  #waiting: { readonly record: FileRecord; readonly signup: Signup }[] = []
  #committedTo = 0

  constructor(options: ImporterOptions) {
    this.#options = options
  }

  /**
   * What became of the records, as far as it is certain. Times are ISO 8601 in UTC, or null when no row has
   * a date; rows `without` get the time of the import.
   */
  get results() {
    const { earliest, latest, without } = this.#dates
    const isoOrNull = (at: Millis) => (Number.isFinite(at) ? iso(at) : null)
    return {
      dates: { earliest: isoOrNull(earliest), latest: isoOrNull(latest), without },
      ...this.#counts,
      read: this.#counts.read - this.#waiting.length,
      problems: this.#problems,
    }
  }

  /** Brings in all records. Calls `onCommit` after each transaction with the number of bytes that are done. */
  async run({ records }: ImportFile, onCommit: (bytes: number) => void): Promise<void> {
    try {
      for await (const record of records) {
        this.#take(record)
        const bytes = record.end - this.#committedTo
        if (this.#waiting.length < signupsAtOnce && bytes < bytesAtOnce) continue
        await this.#commit()
        this.#committedTo = record.end
        onCommit(record.end)
      }
    } catch (error) {
      if (error instanceof UnreadableFile) await this.#commit()
      throw error
    }
    await this.#commit()
  }

  #take(record: FileRecord): void {
    this.#counts.read += 1
    if (typeof record.values === 'string') return this.#reject(record, record.values)
    const moment = this.#options.clock.now()
    const parsed = parseRow(record.values, { ...this.#options, now: moment })
    if (!parsed.ok) return this.#reject(record, parsed.reason)
    const dates = this.#dates
    if (parsed.hasDate) {
      dates.earliest = Math.min(dates.earliest, parsed.at)
      dates.latest = Math.max(dates.latest, parsed.at)
    } else dates.without += 1
    const { email, sheetTab, source, name, tags, metadata, fields } = parsed.value
    const cells = { email, sheetTab, source, name, tags, metadata, fields }
    const signup = { id: this.#newId(moment), receivedAt: parsed.at, ...cells }
    this.#waiting.push({ record, signup })
  }

  async #commit(): Promise<void> {
    const { add, terms, clock, rejectedFile } = this.#options
    const waiting = this.#waiting
    if (waiting.length > 0) {
      const began = clock.elapsed()
      const results = await add(
        waiting.map(({ signup }) => signup),
        terms,
      )
      this.#waiting = []
      waiting.forEach(({ record }, at) => this.#count(record, results[at]))
      await clock.sleep((clock.elapsed() - began) * restFactor)
    }
    await rejectedFile?.flush()
  }

  #count(record: FileRecord, result: Imported | undefined): void {
    if (result === 'added') this.#counts.added += 1
    else if (result === 'known') this.#counts.skipped += 1
    else this.#reject(record, result === 'forgotten' ? forgotten : tooManyTabs.message)
  }

  #reject(record: FileRecord, reason: string): void {
    this.#counts.rejected += 1
    if (this.#problems.length < problemsMax) this.#problems.push({ row: record.row, reason })
    this.#options.rejectedFile?.add(record, reason)
  }
}
