// @module-tag slow
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import type { Signup } from '../../src/signup/signup.ts'

/** PostgreSQL may keep another plan from the sixth time on. */
const rounds = 8

const policy = { duplicates: 'ignore' } as const

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server[Symbol.asyncDispose]())

/** How many rows and entries of indexes the server has read in this database. Nobody may have it open. */
async function readsIn(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // A server process has told its counts when it has ended.
    for (let others = 1; others > 0;) {
      const { rows } = await client.query<{ count: string }>(
        'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
      others = Number(rows[0]?.count)
    }
    const { rows } = await client.query<{ reads: string }>(`
      SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS reads`)
    return Number(rows[0]?.reads)
  } finally {
    await client.end()
  }
}

async function analyze(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('ANALYZE')
  await client.end()
}

/** A journal with signups that were delivered in batches of 200, but for the last one. */
async function filled(url: string, count: number): Promise<readonly Signup[]> {
  await using journal = await openPostgresJournal(url, policy)
  const signups = makeSignups(count)
  for (let at = 0; at < count; at += 1000) await journal.intake.append(signups.slice(at, at + 1000))
  for (let at = 1; at < count / 200; at += 1) await deliver(journal, 200)
  // As Google's are pruned.
  const markers = await journal.delivery.endedMarkers()
  await journal.delivery.forgetMarkers(markers.map(({ id }) => id))
  return signups
}

async function deliver({ delivery }: Journal, rowsMax: number): Promise<void> {
  const batch = (await freezeNext(delivery, { rowsMax })) ?? expect.fail()
  await delivery.settle(batch.number, batch.number)
}

/** Everything that a service and its commands do often. */
async function work(url: string, signups: readonly Signup[]): Promise<void> {
  await using journal = await openPostgresJournal(url, policy)
  const { intake, imports, delivery, erasure, retention, compared, reader, lease } = journal
  const near = signups.length - 300
  const lastSettled = await compared.lastSettled()
  for (let round = 0; round < rounds; round += 1) {
    const signup = makeSignup({ email: `round${round}@example.com` })
    const idempotency = { space: '', key: `key ${round}`, fingerprint: '' }
    await lease.hold()
    await intake.append([signup], { idempotency, token: `token ${round}` })
    await intake.append(makeSignups(2))
    await intake.append([makeSignup({ sheetTab: `Tab ${round}` })], { client: '192.0.2.1' })
    await intake.recall(idempotency)
    await intake.find(signup.id)
    await intake.takesTab('Another', 0, '192.0.2.1')
    await intake.cursors(['Sheet1'])
    const person = signups[near + round] ?? signup
    await imports.add([makeSignup()], { keepsDuplicates: true })
    await reader.page(near, 10)
    await reader.backlog()
    await reader.waitingSince([])
    await reader.figures()
    await reader.counted(['accepted', 'suspect'], 0, Date.UTC(2030))
    await reader.shares(0, Date.UTC(2030))
    await erasure.forget(person.email)
    await erasure.eraseNext(near, person.email)
    for (const { position } of await erasure.removals(0)) {
      await erasure.removed([position])
    }
    await erasure.unfinished()
    await erasure.tombstones()
    await retention.expire(2)
    await compared.page(near, 20, lastSettled)
    await compared.at([near + 20 + round])
    await compared.deliverAgain([near + 20 + round], 1, lastSettled)
    await compared.noteArrived([near + 40 + round])
    await delivery.adoptMarkers([])
    await delivery.endedMarkers()
    const batch = (await freezeNext(delivery, { rowsMax: 10 })) ?? expect.fail()
    await delivery.frozenBatch()
    await delivery.release(batch)
    await deliver(journal, 10)
    await journal
      .callLedger('account', journal.time ?? expect.fail())
      .reserve({ perMinute: 99, perDay: 99 })
  }
}

test.each([
  ['that the server knows nothing about', false],
  ['that the server has analyzed', true],
])('no call reads more in a journal with four times the signups %s', async (_, isAnalyzed) => {
  const reads: number[] = []
  for (const count of [2_000, 8_000]) {
    await using database = await server.createDatabase()
    const { url } = database
    const signups = await filled(url, count)
    if (isAnalyzed) await analyze(url)
    // A start looks through what came since the one before, for people without a hash.
    await (await openPostgresJournal(url, policy))[Symbol.asyncDispose]()
    const before = await readsIn(url)
    await work(url, signups)
    reads.push((await readsIn(url)) - before)
  }
  const [small = 0, large = 0] = reads
  expect(large).toBeLessThan(small * 1.1)
})

test('only the first import reads the addresses of all signups', async () => {
  await using database = await server.createDatabase()
  const { url } = database
  await filled(url, 4_000)
  const reads: number[] = []
  for (const calls of [1, 9]) {
    const before = await readsIn(url)
    {
      await using journal = await openPostgresJournal(url, policy)
      for (let call = 0; call < calls; call += 1) await journal.imports.add(makeSignups(2))
    }
    reads.push((await readsIn(url)) - before)
  }
  const [first = 0, nine = 0] = reads
  expect(first).toBeGreaterThan(4_000)
  expect(nine - first).toBeLessThan(400)
})
