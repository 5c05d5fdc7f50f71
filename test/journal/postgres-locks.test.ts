import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSignup } from '../../harness/make-signup.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

test.each<[string, (journal: Journal) => Promise<unknown>]>([
  ['forgetting a person', ({ erasure }) => erasure.forget('ada@example.com')],
  ['naming the default tab', ({ delivery }) => delivery.resolveDefaultTab('Tabelle1')],
  ['an import', ({ imports }) => imports.add([makeSignup()])],
])('%s waits for an append that is under way', async (_, work) => {
  const { url } = await server.createDatabase()
  const policy = { defaultTab: { name: 'Sheet1', provisionalFor: 'first' } }
  await using journal = await openPostgresJournal(url, policy)
  await journal.intake.append([makeSignup({ sheetTab: '' })])
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
