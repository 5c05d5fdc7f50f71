import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import {
  type MovedRow,
  type MovedTable,
  movedTables,
  signupTable,
} from '../journal/moved-tables.ts'
import { CopyDiffers, type TakenJournal, takeJournal } from '../journal/postgres/taken-journal.ts'
import { WholeJournal } from '../journal/sqlite/whole-journal.ts'
import type { Clock } from '../platform/clock.ts'
import { lockDirectory } from '../platform/node/directory-lock.ts'
import { journalFile } from './data-folder.ts'
import { readUsable } from './database-access.ts'
import { markMoved } from './moved-mark.ts'

export interface MoveOptions {
  readonly clock: Clock
  /** Aborts to leave everything as it was. */
  readonly stop: AbortSignal
  /** Told the position of the last signup that an earlier run has copied, when there is one. */
  readonly goesOn: (after: number) => void
  /** Told how many signups were copied, and then how many rows were compared. */
  readonly copied: (signups: number) => void
  readonly compared: (rows: number) => void
}

/** What was moved, or that it was moved before. */
export interface Moved {
  readonly isNew: boolean
  /** Rows by table; empty when the journal was moved before. */
  readonly tables: Readonly<Record<string, number>>
}

/**
 * Moves the journal in `DATA_DIR` to the database of this URL, and compares all rows. The journal stays in
 * `DATA_DIR`, with a mark on it. After a stop at any point the next call goes on.
 *
 * @throws Error when a service runs on `DATA_DIR` or on the database, when the database has signups of
 *   another journal, when the journal was moved before and has changed since, and when the copy differs;
 *   the message says what to do
 */
export async function moveJournal(
  config: Config,
  url: string,
  options: MoveOptions,
): Promise<Moved> {
  const { dataDir, database } = config
  const to = `${database?.name ?? ''} on ${database?.host ?? ''}`
  const file = join(dataDir, journalFile)
  if (!existsSync(file)) throw new Error(`There is no journal in ${dataDir}. Check DATA_DIR.`)
  using _lock = await lockDirectory(dataDir, journalFile, options.clock)
  using journal = new WholeJournal(file)
  await readUsable(url, config, { clock: options.clock, needs: 'writing' })
  const tables = await takeJournal(url, {
    source: { code: codeOf(journal), state: journal.state },
    clock: options.clock,
    async bring(arrivals, after) {
      if (after > 0) options.goesOn(after)
      let count = 0
      for (const rows of journal.pages(signupTable, [after])) {
        await arrivals.add(rows)
        options.copied((count += rows.length))
        options.stop.throwIfAborted()
      }
    },
    async fill(taken) {
      const found = await copy(journal, taken, options.stop)
      await compare(journal, taken, options)
      // From here on, a crash leaves the journal here or there, and only the next run can tell.
      await markMoved(dataDir, to)
      return found
    },
  })
  await markMoved(dataDir, to)
  return { isNew: tables !== undefined, tables: tables ?? {} }
}

/** The code of the first site, which no other journal has. */
function codeOf(journal: WholeJournal): string {
  const [site] = movedTables
  const first = site && [...journal.pages(site)][0]?.[0]
  if (!site || !first) throw new Error('The journal has no site yet, so there is nothing to move.')
  return String(first[Object.keys(site.columns).indexOf('code')])
}

async function copy(
  journal: WholeJournal,
  taken: TakenJournal,
  stop: AbortSignal,
): Promise<Record<string, number>> {
  const tables: Record<string, number> = {}
  for (const table of movedTables) {
    tables[table.name] = journal.count(table)
    if (table === signupTable) await taken.addSignups()
    else for (const rows of journal.pages(table)) await taken.add(table, rows)
    stop.throwIfAborted()
  }
  await taken.complete(journal.secret, journal.lastBatch)
  return tables
}

/** @throws CopyDiffers unless both sides have the same rows */
async function compare(
  journal: WholeJournal,
  taken: TakenJournal,
  { compared, stop }: MoveOptions,
): Promise<void> {
  let all = 0
  for (const table of movedTables) {
    const [ours, theirs] = [new Digest(), new Digest()]
    for (const rows of journal.pages(table)) {
      ours.add(rows)
      // Let a signal be heard.
      await new Promise((resolve) => setImmediate(resolve))
      stop.throwIfAborted()
    }
    for await (const rows of taken.pages(table)) {
      theirs.add(rows)
      compared((all += rows.length))
      stop.throwIfAborted()
    }
    if (!ours.equals(theirs)) throw differs(table, ours, theirs)
  }
}

function differs({ name }: MovedTable, ours: Digest, theirs: Digest): Error {
  return new CopyDiffers(
    `The copy of the table ${name} differs: it has ${theirs.count} rows of ${ours.count}, or other ` +
      'values in them. Nothing was moved. Run it again: it begins anew. If that does not help, report it.',
  )
}

/** Of rows in any order, because engines sort text in different ways. */
class Digest {
  count = 0
  #sum = 0n

  add(rows: readonly MovedRow[]): void {
    this.count += rows.length
    for (const row of rows) {
      this.#sum = BigInt.asUintN(
        256,
        this.#sum + BigInt(`0x${hash('sha256', JSON.stringify(row))}`),
      )
    }
  }

  equals(other: Digest): boolean {
    return this.count === other.count && this.#sum === other.#sum
  }
}
