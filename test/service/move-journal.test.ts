import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSignups } from '../../harness/make-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openPostgresJournal } from '../../src/journal/postgres/postgres-journal.ts'
import { systemClock as clock } from '../../src/platform/clock.ts'
import { folderStore } from '../../src/service/folder-store.ts'
import { moveJournal } from '../../src/service/move-journal.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

const idempotency = { space: '', key: 'the-same-request', fingerprint: '' }

/** A journal in a folder with one signup, and what moves it to the database of this URL. */
async function journalToMove(folder: string, url: string) {
  const { config } = loadConfig({ variables: { DATA_DIR: folder }, folder, readText: () => '' })
  const store = folderStore(config, { clock })
  const [signup] = makeSignups(1)
  if (!signup) throw new Error('There is no signup.')
  {
    await using journal = await store.openBeside()
    await journal.intake.append([signup], { idempotency })
  }
  const stop = new AbortController().signal
  const move = (compared = () => {}) =>
    moveJournal(config, url, { clock, stop, copied: () => {}, compared })
  return { store, move }
}

test('a command that had the old journal open writes nothing during a move, and nothing after it', async () => {
  await using database = await server.createDatabase()
  await using folder = await tempFolder()
  const { store, move } = await journalToMove(folder.path, database.url)
  await using beside = await store.openBeside()
  const [signup] = makeSignups(1)
  if (!signup) throw new Error('There is no signup.')
  let adding: Promise<unknown> | undefined
  await move(() => {
    adding ??= beside.imports.add([signup]).catch((error: unknown) => error)
  })
  expect(await adding).toMatchObject({ message: expect.stringContaining('was moved') })
  await expect(beside.erasure.forget(signup.email)).rejects.toThrow('was moved to PostgreSQL')
  expect(await beside.reader.page(0, 10)).toHaveLength(1)
  await using moved = await openPostgresJournal(database.url)
  expect(await moved.reader.page(0, 10)).toHaveLength(1)
})
