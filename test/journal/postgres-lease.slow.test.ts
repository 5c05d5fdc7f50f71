// @module-tag slow
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { makeSignup } from '../../harness/make-signup.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { PostgresDatabase } from '../../src/journal/postgres/database.ts'
import { openPostgresSites } from '../../src/journal/postgres/postgres-journal.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { held, holdLeaseTo } from './contracts/lease-contract.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server[Symbol.asyncDispose]())

holdLeaseTo('PostgreSQL, lease', async () => {
  const database = await server.createDatabase()
  const db = new PostgresDatabase(database.url, { clock: systemClock })
  return {
    open: () => openPostgresJournal(database.url),
    async pass(ms) {
      await db.exec(
        `UPDATE rollcall.lease SET expires_at = expires_at - ${ms} * interval '1 millisecond'`,
      )
    },
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
})

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
