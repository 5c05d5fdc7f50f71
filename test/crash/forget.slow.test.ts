// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'
import pg from 'pg'

import { createDatabaseWorld, type DatabaseWorld } from '../../harness/database-world.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { type PostgresProxy, startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { waitUntil } from '../../harness/delivery-state.ts'

// test/system/forget.test.ts does the same with a journal in SQLite.

const noon = Date.UTC(2026, 10, 20, 12)
const policy = { duplicates: 'ignore' } as const

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

/** Makes a process stop before it does something. Returns whether it has come to that. */
type StopBefore = (world: DatabaseWorld, proxy: PostgresProxy) => () => boolean

/** A statement does not arrive. */
function statement(pattern: RegExp): StopBefore {
  return (_, proxy) => {
    proxy.fail(pattern, 'hang before')
    return () => proxy.failed > 0
  }
}

/** The call that removes a row has no answer. */
function removal(apply: 'never' | 'now'): StopBefore {
  return ({ google: { emulator } }) => {
    emulator.log.reset()
    emulator.faults.add({ on: 'batchUpdate', apply, answer: 'drop', delayMs: 600_000 })
    return () => emulator.log.calls('batchUpdate').length > 0
  }
}

const tombstone = 'it sets the tombstone'

const stops: readonly (readonly [string, StopBefore])[] = [
  [tombstone, statement(/INSERT INTO tombstone/)],
  ['it looks for signups of the person', statement(/SELECT position, email FROM signup[^;]*CAST/)],
  ['it erases the cells', statement(/INSERT INTO removal/)],
  ['it counts the rows that wait', statement(/count\(\*\) FILTER/)],
  ['the row is removed', removal('never')],
  ['it hears that the row is removed', removal('now')],
  ['it notes that the row is removed', statement(/DELETE FROM removal/)],
]

test.concurrent.each(stops)(
  'what forget has begun when it is killed before %s is done by the next one, even when cells expire in between',
  async (step, stopBefore) => {
    await using world = await createDatabaseWorld(server)
    const { google, database, env } = world
    const people = ['expires@example.com', 'stays@example.com'] as const
    await using journal = await openPostgresJournal(database.url, policy)
    const rows = async () => (await addressesInSheet(google)).filter((address) => address !== '')
    const signUp = async (email: string, at: number) => {
      await journal.intake.append([makeSignup({ email, receivedAt: at })])
      const batch = (await freezeNext(journal.delivery)) ?? expect.fail()
      await google.connect().write(batch, AbortSignal.timeout(60_000))
      await journal.delivery.settle(batch.number, at)
    }
    for (const [at, email] of people.entries()) await signUp(email, noon + at)
    expect(await rows()).toEqual(people)

    for (const [at, email] of people.entries()) {
      await using proxy = await startPostgresProxy(server.port)
      const isReached = stopBefore(world, proxy)
      const proxied = { ...env, DATABASE_URL: server.url(database.name, proxy.port) }
      const killed = startCommand(['forget', '-'], { env: proxied, input: email })
      await waitUntil(isReached, () => `forget has not come so far: ${killed.stderr()}`)
      killed.kill('SIGKILL')
      expect(await killed.ended).toMatchObject({ code: null, stdout: '' })
      proxy.cut()
      google.emulator.faults.clear()
      google.emulator.releaseLate()
      // Nobody could remove the row of cells that expire before the tombstone is set.
      const expires = at === 0 && step !== tombstone
      while (expires && (await journal.retention.expire(noon + 1)));

      expect(await runCommand(['forget', '-'], { env, input: email })).toMatchObject({ code: 0 })
      expect(await rows()).not.toContain(email)
      expect(await contentOf(database.url)).not.toContain(email)
      await signUp(email, noon + 9)
      expect(await rows()).toContain(email)
    }
    expect((await rows()).toSorted()).toEqual(people)
  },
)

/** All rows of all tables of the journal. */
async function contentOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ table: string }>(
    `SELECT tablename AS table FROM pg_tables WHERE schemaname = 'rollcall'`,
  )
  expect(rows.length).toBeGreaterThan(10)
  const texts: string[] = []
  for (const { table } of rows) {
    const found = await client.query(`SELECT * FROM rollcall.${table}`)
    texts.push(JSON.stringify(found.rows))
  }
  await client.end()
  return texts.join('\n')
}
