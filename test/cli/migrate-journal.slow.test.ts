// @module-tag slow
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { mailLink } from '../../harness/mail-links.ts'
import { startMailServer } from '../../harness/mail-world.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import { postBulk, postSignup, postSignups } from '../../harness/post-signup.ts'
import {
  type PostgresServer,
  startPostgres,
  type TestDatabase,
} from '../../harness/postgres-server.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { failedStart, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Status } from '../../src/operations/status.ts'
import { layout } from '../../src/journal/tables/layout.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { appendTo, openSqliteJournal } from '../../harness/sqlite-journal.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

const people = ['ada@example.com', 'bob@example.com', 'eve@example.com']
const key = { 'idempotency-key': 'the-same-request' }

/** How many signups are in the database; undefined while it has no tables. */
async function signupsIn(database: TestDatabase) {
  const [tables] = await database.query(`SELECT to_regclass('rollcall.signup') AS it`)
  if (tables?.['it'] === null) return undefined
  const [found] = await database.query('SELECT count(*)::integer AS count FROM rollcall.signup')
  return found?.['count']
}

test('after a move the service goes on where it was, and the old journal refuses to start', async () => {
  await using world = await createDatabaseWorld(server)
  await using data = await tempFolder()
  const { google, env } = world
  const here = { env: google.env, dataDir: data.path }
  let before: unknown
  {
    await using service = await startService(here)
    before = await (await postSignup(service.url, { email: people[0] }, key)).json()
    await postSignups(service.url, people.slice(1))
    await allDelivered(service)
    const running = await runCommand(['migrate-journal'], { env, dataDir: data.path })
    expect(running).toMatchObject({ code: 1, stderr: expect.stringContaining('in use by another') })
  }
  const moved = await runCommand(['migrate-journal', '--json'], { env, dataDir: data.path })
  expect(moved).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(moved.stdout)).toMatchObject({ moved: true, tables: { signup: 3, site: 1 } })
  const again = await runCommand(['migrate-journal'], { env, dataDir: data.path })
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('already') })

  const { code, output } = await failedStart(here)
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /was moved to PostgreSQL \(test_\d+ on 127.0.0.1\): set DATABASE/,
    ),
  })
  await using service = await startService({ env })
  const replayed = await (await postSignup(service.url, { email: people[0] }, key)).json()
  expect(replayed).toMatchObject({ id: (before as { id: string }).id })
  await postSignups(service.url, ['new@example.com'])
  await allDelivered(service)
  expect(await addressesInSheet(google)).toEqual([...people, 'new@example.com'])
})

test('after a move, who was asked or greeted gets no mail again', async () => {
  await using world = await createDatabaseWorld(server)
  await using mailServer = await startMailServer()
  await using data = await tempFolder()
  await appendTo(data.path, [])
  await mailLink(data.path, 'confirm', { email: 'ada@example.com' })
  await mailLink(data.path, 'welcome', { email: 'bob@example.com' })
  const env = { ...world.env, ...mailServer.env, CONFIRMATION: 'mail', WELCOME_MAIL: 'on' }
  expect(await runCommand(['migrate-journal'], { env, dataDir: data.path })).toMatchObject({
    code: 0,
  })
  await using service = await startService({ env })
  await postSignup(service.url, { email: 'new@example.com' })
  const mails = async () => {
    const { stdout } = await runCommand(['status', '--json'], { env })
    const { waiting } = (JSON.parse(stdout) as Status).mail
    return { waiting, to: (await mailServer.mails()).map(({ to }) => to) }
  }
  await expect.poll(mails).toEqual({ waiting: 0, to: ['new@example.com'] })
})

test('a frozen batch whose answer was lost goes on under its marker: each row is there once', async () => {
  await using world = await createDatabaseWorld(server)
  await using data = await tempFolder()
  const { google, env } = world
  await using service = await startService({ env: google.env, dataDir: data.path })
  await postSignups(service.url, people.slice(0, 1))
  await allDelivered(service)
  const { faults } = google.emulator
  faults.add({ on: 'write', apply: 'now', answer: 'drop' })
  faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  // One request, as the second of two could come when the first has been sent.
  await postBulk(service.url, { signups: people.slice(1).map((email) => ({ email })) })
  await expect.poll(() => addressesInSheet(google)).toHaveLength(people.length)
  await service.kill()
  expect(await runCommand(['migrate-journal'], { env, dataDir: data.path })).toMatchObject({
    code: 0,
  })
  const frozen = 'SELECT count(*)::integer AS count FROM rollcall.batch WHERE settled_at IS NULL'
  expect(await world.database.query(frozen)).toEqual([{ count: 1 }])
  faults.clear()
  await using after = await startService({ env })
  await allDelivered(after)
  expect((await addressesInSheet(google)).toSorted()).toEqual(people)
})

test('a move that is killed at any point is done by the next run', async () => {
  await using world = await createDatabaseWorld(server)
  await using data = await tempFolder()
  const { env, database } = world
  const count = 20_000
  await appendTo(data.path, makeSignups(count))
  for (let afterMs = 200; ; afterMs += 100) {
    const command = startCommand(['migrate-journal'], { env, dataDir: data.path })
    await Promise.race([command.ended, sleep(afterMs)])
    command.kill('SIGKILL')
    const { code } = await command.ended
    expect([undefined, 0, count]).toContain(await signupsIn(database))
    if (code === 0) break
  }
  expect(await signupsIn(database)).toBe(count)
  await using moved = await openPostgresJournal(database.url)
  await using journal = openSqliteJournal(join(data.path, 'journal.db'))
  expect(await moved.reader.page(0, count)).toEqual(await journal.reader.page(0, count))
  expect(existsSync(join(data.path, 'journal.moved'))).toBe(true)
})

test('without a journal, or without DATABASE_URL, nothing is made', async () => {
  await using world = await createDatabaseWorld(server)
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  expect(await runCommand(['migrate-journal'], { env: world.env, dataDir })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no journal in'),
  })
  expect(await runCommand(['migrate-journal'], { dataDir })).toMatchObject({ code: 2 })
  expect(existsSync(dataDir)).toBe(false)
})

test('a move takes every column of every table', async () => {
  await using database = await server.createDatabase()
  await (await openPostgresJournal(database.url))[Symbol.asyncDispose]()
  const rows = await database.query(
    `SELECT table_name AS name, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'rollcall'`,
  )
  const moved = layout.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => `${name}.${column}`),
  )
  // These are made anew, or follow from others.
  const others = /^(version|head|secret|account|lease)\./
  const wanted = rows.map(({ name, column }) => `${String(name)}.${String(column)}`)
  expect(moved.toSorted()).toEqual(wanted.filter((it) => !others.test(it)).toSorted())
})
