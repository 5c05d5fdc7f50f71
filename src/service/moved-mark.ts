import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, durableFiles } from '../platform/node/durable-file.ts'

/** The file in `DATA_DIR` that says where its journal went. */
const markFile = 'journal.moved'

/** Leaves a mark on the journal in this folder, so that nobody starts on it by mistake. */
export function markMoved(dataDir: string, to: string): Promise<void> {
  return durableFiles.replace(join(dataDir, markFile), `${to}\n`)
}

/** @throws Error when the journal in this folder was moved, or a move of it was stopped at its end */
export function assertNotMoved(dataDir: string): void {
  const path = join(dataDir, markFile)
  let to: string
  try {
    to = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  throw new Error(
    `The journal in ${dataDir} was moved to PostgreSQL (${to}): set DATABASE_URL again. If the move did ` +
      'not say that it was done, run rollcall migrate-journal again. To go on here all the same, delete ' +
      `${path}: what came in or was written since then is not known here, so rows may be written twice.`,
  )
}
