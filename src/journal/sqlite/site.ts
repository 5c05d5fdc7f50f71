import { replacedCodesFact } from '../contracts/delivery-log.ts'
import type { Secret } from '../hashes.ts'
import type { TabCursor } from '../contracts/intake-log.ts'
import { Listeners } from '../listeners.ts'
import type { JournalPolicy } from '../contracts/policy.ts'
import { codesOf, newMarkerBase, newSiteCode } from '../site-code.ts'
import type { SqliteDatabase } from './database.ts'
import { SqliteDefaultTab } from './default-tab.ts'

/** One site of an open journal: the parts that its intake log, delivery log and reader share. */
export interface SqliteSite {
  readonly db: SqliteDatabase
  readonly id: number
  /** Random. Part of each batch's fingerprint, so that batches of different journals differ. */
  readonly code: string
  readonly policy: JournalPolicy
  readonly defaultTab: SqliteDefaultTab
  /** Gets the number of added signups after each commit of this process. */
  readonly appended: Listeners<number>
  /** Gets the cursors of the tabs of each batch that this process settles. */
  readonly settled: Listeners<readonly TabCursor[]>
  readonly secret: Secret
}

export function openSite(db: SqliteDatabase, name: string, policy: JournalPolicy): SqliteSite {
  const row =
    db.get('site', name) ??
    // Look again within the transaction, because another process may have added the site meanwhile.
    db.transaction(
      () => db.get('site', name) ?? db.get('addSite', name, newSiteCode(), newMarkerBase()),
    )
  const id = Number(row?.['id'])
  const defaultTab = new SqliteDefaultTab(db, id, policy)
  const code = String(row?.['code'])
  const { secret } = db
  if (secret === undefined) throw new Error('The journal is open for reading only.')
  const told = { appended: new Listeners<number>(), settled: new Listeners<readonly TabCursor[]>() }
  return { db, id, code, policy, defaultTab, ...told, secret }
}

/** The code of the site, and those of the journals that this one has replaced. */
export function codesOfSite({ db, id, code }: SqliteSite): readonly string[] {
  const fact = db.get('fact', id, replacedCodesFact)
  return codesOf(code, fact && String(fact['value']))
}
