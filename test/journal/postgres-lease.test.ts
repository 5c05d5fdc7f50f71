import { afterAll, beforeAll, expect, test } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { PostgresDatabase } from '../../src/journal/postgres/database.ts'
import { openPostgresJournal } from '../../src/journal/postgres/postgres-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { holdLeaseTo } from './lease-contract.ts'

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
      await db.close()
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
