// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { JournalPolicy } from '../../src/journal/contracts/journal.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

/** A journal, and how many statements a call of it sends. */
async function world(policy: Partial<JournalPolicy>) {
  await using made = new AsyncDisposableStack()
  const database = made.use(await server.createDatabase())
  const proxy = made.use(await startPostgresProxy(server.port))
  const url = server.url(database.name, proxy.port)
  const journal = made.use(await openPostgresJournal(url, policy))
  const all = made.move()
  return {
    journal,
    statementsOf: async <T>(call: () => Promise<T>) => {
      const before = proxy.statements.length
      const result = await call()
      return { result, count: proxy.statements.length - before }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const addressing = { share: '', language: 'en' }
const confirmed = { confirmation: { waitMs: 1000 } }

test('a bulk of pending signups that is asked for again takes as many statements as a single one', async () => {
  await using given = await world(confirmed)
  const { intake } = given.journal
  const counts: number[] = []
  for (const size of [1, 300]) {
    const idempotency = { space: '', key: `${size}`, fingerprint: '' }
    const signups = makeSignups(size)
    await intake.ask(signups, { idempotency, addressing })
    const { result, count } = await given.statementsOf(() => intake.recall(idempotency))
    expect(result?.kind === 'replayed' && result.results.map((it) => it?.id)).toEqual(
      signups.map(({ id }) => id),
    )
    counts.push(count)
  }
  expect(counts[1]).toBe(counts[0])
})

test.each<[string, number, readonly [number, number]]>([
  ['people', 1, [1, 40]],
  ['people who ask again and again', 22, [1, 2]],
])(
  'to decide on mails takes as many statements for many %s as for one',
  async (_, times, sizes) => {
    await using given = await world(confirmed)
    const { intake, outbox } = given.journal
    const order = { kinds: ['confirm'], by: 'me', now: Date.now(), perHour: 100, max: 0 } as const
    const counts: number[] = []
    for (const size of sizes) {
      const people = makeSignups(size)
      for (let time = 0; time < times; time++) {
        await intake.ask(
          people.map(({ email }) => makeSignup({ email })),
          { addressing },
        )
      }
      counts.push((await given.statementsOf(() => outbox.claim(order))).count)
    }
    expect(counts[1]).toBe(counts[0])
  },
)

test('a claim takes as many statements for many mails as for one', async () => {
  await using given = await world(confirmed)
  const { intake, outbox } = given.journal
  await intake.ask(makeSignups(40), { addressing })
  const order = { kinds: ['confirm'], by: 'me', now: Date.now(), perHour: 100 } as const
  await outbox.claim({ ...order, max: 1 })
  const counts: number[] = []
  for (const max of [1, 20]) {
    const { result, count } = await given.statementsOf(() => outbox.claim({ ...order, max }))
    expect(result.messages).toHaveLength(max)
    counts.push(count)
  }
  expect(counts[1]).toBe(counts[0])
})

test('retention takes as many statements for many signups as for one', async () => {
  await using given = await world({})
  const { intake, delivery, retention } = given.journal
  const counts: number[] = []
  for (const size of [1, 40]) {
    await intake.append(makeSignups(size))
    const batch = (await freezeNext(delivery)) ?? expect.fail()
    await delivery.settle(batch.number, size)
    const { result, count } = await given.statementsOf(() => retention.expire(size + 1))
    expect(result).toBe(true)
    counts.push(count)
    // The end of the batch.
    await retention.expire(size + 1)
  }
  expect(counts[1]).toBe(counts[0])
})
