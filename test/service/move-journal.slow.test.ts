// @module-tag slow
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSignups } from '../../harness/make-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { loadConfig } from '../../src/config/config.ts'
import { onlySiteOf } from '../../harness/only-site.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
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
    const stop = new AbortController().signal
    return moveJournal(config, url, { clock, stop, copied: () => {}, ...options })
  }
  return { home, move, signup }
}

test('a database that is not untouched is refused and stays as it is', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move } = await journalToMove(folder.path, database.url)
  await using other = await openPostgresJournal(database.url)
  const another = 'has another journal. Give an empty database; or, when'
  await expect(move()).rejects.toThrow(another)
  await other.intake.append(makeSignups(2))
  await database.query('DELETE FROM rollcall.secret')
  await expect(move()).rejects.toThrow(another)
  expect(await other.reader.page(0, 10)).toHaveLength(2)
  expect(existsSync(join(folder.path, 'journal.moved'))).toBe(false)
})

test('a second move finds the journal there, and refuses when the mark was deleted', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move } = await journalToMove(folder.path, database.url)
  await move()
  {
    await using there = await openPostgresJournal(database.url)
    await there.intake.append(makeSignups(1))
  }
  expect(await move()).toBeUndefined()
  await rm(join(folder.path, 'journal.moved'))
  await expect(move()).rejects.toThrow('its mark was deleted, so the one in DATA_DIR may have')
  await using there = await openPostgresJournal(database.url)
  expect(await there.reader.page(0, 10)).toHaveLength(2)
})

test.each([
  ['in the middle', []],
  // The mark is there then, and the journal is not.
  ['before its commit', ['journal.moved']],
])('a move that was stopped %s leaves nothing, and the next one begins anew', async (_, marks) => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { home, move } = await journalToMove(folder.path, database.url)
  const stopped = new AbortController()
  const copied = () => stopped.abort(new Error('stopped'))
  await expect(move({ stop: stopped.signal, copied })).rejects.toThrow('stopped')
  expect(await database.query('SELECT * FROM rollcall.secret, rollcall.site')).toEqual([])
  {
    await using journal = onlySiteOf(await home.openBeside())
    await journal.intake.append(makeSignups(1))
  }
  for (const name of marks) await writeFile(join(folder.path, name), 'elsewhere\n')
  expect(await move()).toMatchObject({ signup: 2 })
})

test('a copy that differs is refused, and nothing is moved', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move } = await journalToMove(folder.path, database.url)
  const stop = AbortSignal.abort(new Error('stopped'))
  await expect(move({ stop })).rejects.toThrow('stopped')
  await database.query(`CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN NEW.email := 'other@example.com'; RETURN NEW; END$$;
    CREATE TRIGGER change BEFORE INSERT ON rollcall.signup FOR EACH ROW EXECUTE FUNCTION change()`)
  await expect(move()).rejects.toThrow('The copy of the table signup differs. Nothing was moved.')
  expect(await database.query('SELECT * FROM rollcall.signup')).toEqual([])
  expect(existsSync(join(folder.path, 'journal.moved'))).toBe(false)
})

test('an instance that starts during a move waits, and goes on with the journal that was moved', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { move, signup } = await journalToMove(folder.path, database.url)
  let opening: ReturnType<typeof openPostgresJournal> | undefined
  await move({ copied: () => void (opening ??= openPostgresJournal(database.url)) })
  await using during = await opening
  const retry = [{ ...signup, id: makeSignups(1)[0]?.id ?? signup.id }]
  expect(await during?.intake.append(retry, { idempotency })).toMatchObject({ kind: 'replayed' })
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
    copied() {
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
