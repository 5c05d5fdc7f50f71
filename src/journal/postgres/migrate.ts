import { flagOf, type Statement, statementsOf } from '../sql.ts'
import { layoutVersion, stepsFrom, otherVersion } from '../tables/versions.ts'
import type { PostgresDatabase } from './database.ts'
import { layoutSql } from './schema.ts'

const sql = statementsOf('postgres migrate', {
  version: `SELECT to_regclass('rollcall.version') IS NOT NULL AS "isThere"`,
  schema: `SELECT to_regnamespace('rollcall') IS NOT NULL AS "isThere"`,
  number: 'SELECT number FROM rollcall.version',
})

const versionTable = `CREATE TABLE IF NOT EXISTS rollcall.version (
    only_row boolean PRIMARY KEY CHECK (only_row),
    number   integer NOT NULL
  );
  INSERT INTO rollcall.version (only_row, number) VALUES (true, 0) ON CONFLICT DO NOTHING`

/**
 * Makes the journal's tables, or brings older ones up to date. Any number of processes may call it at the same time.
 *
 * @throws Error when a newer version of Rollcall has made them, or one before the first release
 */
export async function migrate(db: PostgresDatabase): Promise<void> {
  const version = await versionOf(db)
  if (version === layoutVersion) return
  if (version > 0) assertUsable(version, true)
  const change = version === 0 ? [layoutSql] : stepsFrom(version).map(({ postgres }) => postgres)
  // The user of the database may not have the right to make a schema that exists.
  if (!(await isThere(db, sql.schema))) await make(db, 'CREATE SCHEMA IF NOT EXISTS rollcall')
  await make(db, versionTable)
  // Another process may have made them when this one gets the lock: then each statement changes nothing.
  await db.exec(`BEGIN;
    SET LOCAL search_path = rollcall;
    SELECT number FROM version FOR UPDATE;
    ${change.join(';\n')};
    UPDATE version SET number = ${layoutVersion} WHERE number < ${layoutVersion};
    COMMIT`)
}

/** The version of the tables; 0 when there are none. */
async function versionOf(db: PostgresDatabase): Promise<number> {
  if (!(await isThere(db, sql.version))) return 0
  const [{ rows }] = await db.query([sql.number])
  return Number(rows[0]?.['number'] ?? 0)
}

/** Changes nothing. @throws Error when there is no journal, or one that another version has made */
export async function expectCurrent(db: PostgresDatabase): Promise<void> {
  const version = await versionOf(db)
  if (version === 0) throw new Error(missing)
  assertUsable(version, false)
}

function assertUsable(version: number, mayMigrate: boolean): void {
  const other = otherVersion(version, { mayMigrate, elsewhere: 'DATABASE_URL' })
  if (!other) return
  throw new Error(`The journal in the database cannot be used: ${other.why}. ${other.hint}.`)
}

const missing =
  'The database has no journal of Rollcall. Check DATABASE_URL, or start the service once, which makes the journal.'

async function isThere(db: PostgresDatabase, statement: Statement): Promise<boolean> {
  const [{ rows }] = await db.query([statement])
  return flagOf(rows[0]?.['isThere'])
}

/** Two processes that make the same thing at the same time meet an error, in spite of IF NOT EXISTS. */
async function make(db: PostgresDatabase, text: string): Promise<void> {
  await db.exec(text).catch(() => db.exec(text))
}
