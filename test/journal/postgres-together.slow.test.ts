// @module-tag slow
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { addressesOf, makeSignup } from '../../harness/make-signup.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { openPostgresSites } from '../../src/journal/postgres/postgres-journal.ts'
import { layoutVersion } from '../../src/journal/tables/versions.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())
afterEach(() => vi.useRealTimers())

/** A journal with several instances, and a connection besides. */
async function world(instances: number) {
  await using made = new AsyncDisposableStack()
  const database = made.use(await server.createDatabase())
  const journals: Journal[] = []
  for (let at = 0; at < instances; at++) {
    journals.push(made.use(await openPostgresJournal(database.url)))
  }
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  made.defer(() => client.end())
  const all = made.move()
  return { url: database.url, journals, client, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const addressed = (email: string) => makeSignup({ email })

test('ten instances that open an empty database at the same time make one journal', async () => {
  await using made = new AsyncDisposableStack()
  const database = made.use(await server.createDatabase())
  const opened = await Promise.allSettled(
    Array.from({ length: 10 }, async () => made.use(await openPostgresJournal(database.url))),
  )
  expect(opened.filter(({ status }) => status === 'rejected')).toEqual([])
  const journals = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  await Promise.all(
    journals.map(({ intake }, at) => intake.append([addressed(`a${at}@b.example`)])),
  )
  for (const { reader } of journals) expect(await reader.page(0, 100)).toHaveLength(10)
  const rows = await database.query(`
    SELECT (SELECT array_agg(number) FROM rollcall.version) AS versions,
           (SELECT array_agg(name) FROM rollcall.site) AS sites`)
  expect(rows).toEqual([{ versions: [layoutVersion], sites: ['default'] }])
})

test('a signup that commits late is left out by no batch, and delivery does not wait for it', async () => {
  await using given = await world(2)
  const [one = expect.fail(), other = expect.fail()] = given.journals
  await one.intake.append([addressed('first@example.com')])
  // What an append does, but its commit takes long.
  await given.client.query(`
    BEGIN;
    SELECT position FROM rollcall.head FOR UPDATE;
    INSERT INTO rollcall.signup
      SELECT 2, gen_random_uuid(), tab, received_at, 'late@example.com', '', '', '', '', 0
      FROM rollcall.signup;
    UPDATE rollcall.tab SET accepted = accepted + 1;
    UPDATE rollcall.head SET position = 2`)
  const appended = one.intake.append([addressed('last@example.com')])
  const first = (await freezeNext(other.delivery)) ?? expect.fail()
  expect(addressesOf(first)).toEqual({ Sheet1: ['first@example.com'] })
  await other.delivery.settle(first.number, 1)
  expect(await other.delivery.pending()).toEqual([])
  expect(await other.reader.backlog()).toBe(0)
  await given.client.query('COMMIT')
  await appended
  expect(addressesOf(await freezeNext(other.delivery))).toEqual({
    Sheet1: ['late@example.com', 'last@example.com'],
  })
})

test('an append does not wait for a batch that is being frozen or settled', async () => {
  await using given = await world(2)
  const [one = expect.fail(), other = expect.fail()] = given.journals
  await one.intake.append([addressed('first@example.com')])
  await given.client.query('BEGIN; SELECT id FROM rollcall.site FOR UPDATE')
  let hasFrozen = false
  const frozen = freezeNext(one.delivery).finally(() => (hasFrozen = true))
  await other.intake.append([addressed('second@example.com')])
  await one.intake.append([makeSignup({ sheetTab: 'New' })])
  expect(hasFrozen).toBe(false)
  await given.client.query('COMMIT')
  expect(addressesOf(await frozen)['Sheet1']).toContain('first@example.com')
})

test.each([
  ['minute', 'seven minutes ahead', 7, { perMinute: 3, perDay: 100 }],
  ['minute', 'seven minutes behind', -7, { perMinute: 3, perDay: 100 }],
  ['day', 'two days ahead', 2 * 24 * 60, { perMinute: 100, perDay: 3 }],
])(
  'two machines keep the quota of a %s together, though the clock of one is %s',
  async (_, _name, minutes, quota) => {
    await using given = await world(1)
    const [one = expect.fail()] = given.journals
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 })
    await using other = await openPostgresJournal(given.url)
    const first = one.callLedger('account', one.time ?? expect.fail())
    const second = other.callLedger('account', other.time ?? expect.fail())
    for (const ledger of [first, second, first]) expect(await ledger.reserve(quota)).toBe(0)
    for (const ledger of [second, first])
      expect(await ledger.reserve(quota)).toBeGreaterThan(50_000)
  },
)

test('sites that make mails and reports at the same time, while signups are greeted, hinder nobody', async () => {
  await using made = new AsyncDisposableStack()
  const database = made.use(await server.createDatabase())
  const policy = { confirmation: { waitMs: 1 }, welcomes: true }
  const sites = new Map(['one', 'other', 'third'].map((name) => [name, policy] as const))
  const opened = made.use(await openPostgresSites(database.url, sites))
  const journals = [...opened.sites.values()]
  const addressing = { share: '', language: 'en' }
  const order = { kinds: ['confirm'], by: 'me', now: Date.now(), max: 5 } as const
  for (let round = 0; round < 20; round++) {
    const of = (kind: string) => addressed(`${kind}.${round}@example.com`)
    for (const { intake } of journals) await intake.ask([of('asked')], { addressing })
    const done = await Promise.allSettled(
      journals.flatMap(({ outbox, intake }, at) => [
        outbox.claim(order),
        outbox.add({ id: `${at}.${round}`, kind: 'report', body: '{}', at: order.now }),
        intake.append([of('greeted')], { greeting: addressing }),
      ]),
    )
    expect(done.filter(({ status }) => status === 'rejected')).toEqual([])
  }
  const counts = await database.query(
    'SELECT kind, count(*)::int AS count FROM rollcall.message GROUP BY kind ORDER BY kind',
  )
  expect(counts).toEqual([
    { kind: 'confirm', count: 60 },
    { kind: 'report', count: 60 },
    { kind: 'welcome', count: 60 },
  ])
})
