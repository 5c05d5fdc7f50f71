import { randomBytes, randomInt } from 'node:crypto'

import type { TabCursor } from '../intake-log.ts'
import { Listeners } from '../listeners.ts'
import type { JournalPolicy } from '../policy.ts'
import type { SqliteDatabase } from './database.ts'
import { SqliteDefaultTab } from './default-tab.ts'

/** One site in one open journal: what its intake and its delivery share. */
export interface SqliteSite {
  readonly db: SqliteDatabase
  readonly id: number
  /** Tells what this journal has frozen from what others have. */
  readonly code: string
  readonly policy: JournalPolicy
  readonly defaultTab: SqliteDefaultTab
  /** Told after each commit of this process how many signups it added. */
  readonly appended: Listeners<number>
  /** Told after each batch that this process has settled how far it brought its tabs. */
  readonly settled: Listeners<readonly TabCursor[]>
}

export function openSite(db: SqliteDatabase, name: string, policy: JournalPolicy): SqliteSite {
  const row =
    db.get('site', name) ??
    // Looked for again: another process may open the journal at the same time.
    db.transaction(
      () =>
        db.get('site', name) ??
        db.get('addSite', name, randomBytes(4).toString('hex'), randomMarkerBase()),
    )
  const id = Number(row?.['id'])
  const defaultTab = new SqliteDefaultTab(db, id, policy)
  const code = String(row?.['code'])
  return { db, id, code, policy, defaultTab, appended: new Listeners(), settled: new Listeners() }
}

export function randomMarkerBase(): number {
  return randomInt(2 ** 31)
}
