// @module-tag slow
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSignup } from '../../harness/make-signup.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { link } from './contracts/confirmation-contract.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

test.each<[string, (journal: Journal) => Promise<unknown>]>([
  ['forgetting a person', ({ erasure }) => erasure.forget('ada@example.com')],
  ['an import', ({ imports }) => imports.add([makeSignup({ email: 'bob@example.com' })])],
])('%s waits for an append that is under way', async (_, work) => {
  const { url } = await server.createDatabase()
  await using journal = await openPostgresJournal(url)
  await journal.intake.append([makeSignup()])
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query('BEGIN; SELECT 1 FROM rollcall.head FOR UPDATE')
    let isDone = false
    const done = work(journal).then(() => (isDone = true))
    const waiting = `SELECT 1 FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1)
    expect(isDone).toBe(false)
    await client.query('COMMIT')
    await done
  } finally {
    await client.end()
  }
})

test('rows of who leaves go while an append is under way, and only the end waits for it', async () => {
  const { url } = await server.createDatabase()
  await using journal = await openPostgresJournal(url, { welcomes: true })
  const signups = Array.from({ length: 150 }, () => makeSignup({ email: 'ada@example.com' }))
  await journal.intake.append(signups, { greeting: { language: 'en', share: '' } })
  const welcome = await link(journal, Date.now())
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query('BEGIN; SELECT 1 FROM rollcall.head FOR UPDATE')
    const done = journal.confirmation.leave(welcome, Date.now())
    const left = "SELECT 1 FROM rollcall.signup WHERE email <> ''"
    await expect.poll(async () => (await client.query(left)).rowCount).toBe(0)
    expect(await journal.confirmation.look(welcome, Date.now())).toMatchObject({
      state: 'confirmed',
    })
    await client.query('COMMIT')
    expect(await done).toMatchObject({ state: 'left' })
  } finally {
    await client.end()
  }
})

test('a transaction takes its locks in the round trip of its first statements, and not before', async () => {
  await using database = await server.createDatabase()
  await using proxy = await startPostgresProxy(server.port)
  await using journal = await openPostgresJournal(server.url(database.name, proxy.port))
  const client = new pg.Client(database.url)
  await client.connect()
  try {
    proxy.fail(/^BEGIN/, 'hang after')
    const done = journal.confirmation.allow('ada@example.com')
    await expect.poll(() => proxy.failed).toBe(1)
    // What was sent along with it would have come through by then.
    await new Promise((resolve) => setTimeout(resolve, 200))
    await client.query('BEGIN; SELECT 1 FROM rollcall.site FOR UPDATE NOWAIT; ROLLBACK')
    proxy.cut()
    expect(await done).toBe(false)
  } finally {
    await client.end()
  }
})
