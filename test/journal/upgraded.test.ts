import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { tableSql } from '../../src/journal/sqlite/schema.ts'

const recorded = join(import.meta.dirname, '../upgrade/0.1.0')

/** The journal that 0.1.0 has left, in a folder. Returns its file. */
async function releasedJournal(folder: string): Promise<string> {
  const file = join(folder, 'journal.db')
  await writeFile(file, gunzipSync(await readFile(join(recorded, 'journal.db.gz'))))
  await writeFile(join(folder, 'journal.secret'), await readFile(join(recorded, 'journal.secret')))
  return file
}

test('the journal of 0.1.0 gets the tables of a new one and keeps its rows, but nothing that was erased', async () => {
  await using folder = await tempFolder()
  const file = await releasedJournal(folder.path)
  const tables = [
    'fact',
    'idempotency_key',
    'marker',
    'provider_call',
    'signup',
    'site',
    'tombstone',
  ]
  const counts = () => {
    using database = new DatabaseSync(file, { readOnly: true })
    return tables.map((name) => database.prepare(`SELECT count(*) AS rows FROM ${name}`).get())
  }
  {
    using database = new DatabaseSync(file)
    // Long, so that it is left in pages that nothing uses.
    const cells = 'to-be-erased '.repeat(4_000)
    database.exec(`PRAGMA secure_delete = OFF; UPDATE signup SET metadata = '${cells}';
                   UPDATE signup SET metadata = ''`)
  }
  expect(await readFile(file, 'latin1')).toContain('to-be-erased')
  const before = counts()
  await openSqliteJournal(file, {}, { site: 'launch' })[Symbol.asyncDispose]()
  // A site of a new one has the key of its links, too.
  const [facts, ...others] = before
  expect(counts()).toEqual([{ rows: Number(facts?.['rows']) + 1 }, ...others])
  expect(await readFile(file, 'latin1')).not.toContain('to-be-erased')
  using database = new DatabaseSync(file, { readOnly: true })
  const made = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').all()
  const own = made.map(({ sql }) => String(sql)).filter((sql) => !sql.includes('sqlite_'))
  expect(own.toSorted()).toEqual(tableSql.toSorted())
})

test('a command does not bring the journal of 0.1.0 up to date', async () => {
  await using folder = await tempFolder()
  const file = await releasedJournal(folder.path)
  expect(() => openSqliteJournal(file, {}, { access: 'beside' })).toThrow(
    /older version of Rollcall. Start the service once/,
  )
  using database = new DatabaseSync(file, { readOnly: true })
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 6 })
})
