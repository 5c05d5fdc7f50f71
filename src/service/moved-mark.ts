import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { durableFiles } from '../platform/node/durable-file.ts'
import { readIfThere } from '../platform/node/read-if-there.ts'
import { journalFile } from './data-folder.ts'

/** The file in `DATA_DIR` that says where its journal went. */
const markFile = 'journal.moved'

/** Leaves a mark on the journal in this folder, so that nobody starts on it by mistake. */
export function markMoved(dataDir: string, to: string): Promise<void> {
  return durableFiles.replace(join(dataDir, markFile), `${to}\n`)
}

/** @throws Error when the journal in this folder was moved, or a move of it was stopped at its end */
export function assertNotMoved(dataDir: string): void {
  const path = join(dataDir, markFile)
  const to = readIfThere(path)?.trim()
  if (to === undefined) return
  throw new Error(
    `The journal in ${dataDir} was moved to PostgreSQL (${to}): set DATABASE_URL again. If the move did ` +
      'not say that it was done, run rollcall migrate-journal again. To go on here all the same, delete ' +
      `${path}: what came in or was written since then is not known here, so rows may be written twice.`,
  )
}

/** A journal in `DATA_DIR` that a service with `DATABASE_URL` does not use. */
export interface OldJournal {
  readonly path: string
  readonly isMoved: boolean
}

/** The journal in this folder; undefined when there is none. */
export function oldJournalIn(dataDir: string): OldJournal | undefined {
  const path = join(dataDir, journalFile)
  if (!existsSync(path)) return undefined
  return { path, isMoved: existsSync(join(dataDir, markFile)) }
}

/** What to do about a journal that was not moved. */
export const leftBehindHint =
  'Its waiting signups, and what it knows of people who were forgotten, are not in the database. Run rollcall ' +
  'migrate-journal with an empty database, or move the folder away when you do not need them.'
