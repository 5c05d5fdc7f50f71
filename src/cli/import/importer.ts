import type { Imported, ImportLog, ImportTerms } from '../../journal/contracts/import-log.ts'
import type { Clock } from '../../platform/clock.ts'
import { signupIds } from '../../signup/id.ts'
import { tooManyTabs } from '../../signup/parse.ts'
import type { Millis, Signup } from '../../signup/signup.ts'
import { type FileRecord, type ImportFile, UnreadableFile } from './records.ts'
import type { RejectedFile } from './rejected-file.ts'
import { parseRow, type RowOptions } from './to-signup.ts'

export interface ImporterOptions extends RowOptions {
  readonly add: ImportLog['add']
  readonly terms: ImportTerms
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>
  /** Where rejected records go; undefined when they are only counted. */
  readonly rejectedFile: RejectedFile | undefined
}

/** A transaction with so many signups, or with so many bytes of the file, takes a millisecond or two. */
export const signupsAtOnce = 25
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
  /** What became of the records, as far as it is certain. */
  readonly results = {
    read: 0,
    added: 0,
    /** Not added because the tab has the address already. */
    skipped: 0,
    rejected: 0,
    /** The first rejected rows. */
    problems: [] as { readonly row: number; readonly reason: string }[],
  }
  /** Rows without a date get the time of the import. */
  readonly dates: { earliest?: Millis; latest?: Millis; without: number } = { without: 0 }
  readonly #options: ImporterOptions
  readonly #newId = signupIds()
  /** Checked, and not in the journal yet. */
  #waiting: { readonly record: FileRecord; readonly signup: Signup }[] = []

  constructor(options: ImporterOptions) {
    this.#options = options
  }

  /** Brings in all records. Calls `onCommit` after each transaction with the number of bytes that are done. */
  async run({ records }: ImportFile, onCommit: (bytes: number) => void): Promise<void> {
    let committedTo = 0
    try {
      for await (const record of records) {
        this.#take(record)
        if (this.#waiting.length < signupsAtOnce && record.end - committedTo < bytesAtOnce) continue
        await this.#commit()
        committedTo = record.end
        onCommit(committedTo)
      }
    } catch (error) {
      if (error instanceof UnreadableFile) await this.#commit()
      throw error
    }
    await this.#commit()
  }

  #take(record: FileRecord): void {
    if (typeof record.values === 'string') return this.#reject(record, record.values)
    const now = this.#options.clock.now()
    const parsed = parseRow(record.values, this.#options, now)
    if (!parsed.ok) return this.#reject(record, parsed.reason)
    const { dates } = this
    if (parsed.hasDate) {
      dates.earliest = Math.min(dates.earliest ?? parsed.at, parsed.at)
      dates.latest = Math.max(dates.latest ?? parsed.at, parsed.at)
    } else dates.without += 1
    const { email, sheetTab, source, name, tags, metadata, fields } = parsed.value
    const cells = { email, sheetTab, source, name, tags, metadata, fields }
    const signup = { id: this.#newId(now), receivedAt: parsed.at, ...cells }
    this.#waiting.push({ record, signup })
  }

  async #commit(): Promise<void> {
    const { add, terms, clock, rejectedFile } = this.#options
    const waiting = this.#waiting
    if (waiting.length > 0) {
      const began = clock.elapsed()
      const added = await add(
        waiting.map(({ signup }) => signup),
        terms,
      )
      this.#waiting = []
      waiting.forEach(({ record }, at) => this.#count(record, added[at]))
      await clock.sleep((clock.elapsed() - began) * restFactor)
    }
    await rejectedFile?.flush()
  }

  #count(record: FileRecord, result: Imported | undefined): void {
    if (result !== 'added' && result !== 'known')
      return this.#reject(record, result === 'forgotten' ? forgotten : tooManyTabs.message)
    this.results.read += 1
    this.results[result === 'added' ? 'added' : 'skipped'] += 1
  }

  #reject(record: FileRecord, reason: string): void {
    const { results } = this
    results.read += 1
    results.rejected += 1
    if (results.problems.length < problemsMax) results.problems.push({ row: record.row, reason })
    this.#options.rejectedFile?.add(record, reason)
  }
}
