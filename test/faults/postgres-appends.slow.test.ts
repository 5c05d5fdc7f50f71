// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { waitUntil } from '../../harness/delivery-state.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import {
  failingWith,
  type PostgresProxy,
  startPostgresProxy,
} from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Appended } from '../../src/journal/contracts/intake-log.ts'
import type { Journal, JournalPolicy } from '../../src/journal/contracts/journal.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { OutcomeUnknown } from '../../src/journal/contracts/errors.ts'
import { limits } from './transaction-world.ts'

let server: PostgresServer
let template: string
beforeAll(async () => {
  server = await startPostgres()
  const { name, url } = await server.createDatabase()
  await (await openPostgresJournal(url))[Symbol.asyncDispose]()
  template = name
})
afterAll(() => server[Symbol.asyncDispose]())

interface World extends AsyncDisposable {
  /** Its name. */
  readonly database: string
  readonly proxy: PostgresProxy
  /** Behind the proxy. */
  readonly harmed: Journal
  readonly other: Journal
  /** The addresses in the journal, in order. */
  addresses(): Promise<string[]>
}

async function createWorld(
  usedLimits: Partial<typeof limits> = limits,
  policy: Partial<JournalPolicy> = {},
): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await server.createDatabase(template))
  const proxy = stack.use(await startPostgresProxy(server.port))
  const behind = server.url(database.name, proxy.port)
  const harmed = stack.use(await openPostgresJournal(behind, policy, { limits: usedLimits }))
  const other = stack.use(await openPostgresJournal(database.url))
  // Makes the tab.
  await other.intake.append([makeSignup({ email: 'first@example.com' })])
  await harmed.intake.append([makeSignup({ email: 'second@example.com' })])
  const all = stack.move()
  return {
    database: database.name,
    proxy,
    harmed,
    other,
    addresses: async () => (await other.reader.page(2, 10_000)).map(({ signup }) => signup.email),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Appends a signup like a client that repeats its request by its idempotency key. */
function append({ intake }: Journal, email: string): Promise<Appended> {
  const idempotency = { space: '', key: email, fingerprint: email }
  return intake.append([makeSignup({ email })], { idempotency })
}

/** Resolves when a fault was applied. */
function hasFailed(proxy: PostgresProxy): Promise<void> {
  return waitUntil(
    () => proxy.failed === 1,
    () => 'no statement has met the fault',
  )
}

/** Resolves when the server has carried out all of a transaction but its commit. The proxy is ahead of it. */
function standsOpen({ database }: World): Promise<void> {
  const open = `SELECT 1 FROM pg_stat_activity WHERE datname = '${database}' AND state = 'idle in transaction'`
  return waitUntil(
    async () => (await server.query(open)).rowCount === 1,
    () => 'no transaction stands open',
  )
}

const [ada, grace] = ['ada@example.com', 'grace@example.com']
const commitFaults = ['cut before', 'cut after', 'hang before', 'hang after'] as const

describe.concurrent('appends to a journal on PostgreSQL under faults', () => {
  test.each(commitFaults.map((fault) => ({ fault })))(
    'a signup whose commit has no answer is one row, and its visitor is told so: $fault',
    async ({ fault }) => {
      await using world = await createWorld()
      world.proxy.fail(/^COMMIT/, fault)
      const [one, other] = await Promise.all([
        append(world.harmed, ada),
        append(world.other, grace),
      ])
      expect([one, other]).toMatchObject([{ kind: 'appended' }, { kind: 'appended' }])
      expect((await world.addresses()).sort()).toEqual([ada, grace])
      expect(await append(world.other, ada)).toMatchObject({ kind: 'replayed' })
    },
  )

  test.each(commitFaults.map((fault) => ({ fault })))(
    'a request that takes the last seats is told how many, although its commit has no answer: $fault',
    async ({ fault }) => {
      await using world = await createWorld(limits, { closing: { after: 4 } })
      world.proxy.fail(/^COMMIT/, fault)
      const signups = ['a', 'b', 'c', 'd'].map((it) => makeSignup({ email: `${it}@example.com` }))
      const answer = await world.harmed.intake.append(signups)
      const results = 'results' in answer ? answer.results : []
      expect(results.map((told) => told?.id)).toEqual(signups.slice(0, 2).map(({ id }) => id))
      expect(await world.addresses()).toEqual(['a@example.com', 'b@example.com'])
    },
  )

  test.each(commitFaults.map((fault) => ({ fault })))(
    'while the outcome of a commit cannot be found out the append is refused, and its retry is one row: $fault',
    async ({ fault }) => {
      await using world = await createWorld()
      world.proxy.fail(/^COMMIT/, fault)
      // Nobody gets an answer to a look for the outcome.
      world.proxy.fail(/^UPDATE head SET looks/, 'cut before', Infinity)
      const refused = append(world.harmed, ada)
      await expect(refused).rejects.toThrow(OutcomeUnknown)
      const isThere = fault.endsWith('after')
      expect(await world.addresses()).toEqual(isThere ? [ada] : [])
      const kind = isThere ? 'replayed' : 'appended'
      expect(await append(world.other, ada)).toMatchObject({ kind })
      expect(await world.addresses()).toEqual([ada])
    },
  )

  test.each(['57014', '40001'])(
    'a signup is one row when the database refuses only to begin its transaction: %s',
    async (code) => {
      await using world = await createWorld()
      world.proxy.fail(/^BEGIN/, failingWith(code))
      expect(await append(world.harmed, ada)).toMatchObject({ kind: 'appended' })
      expect(await world.addresses()).toEqual([ada])
      expect(await append(world.other, ada)).toMatchObject({ kind: 'replayed' })
    },
  )

  test('a stored signup is answered although the answer to a known key of its group cannot be read', async () => {
    await using world = await createWorld()
    await append(world.other, ada)
    world.proxy.fail(/WHERE signup.position BETWEEN/, 'cut before', Infinity)
    const [again, stored] = await Promise.allSettled([
      append(world.harmed, ada),
      append(world.harmed, grace),
    ])
    expect(stored).toMatchObject({ status: 'fulfilled', value: { kind: 'appended' } })
    // What the first request with this key has stored is in the journal.
    expect(again).toMatchObject({ status: 'rejected', reason: { name: 'OutcomeUnknown' } })
    expect(await world.addresses()).toEqual([ada, grace])
  })

  test('a signup is settled although its answer was awaited for longer than all looks may take', async () => {
    await using world = await createWorld({ ...limits, answerMs: 6500 })
    world.proxy.fail(/^COMMIT/, 'hang after')
    expect(await append(world.harmed, ada)).toMatchObject({ kind: 'appended' })
    expect(await world.addresses()).toEqual([ada])
  })

  test('a signup that commits late comes before all that were accepted after it, and is not skipped', async () => {
    // The server lets a transaction stand still for long enough, and a lock be awaited, on a busy machine.
    const patient = { answerMs: 60_000, lockMs: 60_000, statementMs: 60_000, idleMs: 60_000 }
    await using world = await createWorld(patient)
    const { promise: until, resolve: release } = Promise.withResolvers<undefined>()
    world.proxy.fail(/^COMMIT/, { after: until })
    const answered: string[] = []
    const late = append(world.harmed, ada).then(() => answered.push(ada))
    await hasFailed(world.proxy)
    await standsOpen(world)
    const next = append(world.other, grace).then(() => answered.push(grace))
    await sleep(100)
    // Nobody has got past the open transaction.
    expect([answered, await world.addresses()]).toEqual([[], []])
    release(undefined)
    await Promise.all([late, next])
    expect(await world.addresses()).toEqual([ada, grace])
  })

  test('an instance that stands still in the middle of an append delays the others, and refuses none of their signups', async () => {
    await using world = await createWorld({})
    world.proxy.fail(/^COMMIT/, 'hang before')
    const lost = append(world.harmed, ada).catch((error: unknown) => error)
    await hasFailed(world.proxy)
    expect(await append(world.other, grace)).toMatchObject({ kind: 'appended' })
    await lost
    expect(await world.addresses()).toContain(grace)
  })
})
