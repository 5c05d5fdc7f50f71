import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { layoutSql } from '../../src/journal/sqlite/schema.ts'
import { openWholeJournal } from '../../src/journal/sqlite/whole-journal.ts'
import { layout } from '../../src/journal/tables/layout.ts'
import { layoutVersion } from '../../src/journal/tables/versions.ts'

const tableOf = (name: string) => layout.find((table) => table.name === name) ?? expect.fail()

test('a journal that is moved gives all rows of each table, a thousand at once, in their order', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const signups = [...makeSignups(2_000), makeSignup({ email: 'last@example.com' })]
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append(signups)
  }
  using whole = openWholeJournal(file)
  const pages = [...whole.pages(tableOf('signup'))]
  expect(pages.map(({ length }) => length)).toEqual([1_000, 1_000, 1])
  expect(pages.flat().map(({ position, id, email }) => [position, id, email])).toEqual(
    signups.map(({ id, email }, index) => [index + 1, id, email]),
  )
  expect([...whole.pages(tableOf('site'))]).toMatchObject([[{ name: 'default', code: whole.code }]])
})

test('flags of a journal that is moved are no numbers', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  {
    await using journal = openSqliteJournal(file)
    const clock = { now: () => 1_000_000, elapsed: () => 0 }
    await journal.callLedger('robot', clock).reserve({ perMinute: 9, perDay: 9 })
    using database = new DatabaseSync(file)
    database.exec(
      `INSERT INTO provider_call (account, number, at, is_sure) VALUES ('robot', 2, 5, 0)`,
    )
  }
  using whole = openWholeJournal(file)
  const calls = [...whole.pages(tableOf('provider_call'))].flat()
  expect(calls).toMatchObject([
    { number: 1, at: 1_000_000, is_sure: true },
    { number: 2, at: 5, is_sure: false },
  ])
})

test('nobody writes to a journal while it is moved', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await openSqliteJournal(file)[Symbol.asyncDispose]()
  using writer = new DatabaseSync(file)
  {
    using _whole = openWholeJournal(file)
    expect(() => {
      writer.exec('BEGIN IMMEDIATE')
    }).toThrow(/locked/)
  }
  writer.exec('BEGIN IMMEDIATE; ROLLBACK')
})

test('a journal without a site has nothing to move', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  using database = new DatabaseSync(file)
  database.exec(`${layoutSql}; PRAGMA user_version = ${layoutVersion}`)
  expect(() => openWholeJournal(file)).toThrow('The journal has no site yet')
  expect(() => openWholeJournal(join(folder.path, 'missing.db'))).toThrow(/no such file/)
})
