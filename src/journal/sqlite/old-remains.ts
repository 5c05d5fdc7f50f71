import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { busy } from '../contracts/unavailable.ts'
import { connect } from './connect.ts'

/** The `application_id` of a journal whose pages have no remains of what was erased: "Roll". */
const withoutRemains = 0x526f6c6c

/** Notes in the journal that no page has remains of what was erased. */
export function noteNoRemains(db: DatabaseSync): void {
  db.exec(`PRAGMA application_id = ${withoutRemains}`)
}

/** The size of the journal when its pages may have remains of what was erased; undefined when they have none. */
export function sizeWithRemains(file: string): number | undefined {
  using db = connect(file, { readOnly: true })
  const id = db.prepare('PRAGMA application_id').get()?.['application_id']
  return id === withoutRemains ? undefined : statSync(file).size
}

/**
 * Writes all pages anew, because earlier versions left remains in them, and notes that. It is one
 * transaction: a process that is killed meanwhile has changed nothing.
 *
 * @throws Error when the disk has too little room, or while another process uses the journal
 */
export function dropRemains(file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file))
  // Once in the write-ahead log, and once in a temporary file, which is often on the same disk.
  if (bavail * bsize < 2 * statSync(file).size) throw new Error('The disk has too little room')
  using db = connect(file, { timeout: busy.maxMs })
  try {
    db.exec('VACUUM')
    noteNoRemains(db)
  } finally {
    // The log may be as large as the journal, also after a failure.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }
}
