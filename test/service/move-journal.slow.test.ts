import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import {
  type PostgresServer,
  startPostgres,
  type TestDatabase,
} from '../../harness/postgres-server.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { loadConfig } from '../../src/config/config.ts'
import { onlySiteOf } from '../../harness/only-site.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalReplaced } from '../../src/journal/contracts/errors.ts'
import { systemClock as clock } from '../../src/platform/clock.ts'
import { folderHome } from '../../src/service/folder-home.ts'
import { type MoveOptions, moveJournal } from '../../src/service/move-journal.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

const idempotency = { space: '', key: 'the-same-request', fingerprint: '' }

/** A journal in a folder with one signup, and what moves it to the database of this URL. */
async function journalToMove(folder: string, url: string) {
  const { config } = loadConfig({ variables: { DATA_DIR: folder }, folder, readText: () => '' })
  const home = folderHome(config, { clock })
  const [signup] = makeSignups(1)
  if (!signup) throw new Error('There is no signup.')
  {
    await using journal = onlySiteOf(await home.openBeside())
    await journal.intake.append([signup], { idempotency })
  }
  const move = (options: Partial<MoveOptions> = {}) => {
    const told = { goesOn: () => {}, copied: () => {}, compared: () => {} }
    const stop = new AbortController().signal
    return moveJournal(config, url, { clock, stop, ...told, ...options })
  }
  return { home, move, signup }
}

/** The tables with signups that have arrived, of any move. */
async function arrivedTables(database: TestDatabase): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'rollcall' AND tablename LIKE 'arrived%'`,
  )
  return rows.map(({ name }) => String(name))
}

test('a move takes every row, compares as many, and marks the folder', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move } = await journalToMove(folder.path, database.url)
  const told: Record<'goesOn' | 'copied' | 'compared', number[]> = {
    goesOn: [],
    copied: [],
    compared: [],
  }
  const counts = await move({
    goesOn: (after) => told.goesOn.push(after),
    copied: (signups) => told.copied.push(signups),
    compared: (rows) => told.compared.push(rows),
  })
  expect(counts).toMatchObject({ signup: 1, site: 1 })
  const all = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0)
  expect(told).toEqual({ goesOn: [], copied: [1], compared: expect.any(Array) })
  expect(told.compared.at(-1)).toBe(all)
  expect(existsSync(join(folder.path, 'journal.moved'))).toBe(true)
})

test('a database with an instance that runs, or with another journal, is refused and stays as it is', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move } = await journalToMove(folder.path, database.url)
  const another = 'has signups of another journal. Give an empty database.'
  {
    await using other = await openPostgresJournal(database.url)
    await other.lease.hold()
    await expect(move()).rejects.toThrow(
      'An instance runs with DATABASE_URL. Stop all of them, and wait ten seconds.',
    )
    await other.lease.release()
    await other.intake.append(makeSignups(2))
    await expect(move()).rejects.toThrow(another)
    expect(await other.reader.page(0, 10)).toHaveLength(2)
  }
  await database.query(`DELETE FROM rollcall.signup; UPDATE rollcall.head SET journal = 'another'`)
  await expect(move()).rejects.toThrow(another)
  expect(existsSync(join(folder.path, 'journal.moved'))).toBe(false)
})

test('a second move moves nothing, and refuses a journal that has changed since the first one', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move } = await journalToMove(folder.path, database.url)
  const mark = join(folder.path, 'journal.moved')
  const journal = () => openSqliteJournal(join(folder.path, 'journal.db'))
  await move()
  await rm(mark)
  expect(await move()).toBeUndefined()
  expect(existsSync(mark)).toBe(true)
  await rm(mark)
  {
    await using here = journal()
    await here.intake.append(makeSignups(1))
  }
  const changed = (taken: number, way: string) =>
    'This journal was moved to the database before, and the one in DATA_DIR has changed since. ' +
    `Last signup: number 1 at the move, 2 in DATA_DIR now, ${taken} in the database now. ` +
    'Last batch: number 0 at the move, 0 in DATA_DIR now, 0 in the database now. ' +
    `Both are left as they are, and nothing is lost. ${way}`
  const told = () => move().catch((error: unknown) => (error as Error).message)
  const moveAgain =
    'The database has not changed since: give another, empty database in DATABASE_URL, and move again.'
  expect(await told()).toBe(changed(1, moveAgain))
  expect(existsSync(mark)).toBe(false)
  await using there = await openPostgresJournal(database.url)
  expect(await there.reader.page(0, 10)).toHaveLength(1)
  await there.intake.append(makeSignups(2))
  const choose =
    'The database has changed, too. Choose the one to go on with. Bring those signups of the other one that ' +
    'have no row in the spreadsheet yet with rollcall export --since and rollcall import.'
  expect(await told()).toBe(changed(3, choose))
})

test('a second move refuses a journal in which somebody was forgotten since', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move, signup } = await journalToMove(folder.path, database.url)
  await move()
  await rm(join(folder.path, 'journal.moved'))
  {
    await using here = openSqliteJournal(join(folder.path, 'journal.db'))
    await here.erasure.forget(signup.email)
  }
  await expect(move()).rejects.toThrow('has changed since')
})

test('a move that was stopped while it compared leaves the database as it was', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move } = await journalToMove(folder.path, database.url)
  const stopped = new AbortController()
  const compared = () => stopped.abort(new Error('stopped'))
  await expect(move({ stop: stopped.signal, compared })).rejects.toThrow('stopped')
  await using empty = await openPostgresJournal(database.url)
  expect(await empty.reader.page(0, 10)).toEqual([])
})

test('a journal that has changed after a move was stopped arrives anew', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { home, move } = await journalToMove(folder.path, database.url)
  const stopped = new AbortController()
  const copied = () => stopped.abort(new Error('stopped'))
  await expect(move({ stop: stopped.signal, copied })).rejects.toThrow('stopped')
  {
    await using journal = onlySiteOf(await home.openBeside())
    await journal.intake.append(makeSignups(1))
  }
  const goneOn: number[] = []
  expect(await move({ goesOn: (after) => goneOn.push(after) })).toMatchObject({ signup: 2 })
  expect(goneOn).toEqual([])
  expect(await arrivedTables(database)).toEqual([])
})

test('an instance that opened the database before or during a move writes nothing after it', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move, signup } = await journalToMove(folder.path, database.url)
  await using before = await openPostgresJournal(database.url)
  let opening: ReturnType<typeof openPostgresJournal> | undefined
  let appending: Promise<unknown> | undefined
  const [retried] = makeSignups(1)
  const retry = [{ ...signup, id: retried?.id ?? signup.id }]
  await move({
    compared() {
      opening ??= openPostgresJournal(database.url)
      // Waits for the lock of the move.
      appending ??= before.intake.append(retry, { idempotency }).catch((error: unknown) => error)
    },
  })
  expect(await appending).toBeInstanceOf(JournalReplaced)
  await expect(before.intake.append(retry, { idempotency })).rejects.toThrow(JournalReplaced)
  await expect(before.imports.add(makeSignups(1), { keepsDuplicates: true })).rejects.toThrow(
    JournalReplaced,
  )
  await expect(before.delivery.noteFact('name', 'value')).rejects.toThrow(JournalReplaced)
  await expect(before.erasure.forget(signup.email)).rejects.toThrow(JournalReplaced)
  await expect(before.lease.hold()).rejects.toThrow(JournalReplaced)
  await expect(before.reader.probe()).rejects.toThrow(JournalReplaced)
  // This one has read the journal of before, or that which was moved.
  const during = await opening
  const answer = during?.intake.append(retry, { idempotency }).catch((error: unknown) => error)
  const either = [expect.any(JournalReplaced), expect.objectContaining({ kind: 'replayed' })]
  expect(either).toContainEqual(await answer)
  await during?.[Symbol.asyncDispose]()
  await using after = await openPostgresJournal(database.url)
  expect(await after.lease.hold()).toMatchObject({ kind: 'held' })
  expect(await after.intake.append(retry, { idempotency })).toMatchObject({ kind: 'replayed' })
})

test('a service that meets a replaced journal says so and ends', async () => {
  await using world = await createDatabaseWorld(server)
  await using service = await startService({ env: world.env })
  await expect.poll(() => service.output()).toContain('delivery started')
  await world.database.query(`UPDATE rollcall.head SET journal = 'another'`)
  expect(await service.exited).toBe(1)
  expect(service.output()).toContain('was replaced by another one: restart')
})

test('a command that had the old journal open writes nothing during a move, and nothing after it', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { home, move } = await journalToMove(folder.path, database.url)
  await using beside = onlySiteOf(await home.openBeside())
  const [signup] = makeSignups(1)
  if (!signup) throw new Error('There is no signup.')
  let adding: Promise<unknown> | undefined
  await move({
    compared() {
      const other = makeSignups(1, { email: 'other@example.com' })
      adding ??= beside.imports.add(other).catch((error: unknown) => error)
    },
  })
  expect(await adding).toMatchObject({ message: expect.stringContaining('was moved') })
  await expect(beside.erasure.forget(signup.email)).rejects.toThrow('was moved to PostgreSQL')
  await expect(beside.reader.probe()).rejects.toThrow('was moved to PostgreSQL')
  expect(await beside.reader.page(0, 10)).toHaveLength(1)
  await using moved = await openPostgresJournal(database.url)
  expect(await moved.reader.page(0, 10)).toHaveLength(1)
})

test('a move that was stopped goes on behind the signups that have arrived', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { home, move } = await journalToMove(folder.path, database.url)
  await using journal = onlySiteOf(await home.openBeside())
  await journal.intake.append(makeSignups(2_999))
  const stopped = new AbortController()
  const copied = () => stopped.abort(new Error('stopped'))
  await expect(move({ stop: stopped.signal, copied })).rejects.toThrow('stopped')
  // Nothing of it shows until all of it is there.
  {
    await using empty = await openPostgresJournal(database.url)
    expect(await empty.reader.page(0, 10)).toEqual([])
  }
  const goneOn: number[] = []
  const later: number[] = []
  const goesOn = (after: number) => goneOn.push(after)
  expect(await move({ goesOn, copied: (count) => later.push(count) })).toMatchObject({
    signup: 3_000,
  })
  expect({ goneOn, later }).toEqual({ goneOn: [1_000], later: [1_000, 2_000] })
  await using moved = await openPostgresJournal(database.url)
  expect(await moved.reader.page(0, 3_000)).toEqual(await journal.reader.page(0, 3_000))
})

test('signups that have arrived and differ are refused, and the next move brings them anew', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move, signup } = await journalToMove(folder.path, database.url)
  const stopped = new AbortController()
  const copied = () => stopped.abort(new Error('stopped'))
  await expect(move({ stop: stopped.signal, copied })).rejects.toThrow('stopped')
  const [table] = await arrivedTables(database)
  await database.query(`UPDATE rollcall.${table} SET email = 'other@example.com'`)
  await expect(move()).rejects.toThrow(
    'The copy of the table signup differs: it has 1 rows of 1, or other values in them. Nothing was moved. ' +
      'Run it again: it begins anew. If that does not help, report it.',
  )
  expect(await move()).toMatchObject({ signup: 1 })
  expect(await arrivedTables(database)).toEqual([])
  await using moved = await openPostgresJournal(database.url)
  expect(await moved.reader.page(0, 10)).toMatchObject([{ signup: { email: signup.email } }])
})

test('calls that were made from the database count behind those of the journal that is moved', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { home, move } = await journalToMove(folder.path, database.url)
  const quota = { perMinute: 10, perDay: 3 }
  {
    await using here = onlySiteOf(await home.openBeside())
    const calls = here.callLedger('account', clock)
    expect(await calls.reserve(quota)).toBe(0)
    expect(await calls.reserve(quota)).toBe(0)
    await using there = await openPostgresJournal(database.url)
    expect(await there.callLedger('account', clock).reserve(quota)).toBe(0)
  }
  await move()
  await using moved = await openPostgresJournal(database.url)
  expect(await moved.callLedger('account', clock).reserve(quota)).toBeGreaterThan(0)
  const more = { ...quota, perDay: 4 }
  expect(await moved.callLedger('account', clock).reserve(more)).toBe(0)
  expect(await moved.callLedger('account', clock).reserve(more)).toBeGreaterThan(0)
})
