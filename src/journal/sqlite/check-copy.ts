import { connect } from './connect.ts'

/**
 * Reads every page and index of a copied journal, and makes it one file without a write-ahead log. Returns
 * its number of signups. @throws Error when it is damaged
 */
export function checkCopy(file: string): number {
  using db = connect(file)
  db.exec('PRAGMA journal_mode = DELETE')
  const [finding] = Object.values(db.prepare('PRAGMA integrity_check(1)').get() ?? {})
  if (finding !== 'ok') {
    throw new Error(
      `The copy ${file} is damaged (${String(finding)}). Check the disk, and the journal with rollcall doctor.`,
    )
  }
  return Number(db.prepare('SELECT count(*) AS count FROM signup').get()?.['count'])
}
