import { randomUUID } from 'node:crypto'

import { restoredFact } from '../contracts/delivery-log.ts'
import { type ErasingOutcome, isCovered, outcomeOfErasing } from '../erased-signup.ts'
import { addressHash } from '../hashes.ts'
import type { SqliteSite } from './site.ts'

/** Changes of erasure that are part of a larger transaction. */

/** Name of a fact: something was erased since the write-ahead log was emptied. */
export const copiesFact = 'copies in the log'

/** Notes that the write-ahead log has copies of erased cells. */
export function noteCopies({ db, id }: SqliteSite): void {
  // A new value each time, so that `scrub` sees what was erased while it ran.
  db.run('setFact', id, copiesFact, randomUUID())
}

/** Whether a tombstone covers this signup. */
export function isForgotten(site: SqliteSite, position: number, email: string): boolean {
  const { db, id, secret } = site
  const upto = db.get('tombstone', id, addressHash(secret, email))?.['upto']
  return isCovered(position, upto === undefined ? undefined : Number(upto))
}

/** Erases a forgotten signup. Undefined when another process has erased it meanwhile. */
export function eraseForgotten(
  { db, id }: SqliteSite,
  position: number,
): ErasingOutcome['kind'] | undefined {
  const row = db.get('erasable', position)
  if (!row || row['email'] === '') return undefined
  const signup = {
    position,
    isIgnored: Number(row['isIgnored']),
    isWritten: row['isWritten'] === 1,
    isFrozen: row['isFrozen'] === 1,
  }
  const restoredTo = Number(db.get('fact', id, restoredFact)?.['value'] ?? 0)
  const { kind, isRowless } = outcomeOfErasing(signup, restoredTo)
  if (kind !== 'unwritten') db.run('addRemoval', position, String(row['email']))
  if (kind === 'frozen') return kind
  // A signup that waits to be delivered once more counts as not written.
  if (db.run('dropRedelivery', Number(row['tab']), position) > 0) db.run('recountWritten', position)
  db.run('eraseSignup', position, Number(isRowless))
  return kind
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
