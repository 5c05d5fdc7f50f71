import { afterAll, beforeAll, expect, test } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { Overtaken } from '../../src/journal/overtaken.ts'
import { PostgresLease } from '../../src/journal/postgres/lease.ts'
import { siteLock } from '../../src/journal/postgres/locks.ts'
import { openPostgresSite } from '../../src/journal/postgres/postgres-journal.ts'
import { holdLeaseTo, type LeaseWorld } from './lease-contract.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server[Symbol.asyncDispose]())

async function createWorld() {
  const database = await server.createDatabase()
  const watch = await openPostgresSite(database.url)
  return {
    async open() {
      const site = await openPostgresSite(database.url)
      const lease = new PostgresLease(site)
      const assertTerm = () =>
        site.db.transaction(siteLock(site.id), (transaction) => lease.assertTerm(transaction))
      return { lease, assertTerm, [Symbol.asyncDispose]: () => site.db.close() }
    },
    async pass(ms) {
      await watch.db.exec(
        `UPDATE rollcall.lease SET expires_at = expires_at - ${ms} * interval '1 millisecond'`,
      )
    },
    async [Symbol.asyncDispose]() {
      await watch.db.close()
      await database[Symbol.asyncDispose]()
    },
  } satisfies LeaseWorld
}

holdLeaseTo('PostgreSQL, lease', createWorld)

test('only an instance that has lost the lease or given it up may not end a batch', async () => {
  await using world = await createWorld()
  await using one = await world.open()
  await using other = await world.open()
  await other.lease.hold()
  await one.assertTerm()
  await other.assertTerm()
  await world.pass(10_000)
  // Nobody has taken over yet.
  await other.assertTerm()
  await one.lease.hold()
  await one.assertTerm()
  await expect(other.assertTerm()).rejects.toThrow(Overtaken)
  await one.lease.release()
  await expect(one.assertTerm()).rejects.toThrow(Overtaken)
})

test('two sites in one database have a lease each', async () => {
  await using database = await server.createDatabase()
  const open = async (site: string) => {
    const { db, id } = await openPostgresSite(database.url, {}, { site })
    return { lease: new PostgresLease({ db, id }), [Symbol.asyncDispose]: () => db.close() }
  }
  await using news = await open('news')
  await using shop = await open('shop')
  expect(await news.lease.hold()).toMatchObject({ kind: 'held', term: 1 })
  expect(await shop.lease.hold()).toMatchObject({ kind: 'held', term: 1 })
})
