import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { statementsOf } from '../../src/journal/postgres/statement.ts'
import {
  addWord,
  createTransactionWorld,
  limits,
  lock,
  rejection,
  ways,
} from './transaction-world.ts'

const sql = statementsOf('limits', { rest: 'SELECT pg_sleep(5)' })
const [[, addAtOnce]] = ways as [(typeof ways)[0]]

let server: PostgresServer
beforeAll(async () => (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

/** The longest time that a call may take: it waits for a connection and for an answer, twice. */
const callMsMax = 2 * (limits.connectMs + limits.answerMs) + 500

async function timed(call: Promise<unknown>): Promise<number> {
  const began = performance.now()
  await call
  return performance.now() - began
}

describe.concurrent('the limits of a transaction on PostgreSQL', () => {
  test('the server ends a transaction that stands still in the middle, and others get its lock', async () => {
    await using world = await createTransactionWorld(server)
    const stuck = rejection(
      world.db.transaction(lock, async (transaction) => {
        await transaction.run(...addWord)
        await sleep(limits.idleMs + 100)
      }),
    )
    await sleep(50)
    await addAtOnce(world.other)
    await stuck
    expect(await world.count()).toBe(1)
  })

  test.each(ways)(
    'a transaction does not wait for ever for a lock, and changes nothing then, %s',
    async (_, add) => {
      await using world = await createTransactionWorld(server)
      const { promise: isHeld, resolve } = Promise.withResolvers<unknown>()
      const holder = world.other.transaction(lock, async (transaction) => {
        for (const until = performance.now() + 2 * limits.lockMs; performance.now() < until;) {
          resolve(await transaction.run(...addWord))
        }
      })
      await isHeld
      expect(await timed(rejection(add(world.db)))).toBeLessThan(limits.answerMs)
      await holder
      const added = await world.count()
      await add(world.db)
      expect(await world.count()).toBe(added + 1)
    },
  )

  test('a statement that takes too long is ended, and its connection is not used again', async () => {
    await using world = await createTransactionWorld(server)
    const slow = () => world.db.transaction(lock, (transaction) => transaction.get(sql.rest))
    expect(await timed(rejection(slow()))).toBeLessThan(limits.answerMs)
    await addAtOnce(world.db)
  })

  test('while the connection is half-open every call ends in time, and calls succeed when it is whole again', async () => {
    await using world = await createTransactionWorld(server)
    await addAtOnce(world.db)
    world.proxy.freeze()
    for (const [, add] of ways) {
      expect(await timed(rejection(add(world.db)))).toBeLessThan(callMsMax)
    }
    world.proxy.thaw()
    await addAtOnce(world.db)
    expect(await world.count()).toBe(2)
  })

  test('with 50 ms on the way to the database, calls that come together succeed', async () => {
    await using world = await createTransactionWorld(server)
    world.proxy.delayMs = 25
    await Promise.all(ways.map(([, add]) => add(world.db)))
    const took = await timed(addAtOnce(world.db))
    // One round trip, and one more at the most.
    expect(took).toBeGreaterThan(50)
    expect(took).toBeLessThan(150)
  })
})

test('when the database has no connection left, calls are refused in time and succeed later', async () => {
  await using small = await startPostgres({
    settings: { max_connections: '6', superuser_reserved_connections: '3' },
  })
  await using world = await createTransactionWorld(small)
  const calls = Array.from({ length: 12 }, () => addAtOnce(world.db))
  const answers = await Promise.allSettled(calls)
  for (const answer of answers) {
    if (answer.status === 'rejected') await rejection(Promise.reject(answer.reason as Error))
  }
  const added = answers.filter(({ status }) => status === 'fulfilled').length
  expect(await world.count()).toBe(added)
  await addAtOnce(world.db)
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
    await sleep(100)
    await mortal.stop(mode)
    await refused
    await rejection(addAtOnce(world.db))
    await mortal.start()
    expect(answered).toBeGreaterThan(0)
    // The last call may have been committed although its answer was lost.
    expect([answered, answered + 1]).toContain(await world.count())
    await addAtOnce(world.db)
  },
)
