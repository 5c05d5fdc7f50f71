import { randomUUID } from 'node:crypto'
import type { TabCursor } from '../contracts/intake-log.ts'
import { defaultPolicy, type JournalPolicy } from '../contracts/journal.ts'
import { systemClock } from '../../platform/clock.ts'
import { keyHashing } from '../hashes.ts'
import { Listeners } from '../../platform/listeners.ts'
import { reading, statementsOf } from '../sql.ts'
import { factOf } from '../tables/facts.ts'
import { filling, hashingOf } from '../tables/people.ts'
import { stepsToUnseat } from '../tables/seats.ts'
import { addSite, findSite, linkKeyFact, linkKeyOf, type Site } from '../tables/site.ts'
import { notingWordings, wordingsToNote } from '../tables/pending/wordings.ts'
import type { SqliteDatabase } from './database.ts'

/** Name of a fact: something was erased since the log was emptied. */
const copiesFact = 'copies in the log'

const sql = statementsOf('sqlite copies', {
  note: `INSERT INTO fact (site, name, value) SELECT $1, $2, $3 WHERE changes() > 0
         ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
  forget: 'DELETE FROM fact WHERE site = $1 AND name = $2 AND value = $3',
})

export interface SqliteSite extends Site {
  readonly db: SqliteDatabase
}

/** Opens the site of this name, which is added if it is missing. */
export function openSite(
  db: SqliteDatabase,
  name: string,
  given: Partial<JournalPolicy>,
): SqliteSite {
  const policy = { ...defaultPolicy, ...given }
  const { secret } = db
  if (secret === undefined) throw new Error('The journal is open for reading only.')
  const { id, code } = db.runNow(findSite(name)) ?? db.transaction(() => db.runNow(addSite(name)))
  const linkKey =
    db.runNow(factOf(id, linkKeyFact)) ?? db.transaction(() => db.runNow(linkKeyOf(id)))
  if (db.runNow(wordingsToNote({ id, policy })) !== undefined) {
    db.transaction(() => db.runNow(notingWordings({ id, policy })))
  }
  const unseating = db.runNow(stepsToUnseat({ id, policy }))
  if (unseating.length > 0) db.transaction(() => unseating.forEach((step) => db.runStep(step)))
  const hashOf = db.runNow(hashingOf({ id, secret, policy }))
  const fill = (from: number) =>
    db.transaction(() => db.runNow(filling({ id, secret }, from)), { isSynced: false })
  for (let from = hashOf('') === null ? undefined : 0; from !== undefined;) from = fill(from)
  return {
    ...{ db, id, name, code, policy, secret, hashOf, linkKey },
    keyHashOf: keyHashing(secret),
    now: () => systemClock.now(),
    appended: new Listeners<number>(),
    settled: new Listeners<readonly TabCursor[]>(),
    // A new value each time, so that `dropCopies` sees what was erased while it ran.
    noteErased: () => [[sql.note, id, copiesFact, randomUUID()]],
    scrub: () => dropCopies(db, id),
  }
}

/** Drops the copies of erased cells in the write-ahead log, if something was erased. Returns false when another process prevents that. */
async function dropCopies(db: SqliteDatabase, site: number): Promise<boolean> {
  const noted = await reading(db, factOf(site, copiesFact))
  if (noted === undefined) return true
  // Most of the work. Waiting requests run before the rest.
  await db.log.write()
  await new Promise((resolve) => setImmediate(resolve))
  if (!(await db.log.empty())) return false
  await db.change([], [sql.forget, site, copiesFact, noted])
  return true
}
