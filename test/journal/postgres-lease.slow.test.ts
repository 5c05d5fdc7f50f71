// @module-tag slow
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { Overtaken } from '../../src/journal/contracts/errors.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import type { Lease } from '../../src/journal/contracts/lease.ts'
import { openPostgresSites } from '../../src/journal/postgres/postgres-journal.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server[Symbol.asyncDispose]())

const noon = Date.UTC(2026, 10, 20, 12)
const elsewhere = { kind: 'elsewhere' }

/** Makes so much time pass for the lease, in milliseconds. */
type Pass = (ms: number) => Promise<void>

/** A test with two instances of a site on one database. */
function inTwo(work: (one: Journal, other: Journal, pass: Pass) => Promise<void>) {
  return async () => {
    await using database = await server.createDatabase()
    await using one = await openPostgresJournal(database.url)
    await using other = await openPostgresJournal(database.url)
    await work(one, other, async (ms) => {
      await database.query(
        `UPDATE rollcall.lease SET expires_at = expires_at - ${ms} * interval '1 millisecond'`,
      )
    })
  }
}

async function held(lease: Lease): Promise<{ readonly term: number; readonly forMs: number }> {
  const tenure = await lease.hold()
  return tenure.kind === 'held' ? tenure : expect.fail('another instance holds the lease')
}

async function frozen({ intake, delivery }: Journal) {
  await intake.append(makeSignups(2))
  return (await freezeNext(delivery)) ?? expect.fail()
}

test(
  'one instance takes the lease, and another one is refused',
  inTwo(async (one, other) => {
    const { forMs } = await held(one.lease)
    expect(forMs).toBeGreaterThan(0)
    expect(forMs).toBeLessThan(10_000)
    expect(await other.lease.hold()).toEqual(elsewhere)
  }),
)

test(
  'the lease is renewed in the same term, and lives from then on',
  inTwo(async (one, other, pass) => {
    const { term, forMs } = await held(one.lease)
    await pass(forMs)
    expect(await held(one.lease)).toEqual({ kind: 'held', term, forMs })
    await pass(forMs)
    expect(await other.lease.hold()).toEqual(elsewhere)
  }),
)

test(
  'another instance takes over when the life is over, and each further term is a higher one',
  inTwo(async (one, other, pass) => {
    const first = await held(one.lease)
    await pass(10_000)
    const second = await held(other.lease)
    expect(second.term).toBeGreaterThan(first.term)
    expect(await one.lease.hold()).toEqual(elsewhere)
    await other.lease.release()
    expect((await held(one.lease)).term).toBeGreaterThan(second.term)
  }),
)

test(
  'a clock that is set back lets the holder go on, and keeps no other instance out for long',
  inTwo(async (one, other, pass) => {
    const { term } = await held(one.lease)
    await pass(-3_600_000)
    expect(await other.lease.hold()).toEqual(elsewhere)
    expect(await held(one.lease)).toMatchObject({ term })
    await pass(-3_600_000)
    expect(await other.lease.hold()).toEqual(elsewhere)
    await pass(10_000)
    expect((await held(other.lease)).term).toBeGreaterThan(term)
  }),
)

test(
  'a release by an instance that does not hold the lease changes nothing',
  inTwo(async (one, other, pass) => {
    await other.lease.release()
    await held(other.lease)
    await pass(10_000)
    const { term } = await held(one.lease)
    await other.lease.release()
    expect(await other.lease.hold()).toEqual(elsewhere)
    expect(await held(one.lease)).toMatchObject({ term })
  }),
)

test(
  'of two instances that ask at once, one gets the lease, over and over',
  inTwo(async ({ lease: one }, { lease: other }, pass) => {
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all([one.hold(), other.hold(), one.hold(), other.hold()])
      const holders = [answers[0], answers[1]].filter(({ kind }) => kind === 'held')
      expect(holders).toHaveLength(1)
      expect(answers.slice(2)).toEqual(answers.slice(0, 2))
      await pass(10_000)
    }
  }),
)

test.each(['settles', 'releases'])(
  'an instance that has lost the lease %s no batch, and changes nothing',
  async (way) => {
    await inTwo(async (one, other, pass) => {
      await held(one.lease)
      const batch = await frozen(one)
      await pass(10_000)
      await held(other.lease)
      const { delivery } = one
      const end = () =>
        way === 'settles' ? delivery.settle(batch.number, noon) : delivery.release(batch)
      await expect(end()).rejects.toThrow(Overtaken)
      expect(await other.delivery.frozenBatch()).toEqual(batch)
      await other.delivery.settle(batch.number, noon)
      expect(await delivery.pending()).toEqual([])
    })()
  },
)

test(
  'an instance that has given the lease up ends no batch',
  inTwo(async (one) => {
    await held(one.lease)
    const batch = await frozen(one)
    await one.lease.release()
    await expect(one.delivery.settle(batch.number, noon)).rejects.toThrow(Overtaken)
    await held(one.lease)
    await one.delivery.settle(batch.number, noon)
  }),
)

test.each(['whose time is over', 'that never held it'])(
  'an instance %s ends the batch as long as nobody has taken over',
  async (which) => {
    await inTwo(async (one, other, pass) => {
      await held(one.lease)
      const batch = await frozen(one)
      if (which === 'whose time is over') await pass(10_000)
      const { delivery } = which === 'whose time is over' ? one : other
      await delivery.settle(batch.number, noon)
      expect(await one.delivery.frozen()).toBeUndefined()
    })()
  },
)

test('two sites in one database have a lease each', async () => {
  await using database = await server.createDatabase()
  await using news = await openPostgresJournal(database.url, {}, { site: 'news' })
  await using shop = await openPostgresJournal(database.url, {}, { site: 'shop' })
  expect(await news.lease.hold()).toMatchObject({ kind: 'held', term: 1 })
  expect(await shop.lease.hold()).toMatchObject({ kind: 'held', term: 1 })
})

test('the leases of all sites of an instance are taken and renewed together, and its idle writers and senders look together', async () => {
  await using database = await server.createDatabase()
  await using proxy = await startPostgresProxy(server.port)
  const names = Array.from({ length: 20 }, (_, at) => `site-${at}`)
  await using opened = await openPostgresSites(
    server.url(database.name, proxy.port),
    new Map(names.map((name) => [name, {}])),
  )
  const journals = [...opened.sites.values()]
  const transactionsOf = async (ask: (journal: Journal) => Promise<unknown>) => {
    const before = proxy.statements.length
    await Promise.all(journals.map(ask))
    return proxy.statements.slice(before).filter((sql) => sql.startsWith('BEGIN')).length
  }
  for (const _ of [1, 2]) expect(await transactionsOf(({ lease }) => held(lease))).toBe(1)
  expect(await transactionsOf(({ delivery }) => delivery.pending())).toBe(1)
  expect(await transactionsOf(({ erasure }) => erasure.removals(0))).toBe(1)
  expect(await transactionsOf(({ reader }) => reader.fact('delivery'))).toBe(1)
  const order = { kinds: ['confirm', 'welcome', 'report'], by: 'me', now: 0, max: 5 } as const
  expect(await transactionsOf(({ outbox }) => outbox.claim(order))).toBe(1)
})

test('an instance that gets the leases of some sites knows which', async () => {
  await using database = await server.createDatabase()
  const open = (...names: readonly string[]) =>
    openPostgresSites(database.url, new Map(names.map((name) => [name, {}])))
  await using one = await open('news', 'shop')
  await using other = await open('blog', 'news', 'shop', 'test')
  const hold = async (name: string, { sites } = other) => sites.get(name)?.lease.hold()
  await Promise.all([hold('shop', one), hold('news', one)])
  const kinds = await Promise.all(['blog', 'news', 'shop', 'test'].map((name) => hold(name)))
  expect(kinds.map((tenure) => tenure?.kind)).toEqual(['held', 'elsewhere', 'elsewhere', 'held'])
})

test('the lease is renewed while all other connections of its instance wait', async () => {
  await using database = await server.createDatabase()
  await using journal = await openPostgresJournal(
    database.url,
    {},
    { limits: { connectionsMax: 1 } },
  )
  const other = new Client(database.url)
  await other.connect()
  await other.query('BEGIN; SELECT position FROM rollcall.head FOR UPDATE')
  let isAppended = false
  const appended = journal.intake.append([makeSignup()]).then(() => (isAppended = true))
  expect(await journal.lease.hold()).toMatchObject({ kind: 'held' })
  expect(await journal.lease.hold()).toMatchObject({ kind: 'held', term: 1 })
  expect(isAppended).toBe(false)
  await other.query('COMMIT')
  await appended
  await other.end()
})

test('a lease whose connection hangs is renewed on another one by the same call', async () => {
  await using database = await server.createDatabase()
  await using proxy = await startPostgresProxy(server.port)
  await using journal = await openPostgresJournal(server.url(database.name, proxy.port))
  const { term } = await held(journal.lease)
  proxy.fail(/INSERT INTO lease/, 'hang before')
  expect(await held(journal.lease)).toMatchObject({ term })
  expect(proxy.failed).toBe(1)
})
