import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { layoutSql } from '../../src/journal/sqlite/schema.ts'
import { layoutVersion } from '../../src/journal/tables/versions.ts'
import { sqliteDialect } from '../../src/journal/sqlite/dialect.ts'
import { statements } from '../../src/journal/sql.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { callLedgerTests } from './contracts/call-ledger-contract.ts'
import { comparisonTests } from './contracts/comparison-contract.ts'
import { holdTo, type JournalWorld } from './contracts/contract.ts'
import { contracts } from './contracts/contracts.ts'
import { previewedImports } from './contracts/import-log-contract.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

async function createWorld(): Promise<JournalWorld> {
  const folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  return {
    open: async (policy) => openSqliteJournal(file, policy),
    [Symbol.asyncDispose]: async () => {
      expect(otherIds(file), 'every id is a UUIDv7').toEqual([])
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The ids of signups that have no time. */
function otherIds(file: string) {
  if (!existsSync(file)) return []
  using database = new DatabaseSync(file, { readOnly: true })
  const ids = ['signup', 'pending'].map((table) => `SELECT id FROM ${table}`).join(' UNION ')
  const given = database.prepare(
    `SELECT hex(id) AS id FROM (${ids}) WHERE substr(hex(id), 13, 1) <> '7'`,
  )
  return given.all()
}

const journalFolder = join(import.meta.dirname, '../../src/journal')

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`SQLite, ${name}`, tests, createWorld)
}
holdTo('SQLite, comparison', comparisonTests, createWorld)
holdTo('SQLite, import log: previews', previewedImports, createWorld)
// Each of these tests chooses itself which instance makes a call, and when that one starts.
holdTo('SQLite, call ledger: the calls of one account', callLedgerTests, createWorld)

test('no later call adds a signup of an append that failed', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using journal = openSqliteJournal(file)
  const idempotency = { space: '', key: 'key', fingerprint: 'content' }
  await journal.intake.append([makeSignup()], { idempotency })
  const withoutTab = makeSignup({ sheetTab: undefined as never })
  await expect(journal.intake.append([makeSignup(), withoutTab])).rejects.toThrow(TypeError)
  expect(await journal.intake.recall(idempotency)).toMatchObject({ kind: 'replayed' })
  using reader = new DatabaseSync(file, { readOnly: true })
  expect(reader.prepare('SELECT count(*) AS count FROM signup').get()).toEqual({ count: 1 })
})

test('the journal forgets after an hour who made a tab, when the next new tab comes', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using journal = openSqliteJournal(file)
  const noon = Date.UTC(2026, 10, 20, 12)
  const make = (sheetTab: string, receivedAt: number) =>
    journal.intake.append([makeSignup({ sheetTab, receivedAt })], { client: '192.0.2.1' })
  await make('A', noon)
  await make('B', noon + 60 * 60 * 1000)
  using reader = new DatabaseSync(file, { readOnly: true })
  const known = reader.prepare('SELECT name FROM tab WHERE opened_by IS NOT NULL').all()
  expect(known).toEqual([{ name: 'B' }])
})

/** What else statements may read from one end to the other, or sort. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'delivery.pending': ['USE TEMP B-TREE FOR ORDER BY', 'USE TEMP B-TREE FOR ORDER BY'],
  // It sorts the signups of one batch.
  'batches.signups': ['USE TEMP B-TREE FOR LAST TERM OF ORDER BY'],
  // This has a row for each tab of a batch.
  'batches.countRedelivered': ['SCAN again'],
  'batches.countErasedAgain': ['SCAN again'],
  // It sorts a part of the signups.
  'known addresses.part': ['USE TEMP B-TREE FOR ORDER BY'],
  // These sort what is given. Of two tables, the second one reads the first entry.
  'tabs.make': ['USE TEMP B-TREE FOR ORDER BY', 'SCAN (subquery-13)', 'SCAN missing'],
  'imports.decide': ['SCAN tombstone', 'SCAN stale', 'USE TEMP B-TREE FOR ORDER BY'],
  // Once, when a backup is restored.
  'sqlite restore.lastTime': ['SCAN signup'],
  // It sorts the sums of half a year at most.
  'tally.read': ['USE TEMP B-TREE FOR GROUP BY', 'USE TEMP B-TREE FOR ORDER BY'],
  // It sorts what it counts, and the names that are kept.
  'shares.sums': ['USE TEMP B-TREE FOR GROUP BY'],
  'shares.count': [
    ...['USE TEMP B-TREE FOR GROUP BY', 'USE TEMP B-TREE FOR GROUP BY', 'SCAN counted'],
    ...['SCAN candidate', 'USE TEMP B-TREE FOR GROUP BY', 'USE TEMP B-TREE FOR ORDER BY'],
    ...['SCAN (subquery-10)', 'SCAN counted', 'SCAN spans', 'USE TEMP B-TREE FOR GROUP BY'],
  ],
  // These sort what there is of one person, or a few messages to nobody.
  'confirmation.addressed': ['USE TEMP B-TREE FOR ORDER BY'],
  'confirmation.findConfirmed': ['USE TEMP B-TREE FOR ORDER BY'],
  'pending.mailsOf': ['USE TEMP B-TREE FOR ORDER BY'],
  'outbox.dropOld': ['USE TEMP B-TREE FOR ORDER BY'],
  // It sorts the few that one slice decides on.
  'mails.confirm': [
    'USE TEMP B-TREE FOR ORDER BY',
    'SCAN (subquery-18)',
    'USE TEMP B-TREE FOR ORDER BY',
    'SCAN (subquery-17)',
  ],
  // They take the greatest of a few.
  'mails.wanted': ['SCAN others'],
  'mails.decidedOn': ['USE TEMP B-TREE FOR ORDER BY'],
  'sweep.heldLong': ['SCAN oldest'],
  'sweep.listedLong': ['SCAN oldest'],
  'sweep.isDue': ['SCAN oldest', 'SCAN oldest'],
  'mails.welcome': ['SCAN waits', 'SCAN wait'],
  // What one batch has.
  'batches.countHour': ['SCAN written'],
  // As far as figures are counted.
  'outbox figures.waiting': ['SCAN counted', 'SCAN counted'],
  // As far as one claim goes.
  'claim.wake': ['SCAN due', 'SCAN due'],
  'reader.beside': ['SCAN held', 'SCAN blocks', 'SCAN listed'],
  'quarantine.ending': ['SCAN listed', 'SCAN beside', 'SCAN held'],
  // These sort what they are given.
  'quarantine.find': ['USE TEMP B-TREE FOR ORDER BY'],
  'quarantine.findBeside': ['USE TEMP B-TREE FOR ORDER BY'],
  'quarantine.besideAt': ['USE TEMP B-TREE FOR ORDER BY'],
  'quarantine.uncount': ['USE TEMP B-TREE FOR GROUP BY', 'SCAN passed'],
  'recent.records': ['USE TEMP B-TREE FOR ORDER BY', 'SCAN shown'],
  'recent.beside': ['USE TEMP B-TREE FOR ORDER BY'],
  'pending.countSuspects': ['USE TEMP B-TREE FOR GROUP BY'],
  'confirmation.details': ['USE TEMP B-TREE FOR ORDER BY'],
  'compared.at': ['USE TEMP B-TREE FOR ORDER BY'],
  'compared.uncount': ['USE TEMP B-TREE FOR GROUP BY', 'SCAN put'],
  'compared.count': ['USE TEMP B-TREE FOR GROUP BY', 'SCAN dropped'],
}

test('no SQL statement reads all signups or all batches', async () => {
  for (const folder of ['sqlite', 'tables'].map((name) => join(journalFolder, name))) {
    for (const file of await readdir(folder, { recursive: true })) {
      if (/(?<!\.test)\.ts$/.test(file)) await import(join(folder, file))
    }
  }
  using database = new DatabaseSync(':memory:')
  database.exec(layoutSql)
  // The tables of sites, tabs (and where one person has been), markers, removals and work stay small, however many signups there are.
  const small =
    /^SCAN (site|tab|been|progress|marker|removal|work|json_each|CONSTANT ROW|\d+-ROW VALUES)\b/
  const texts = [...statements.values()]
    .filter(({ name }) => !name.startsWith('postgres'))
    .map(({ name, text }) => [name, text(sqliteDialect).replaceAll(/\$(\d+)/g, '?$1')] as const)
  expect(texts.length).toBeGreaterThan(100)
  for (const [name, sql] of texts) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    const scans = plan
      .map((step) => String(step['detail']))
      .filter((detail) => /^SCAN|USE TEMP B-TREE/.test(detail) && !small.test(detail))
    expect.soft(scans, name).toEqual(allowed[name] ?? [])
  }
})

test('the sweep skips no welcome, retention no mail that it has emptied, a claim nothing that is asked for, and a page no long run of held ones', () => {
  using database = new DatabaseSync(':memory:')
  database.exec(layoutSql)
  for (const [name, index] of [
    ['sweep.oldMails', 'message_over (site=? AND ended_at<?)'],
    ['retention.expireEmails', 'message_addressed (site=? AND ended_at<?)'],
    ['mails.decidedOn', 'pending_decided (site=? AND person=? AND state=?)'],
    ['mails.confirm', 'pending_decided (site=? AND person=? AND state=? AND rowid<?)'],
    ['reader.page', 'signup USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
    ['compared.page', 'signup USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
  ] as const) {
    const sql = statements
      .get(name)
      ?.text(sqliteDialect)
      .replaceAll(/\$(\d+)/g, '?$1')
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    const read = plan.map(({ detail }) => String(detail))
    expect(read).toContainEqual(expect.stringContaining(index))
  }
})

test('SQL statements that run often have a fixed limit, so SQLite plans them once', () => {
  const bound = [...statements.values()].filter(({ text }) =>
    text(sqliteDialect).includes('LIMIT $'),
  )
  // These read a page for a command.
  expect(bound.map(({ name }) => name).toSorted()).toEqual([
    'compared.page',
    'quarantine.page',
    'quarantine.pageBeside',
    'reader.page',
    'reader.pending',
  ])
})

test('a journal of a newer version is refused with what to do, and left as it is', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  {
    using database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 1000')
  }
  expect(() => openSqliteJournal(file)).toThrow(/newer version of Rollcall.*DATA_DIR\.$/s)
  using database = new DatabaseSync(file)
  expect(database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count']).toBe(0)
})

test.each([
  [
    'another commit, with another column',
    layoutVersion,
    (sql: string) => sql.replace('written_to', 'upto'),
  ],
  ['a time before there were versions', 0, (sql: string) => sql],
])('a journal of %s is refused with what to do, and left as it is', async (_, version, change) => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  {
    using database = new DatabaseSync(file)
    database.exec(change(layoutSql))
    database.exec(`PRAGMA user_version = ${version}`)
  }
  expect(() => openSqliteJournal(file)).toThrow(/its tables differ.*journal\.db.*DATA_DIR/s)
  using database = new DatabaseSync(file)
  expect(database.prepare('PRAGMA user_version').get()?.['user_version']).toBe(version)
})
