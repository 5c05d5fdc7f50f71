import { flagOf, type Statement, statementsOf } from '../sql.ts'
import { layoutVersion } from '../tables/layout.ts'
import type { PostgresDatabase } from './database.ts'
import { addressIndex, layoutSql, releasedVersion } from './schema.ts'

const sql = statementsOf('postgres migrate', {
  version: `SELECT to_regclass('rollcall.version') IS NOT NULL AS "isThere"`,
  schema: `SELECT to_regnamespace('rollcall') IS NOT NULL AS "isThere"`,
  addressIndex: `SELECT to_regclass('rollcall.signup_by_address') IS NOT NULL AS "isThere"`,
  number: 'SELECT number FROM rollcall.version',
})

const versionTable = `CREATE TABLE IF NOT EXISTS rollcall.version (
    only_row boolean PRIMARY KEY CHECK (only_row),
    number   integer NOT NULL
  );
  INSERT INTO rollcall.version (only_row, number) VALUES (true, 0) ON CONFLICT DO NOTHING`

/**
 * Makes the journal's tables. Any number of processes may call it at the same time.
 *
 * @throws Error when another version of Rollcall has made them
 */
export async function migrate(db: PostgresDatabase): Promise<void> {
  const version = await versionOf(db)
  if (version === layoutVersion) return
  if (version > 0 && version < releasedVersion) throw new Error(neverReleased)
  // The user of the database may not have the right to make a schema that exists.
  if (!(await isThere(db, sql.schema))) await make(db, 'CREATE SCHEMA IF NOT EXISTS rollcall')
  await make(db, versionTable)
  // Another process may have made them when this one gets the lock: then each statement changes nothing.
  await db.exec(`BEGIN;
    SET LOCAL search_path = rollcall;
    SELECT number FROM version FOR UPDATE;
    ${layoutSql};
    UPDATE version SET number = ${layoutVersion} WHERE number < ${layoutVersion};
    COMMIT`)
}

/** The version of the tables; 0 when there are none. @throws Error when a newer version has made them */
async function versionOf(db: PostgresDatabase): Promise<number> {
  if (!(await isThere(db, sql.version))) return 0
  const [{ rows }] = await db.query([sql.number])
  const number = Number(rows[0]?.['number'] ?? 0)
  if (number <= layoutVersion) return number
  throw new Error(
    `The journal in the database was made by a newer version of Rollcall (its tables have version ` +
      `${number}, this one knows ${layoutVersion}). Start that version.`,
  )
}

/** Changes nothing. @throws Error when there is no journal, or one that another version has made */
export async function expectCurrent(db: PostgresDatabase): Promise<void> {
  const version = await versionOf(db)
  if (version === layoutVersion) return
  if (version === 0) throw new Error(missing)
  throw new Error(version < releasedVersion ? neverReleased : older)
}

const missing =
  'The database has no journal of Rollcall. Check DATABASE_URL, or start the service once, which makes the journal.'

const older =
  'The journal in the database was made by an older version of Rollcall. Start the service once with this version, which brings it up to date.'

const neverReleased =
  'The journal in the database was made by a version of Rollcall that was never released. Start that version until it has delivered everything, then give another database.'

/**
 * Makes the index that finds duplicates, if it is missing. That takes time with the number of signups, and
 * nothing can be appended meanwhile.
 */
export async function makeAddressIndex(db: PostgresDatabase): Promise<void> {
  if (!(await isThere(db, sql.addressIndex))) await make(db, addressIndex)
}

async function isThere(db: PostgresDatabase, statement: Statement): Promise<boolean> {
  const [{ rows }] = await db.query([statement])
  return flagOf(rows[0]?.['isThere'])
}

/** Two processes that make the same thing at the same time meet an error, in spite of IF NOT EXISTS. */
async function make(db: PostgresDatabase, text: string): Promise<void> {
  await db.exec(text).catch(() => db.exec(text))
}
