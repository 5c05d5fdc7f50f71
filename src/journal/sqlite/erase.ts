import { randomUUID } from 'node:crypto'

import type { SqliteSite } from './site.ts'

/** Changes of erasure that are part of a larger transaction. */

/** Name of a fact: something was erased since the write-ahead log was emptied. */
export const copiesFact = 'copies in the log'

/** Notes that the write-ahead log has copies of erased cells. */
export function noteCopies({ db, id }: SqliteSite): void {
  // A new value each time, so that `scrub` sees what was erased while it ran.
  db.run('setFact', id, copiesFact, randomUUID())
}

/** Erases the forgotten signups of a batch that was settled. Their rows have to be removed. */
export function eraseWritten(site: SqliteSite, batch: number): void {
  for (const { position } of inBatch(site, batch)) site.db.run('eraseSignup', position, 0)
}

/** Erases the forgotten signups of a batch that was released. They get no row by it. */
export function eraseReleased(site: SqliteSite, batch: number): void {
  for (const { position, isWritten } of inBatch(site, batch)) {
    // A signup that was to be delivered once more may have a row.
    site.db.run('eraseSignup', position, Number(!isWritten))
    if (!isWritten) site.db.run('deleteRemoval', position)
  }
}

/** Erases the forgotten signups of a batch that a backup holds. It may have been written since. */
export function eraseUnsure(site: SqliteSite, batch: number): void {
  for (const { position, isWritten } of inBatch(site, batch)) {
    site.db.run('eraseSignup', position, Number(!isWritten))
  }
}

interface Forgotten {
  readonly position: number
  /** Whether an earlier batch has written it. */
  readonly isWritten: boolean
}

/** Those of the batch that still have their cells. */
function inBatch(site: SqliteSite, batch: number): readonly Forgotten[] {
  const rows = site.db.all('removalsOfBatch', batch)
  if (rows.length > 0) noteCopies(site)
  return rows.map((row) => ({
    position: Number(row['position']),
    isWritten: row['isWritten'] === 1,
  }))
}
