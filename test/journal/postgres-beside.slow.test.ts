// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSignup } from '../../harness/make-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { openPostgresReader } from '../../src/journal/postgres/postgres-journal.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

test('reading makes nothing in a database without a journal, and says so', async () => {
  await using database = await server.createDatabase()
  await expect(openPostgresReader(database.url)).rejects.toThrow(
    /has no journal of Rollcall. Check DATABASE_URL, or start the service once/,
  )
  expect(await database.query(`SELECT to_regnamespace('rollcall') AS it`)).toEqual([{ it: null }])
})

test('a command makes the journal, and those who read see what it has written', async () => {
  await using database = await server.createDatabase()
  await using command = await openPostgresJournal(database.url)
  await using reading = await openPostgresReader(database.url)
  await command.intake.append([makeSignup()])
  expect(await reading.sites.get('default')?.backlog()).toBe(1)
})

test('a site that was never served has no signups', async () => {
  await using database = await server.createDatabase()
  await using _ = await openPostgresJournal(database.url)
  await using reading = await openPostgresReader(database.url, ['other'])
  expect(await reading.sites.get('other')?.backlog()).toBe(0)
  expect(await database.query('SELECT name FROM rollcall.site')).toEqual([{ name: 'default' }])
})

test('a journal of a newer version is refused by commands', async () => {
  await using database = await server.createDatabase()
  await (await openPostgresJournal(database.url))[Symbol.asyncDispose]()
  await database.query('UPDATE rollcall.version SET number = number + 1')
  for (const open of [openPostgresReader, (url: string) => openPostgresJournal(url)]) {
    await expect(open(database.url)).rejects.toThrow('newer version of Rollcall')
  }
})
