import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { onlySiteOf } from '../../harness/only-site.ts'
import { layoutSql } from '../../src/journal/sqlite/schema.ts'
import { layoutVersion } from '../../src/journal/tables/versions.ts'
import { openSqliteReader } from '../../src/journal/sqlite/sqlite-journal.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { journalHomeOf } from '../../src/service/journal-home.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const world = { clock: systemClock }

test('a command can write to a new journal, and to that of a service, and both see all of it', async () => {
  await using folder = await tempFolder()
  const variables = { DATA_DIR: join(folder.path, 'new/data') }
  const { config, secrets } = loadConfig({ variables, folder: folder.path, readText: () => '' })
  const home = await journalHomeOf(config, secrets, world)
  await using command = onlySiteOf(await home.openBeside())
  await using service = openSqliteJournal(join(config.dataDir, 'journal.db'))
  await command.intake.append([makeSignup()])
  await service.intake.append([makeSignup()])
  await using reading = await home.openReader()
  for (const { reader } of [command, service]) expect(await reader.backlog()).toBe(2)
  expect(await reading.sites.get('default')?.backlog()).toBe(2)
})

test.each([
  [{}, 0],
  [{ ADMIN_TOKEN: 'Vq3nXw8sLr2kTz6b' }, 1],
])('people are kept where the settings ask for them: %j', async (settings, kept) => {
  await using folder = await tempFolder()
  const variables = { DATA_DIR: folder.path, ...settings }
  const { config, secrets } = loadConfig({ variables, folder: folder.path, readText: () => '' })
  const home = await journalHomeOf(config, secrets, world)
  await using journal = onlySiteOf(await home.openBeside())
  await journal.intake.append([makeSignup()])
  using database = new DatabaseSync(join(folder.path, 'journal.db'), { readOnly: true })
  expect(database.prepare('SELECT count(person) AS kept FROM signup').get()).toEqual({ kept })
})

test('a service finds the people whom a command with other settings has brought', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using service = openSqliteJournal(file, { duplicates: 'ignore' })
  await using command = openSqliteJournal(file, {}, { access: 'beside' })
  await command.intake.append([makeSignup({ email: 'ada@example.com' })])
  const again = await service.intake.append([makeSignup({ email: 'ADA@example.com' })])
  expect(again).toMatchObject({ duplicates: 1 })
})

test('a command opens the journal though another process is in the middle of a write', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using service = openSqliteJournal(file)
  await service.intake.append([makeSignup()])
  using writer = new DatabaseSync(file)
  writer.exec('BEGIN IMMEDIATE')
  await using command = openSqliteJournal(file, {}, { access: 'beside' })
  expect(await command.reader.backlog()).toBe(1)
})

test('a command makes a new journal though the secret of one before is left', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await openSqliteJournal(file)[Symbol.asyncDispose]()
  rmSync(file)
  await using command = openSqliteJournal(file, {}, { access: 'beside' })
  await command.intake.append([makeSignup()])
  expect(await command.reader.backlog()).toBe(1)
})

test('an empty file is no journal to read', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  writeFileSync(file, '')
  await expect(openSqliteReader(file)).rejects.toThrow(
    /no journal is in it yet\. Start the service/,
  )
})

test('a journal that is open for reading cannot be written', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await openSqliteJournal(file)[Symbol.asyncDispose]()
  await using reading = await openSqliteReader(file)
  await expect(reading.sites.get('default')?.probe()).rejects.toThrow(/readonly/)
})

test('a command makes no journal by reading', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await expect(openSqliteReader(file)).rejects.toThrow(/no such file\. Check DATA_DIR/)
  expect(existsSync(file)).toBe(false)
})

test.each([
  ['write', async (file: string) => openSqliteJournal(file, {}, { access: 'beside' })],
  ['read', (file: string) => openSqliteReader(file)],
])('a journal of another version is refused by a command that wants to %s it', async (_, open) => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  using database = new DatabaseSync(file)
  database.exec(layoutSql)
  database.exec(`PRAGMA user_version = ${layoutVersion - 1}`)
  await expect(open(file)).rejects.toThrow(/a version of Rollcall before 0\.3\.0/)
  database.exec(`PRAGMA user_version = ${layoutVersion + 1}`)
  await expect(open(file)).rejects.toThrow(/newer version of Rollcall/)
})
