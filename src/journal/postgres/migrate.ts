import type { PostgresDatabase } from './database.ts'
import { addressIndex, migrations } from './schema.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('migrate', {
  version: `SELECT to_regclass('rollcall.version') IS NOT NULL AS "isThere"`,
  schema: `SELECT to_regnamespace('rollcall') IS NOT NULL AS "isThere"`,
  addressIndex: `SELECT to_regclass('rollcall.signup_by_address') IS NOT NULL AS "isThere"`,
  number: 'SELECT number FROM rollcall.version',
  lock: 'SELECT number FROM rollcall.version FOR UPDATE',
  setNumber: 'UPDATE rollcall.version SET number = $1',
})

const begin = [
  `CREATE TABLE IF NOT EXISTS rollcall.version (
     only_row boolean PRIMARY KEY CHECK (only_row),
     number   integer NOT NULL
   )`,
  'INSERT INTO rollcall.version (only_row, number) VALUES (true, 0) ON CONFLICT DO NOTHING',
]

/**
 * Makes the journal's tables, or brings them to this version. Any number of processes may call it at the
 * same time.
 *
 * @throws Error when a newer version of Rollcall has made them
 */
export async function migrate(db: PostgresDatabase): Promise<void> {
  if ((await versionOf(db)) === migrations.length) return
  for (const text of await stepsToBegin(db)) await make(db, text)
  for (let done = await versionOf(db); done < migrations.length; done = await versionOf(db)) {
    await db.transaction([sql.lock], async (transaction) => {
      const number = Number((await transaction.get(sql.number))?.['number'])
      // Another process may have made this step meanwhile.
      if (number >= migrations.length) return
      await transaction.exec(migrations[number] ?? '')
      await transaction.run(sql.setNumber, number + 1)
    })
  }
}

/** How many migrations have run. @throws Error when that are more than this version knows */
async function versionOf(db: PostgresDatabase): Promise<number> {
  if ((await db.get(sql.version))?.['isThere'] !== true) return 0
  const number = Number((await db.get(sql.number))?.['number'] ?? 0)
  if (number <= migrations.length) return number
  throw new Error(
    `The journal in the database was made by a newer version of Rollcall (its tables have version ` +
      `${number}, this one knows ${migrations.length}). Start that version.`,
  )
}

/** Whether the database has a journal, of any version. */
export async function hasTables(db: PostgresDatabase): Promise<boolean> {
  return (await versionOf(db)) > 0
}

/** Changes nothing. @throws Error when there is no journal, or one that another version has made */
export async function expectCurrent(db: PostgresDatabase): Promise<void> {
  const version = await versionOf(db)
  if (version === migrations.length) return
  throw new Error(version === 0 ? missing : older)
}

const missing =
  'The database has no journal of Rollcall. Check DATABASE_URL, or start the service once, which makes the journal.'

const older =
  'The journal in the database was made by an older version of Rollcall. Start the service once with this version, which brings it up to date.'

/** Makes no schema that exists: the user of the database may not have the right to make one. */
async function stepsToBegin(db: PostgresDatabase): Promise<readonly string[]> {
  const isThere = (await db.get(sql.schema))?.['isThere'] === true
  return isThere ? begin : ['CREATE SCHEMA IF NOT EXISTS rollcall', ...begin]
}

/**
 * Makes the index that finds duplicates, if it is missing. That takes time with the number of signups, and
 * nothing can be appended meanwhile.
 */
export async function makeAddressIndex(db: PostgresDatabase): Promise<void> {
  if ((await db.get(sql.addressIndex))?.['isThere'] !== true) await make(db, addressIndex)
}

/** Two processes that make the same thing at the same time meet an error, in spite of IF NOT EXISTS. */
async function make(db: PostgresDatabase, text: string): Promise<void> {
  await db.exec(text).catch(() => db.exec(text))
}
