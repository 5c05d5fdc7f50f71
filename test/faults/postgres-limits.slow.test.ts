// @module-tag slow
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { ask, statementsOf } from '../../src/journal/sql.ts'
import {
  addAtOnce,
  addWord,
  createTransactionWorld,
  limits,
  lock,
  rejection,
  ways,
} from './transaction-world.ts'

const sql = statementsOf('limits', { rest: 'SELECT pg_sleep(5)' })

let server: PostgresServer
beforeAll(async () => (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

// By itself, because it keeps this process from doing anything else.
test('the server ends a transaction that stands still in the middle, and others get its lock', async () => {
  await using world = await createTransactionWorld(server)
  const stuck = rejection(
    world.db.transact([], function* () {
      yield* ask(lock, addWord)
      standStill(4 * limits.idleMs)
    }),
  )
  await stuck
  await addAtOnce(world.other)
  expect(await world.count()).toBe(1)
})

describe.concurrent('the limits of a transaction on PostgreSQL', () => {
  test.each(ways)(
    'a transaction does not wait for ever for a lock, and changes nothing then, %s',
    async (_, add) => {
      await using world = await createTransactionWorld(server)
      const { promise: isHeld, resolve } = Promise.withResolvers<unknown>()
      let isWanted = true
      const holder = world.other.transact([], function* () {
        yield* ask(lock)
        while (isWanted) resolve(yield* ask(addWord))
      })
      await isHeld
      await rejection(add(world.db))
      isWanted = false
      await holder
      const added = await world.count()
      await add(world.db)
      expect(await world.count()).toBe(added + 1)
    },
  )

  test('a statement that takes too long is ended, and its connection is not used again', async () => {
    await using world = await createTransactionWorld(server)
    await rejection(world.db.transact([], () => ask(lock, [sql.rest])))
    await addAtOnce(world.db)
    expect(await world.count()).toBe(1)
  })

  test('while the connection is half-open every call ends, and calls succeed when it is whole again', async () => {
    await using world = await createTransactionWorld(server)
    await addAtOnce(world.db)
    world.proxy.freeze()
    for (const [, add] of ways) await rejection(add(world.db))
    world.proxy.thaw()
    await addAtOnce(world.db)
    expect(await world.count()).toBe(2)
  })

  test('with 50 ms on the way to the database, calls that come together succeed', async () => {
    await using world = await createTransactionWorld(server)
    world.proxy.delayMs = 25
    await Promise.all(ways.map(([, add]) => add(world.db)))
    const began = performance.now()
    await addAtOnce(world.db)
    expect(performance.now() - began).toBeGreaterThan(45)
    expect(await world.count()).toBe(ways.length + 1)
  })
})

async function takeConnections(url: string): Promise<readonly Client[]> {
  const taken: Client[] = []
  for (;;) {
    const client = new Client(url)
    try {
      await client.connect()
    } catch {
      return taken
    }
    taken.push(client)
  }
}

test('when the database has no connection left, calls are refused and succeed later', async () => {
  await using small = await startPostgres({
    settings: { max_connections: '6', superuser_reserved_connections: '3' },
  })
  await using world = await createTransactionWorld(small)
  // Others hold all connections that the server still has.
  const holders = await takeConnections(small.url(world.database))
  const calls = Array.from({ length: 12 }, () => addAtOnce(world.db))
  const answers = await Promise.allSettled(calls)
  expect(answers.map(({ status }) => status)).toContain('rejected')
  await Promise.all(holders.map((it) => it.end()))
  for (const answer of answers) {
    if (answer.status === 'rejected') await rejection(Promise.reject(answer.reason as Error))
  }
  const added = answers.filter(({ status }) => status === 'fulfilled').length
  expect(await world.count()).toBe(added)
  // The server may take a moment to notice that the others have left.
  await expect.poll(() => addAtOnce(world.db).then(() => 'added', String)).toBe('added')
})

test.each(['fast', 'immediate'] as const)(
  'calls are refused while the database is stopped, and what was answered is there when it is back: %s',
  async (mode) => {
    await using mortal = await startPostgres({ isDurable: true })
    await using world = await createTransactionWorld(mortal)
    let answered = 0
    const add = async () => {
      for (;;) {
        await addAtOnce(world.db)
        answered += 1
      }
    }
    const refused = rejection(add())
    await expect.poll(() => answered).toBeGreaterThan(0)
    await mortal.stop(mode)
    await refused
    await rejection(addAtOnce(world.db))
    await mortal.start()
    // The last call may have been committed although its answer was lost.
    expect([answered, answered + 1]).toContain(await world.count())
    await addAtOnce(world.db)
  },
)

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
