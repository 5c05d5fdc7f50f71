// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

const addressing = { share: '', language: 'en' }
const order = { kinds: ['confirm'], by: 'me', now: Date.now(), perHour: 100 } as const

/** Prepares a call about so many. The call resolves with how many it was about. */
type Prepare = (journal: Journal, size: number) => Promise<() => Promise<number | undefined>>

const calls: readonly (readonly [what: string, many: number, Prepare])[] = [
  [
    'a request of pending signups that comes again',
    300,
    async ({ intake }, size) => {
      const idempotency = { space: '', key: `${size}`, fingerprint: '' }
      await intake.ask(makeSignups(size), { idempotency, addressing })
      return async () => {
        const said = await intake.recall(idempotency)
        return said?.kind === 'replayed' ? said.results.length : undefined
      }
    },
  ],
  ...[1, 22].map(
    (times) =>
      [
        `deciding on mails of people who ask ${times} times`,
        times === 1 ? 40 : 2,
        async ({ intake, outbox }, size) => {
          for (let time = 0; time < times; time++) {
            const people = makeSignups(size).map(({ email }) => makeSignup({ email }))
            await intake.ask(people, { addressing })
          }
          return async () => {
            await outbox.claim({ ...order, max: 0 })
            return size
          }
        },
      ] as const satisfies readonly [string, number, Prepare],
  ),
  [
    'a claim of mails',
    20,
    async ({ intake, outbox }, size) => {
      await intake.ask(makeSignups(40), { addressing })
      await outbox.claim({ ...order, max: 0 })
      return async () => (await outbox.claim({ ...order, max: size })).messages.length
    },
  ],
  [
    'retention',
    40,
    async ({ intake, delivery, retention }, size) => {
      while (await retention.expire(1_000));
      await intake.append(makeSignups(size))
      const batch = (await freezeNext(delivery)) ?? expect.fail()
      await delivery.settle(batch.number, size)
      return async () => ((await retention.expire(1_000)) ? size : undefined)
    },
  ],
]

test.each(calls)('%s takes as many statements for many as for one', async (_, many, prepare) => {
  await using database = await server.createDatabase()
  await using proxy = await startPostgresProxy(server.port)
  const url = server.url(database.name, proxy.port)
  await using journal = await openPostgresJournal(url, { confirmation: { waitMs: 1000 } })
  const counts: number[] = []
  for (const size of [1, many]) {
    const call = await prepare(journal, size)
    const before = proxy.statements.length
    expect(await call()).toBe(size)
    counts.push(proxy.statements.length - before)
  }
  expect(counts[1]).toBe(counts[0])
})
