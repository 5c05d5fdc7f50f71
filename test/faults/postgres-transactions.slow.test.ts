// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { waitUntil } from '../../harness/delivery-state.ts'
import { failingWith, type StatementFault } from '../../harness/postgres-proxy.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { ask } from '../../src/journal/sql.ts'
import {
  addAtOnce,
  addInSteps,
  addNext,
  commitSetting,
  createTransactionWorld,
  lock,
  pause,
  rejection,
  ways,
} from './transaction-world.ts'

let server: PostgresServer
beforeAll(async () => {
  // Commits with `synchronous_commit = on` wait for a standby that never comes.
  const settings = {
    ...{ wal_level: 'replica', max_wal_senders: '1' },
    ...{ synchronous_standby_names: 'nobody', synchronous_commit: 'local' },
  }
  server = await startPostgres({ settings })
})
afterAll(() => server[Symbol.asyncDispose]())

const lostCommits: readonly (readonly [StatementFault, number])[] = [
  ['cut before', 0],
  ['hang before', 0],
  ['cut after', 1],
  ['hang after', 1],
]
/** The statement whose commit waits for the disk. */
const putOnDisk = /pg_logical_emit_message/
const breaks = ['cut before', 'cut after', 'hang before', 'hang after'] as const

describe.concurrent('a transaction on PostgreSQL', () => {
  test.each(
    ways.flatMap(([way, add]) => lostCommits.map(([fault, rows]) => ({ way, add, fault, rows }))),
  )(
    'a commit whose connection breaks is reported as unknown: $fault, $way',
    async ({ add, fault, rows }) => {
      await using world = await createTransactionWorld(server)
      world.proxy.fail(/^COMMIT/, fault)
      expect(await rejection(add(world.db))).toMatchObject({ name: 'OutcomeUnknown' })
      expect(await world.count()).toBe(rows)
      // The connection is not used again, and its lock is soon free.
      await add(world.db)
      expect(await world.count()).toBe(rows + 1)
    },
  )

  test.each(ways)(
    'a commit that did not wait for its standby to the end is reported as unknown, %s',
    async (_, add) => {
      await using world = await createTransactionWorld(server)
      await world.other.exec(`ALTER DATABASE ${world.database} SET synchronous_commit = on`)
      await world.closeAll()
      const adding = rejection(add(world.db))
      await waitUntil(
        async () => {
          const { rowCount } = await server.query(
            `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
           WHERE datname = '${world.database}' AND wait_event = 'SyncRep'`,
          )
          return rowCount === 1
        },
        () => 'no commit waited for its standby',
      )
      expect(await adding).toMatchObject({ name: 'OutcomeUnknown' })
    },
  )

  test('connections to a server that was the primary are left all at once', async () => {
    await using world = await createTransactionWorld(server)
    const setReadOnly = (value: string) =>
      world.other.exec(
        `ALTER DATABASE ${world.database} SET default_transaction_read_only = ${value}`,
      )
    await setReadOnly('on')
    await world.closeAll()
    await Promise.all(Array.from({ length: 4 }, () => world.db.query([pause])))
    await server.query(`ALTER DATABASE ${world.database} RESET default_transaction_read_only`)
    await addAtOnce(world.db)
    expect(await world.count()).toBe(1)
  })

  test.each(ways.flatMap(([way, add]) => ['40001', '40P01'].map((code) => ({ way, add, code }))))(
    'a transaction that fails with $code runs again and changes nothing twice, $way',
    async ({ add, code }) => {
      await using world = await createTransactionWorld(server)
      const places = [/^SELECT id/, /^INSERT/, /^COMMIT/]
      for (const [before, place] of places.entries()) {
        world.proxy.fail(place, failingWith(code), 2)
        await add(world.db)
        expect(await world.count(), String(place)).toBe(before + 1)
      }
      expect(world.proxy.failed).toBe(2 * places.length)
    },
  )

  test('nothing is changed when the database refuses to begin a transaction, or it is reported as unknown', async () => {
    await using world = await createTransactionWorld(server)
    world.proxy.fail(/^BEGIN/, failingWith('57014'), 2)
    await rejection(addInSteps(world.db))
    expect(await world.count()).toBe(0)
    expect(await rejection(addAtOnce(world.db))).toMatchObject({ name: 'OutcomeUnknown' })
  })

  test.each(breaks)(
    'a transaction whose connection breaks before its commit is sent runs once more: %s',
    async (fault) => {
      await using world = await createTransactionWorld(server)
      const add = () => addInSteps(world.db)
      world.proxy.fail(/^INSERT/, fault)
      await add()
      expect(await world.count()).toBe(1)
      world.proxy.fail(/^INSERT/, fault, 2)
      await rejection(add())
      expect(await world.count()).toBe(1)
    },
  )

  test.each(['read committed', 'repeatable read', 'serializable'])(
    'instances that write at once see what the others have written, also if the default isolation is %s',
    async (isolation) => {
      // Sixteen wait for one lock in turn.
      const patient = { lockMs: 20_000, statementMs: 20_000, idleMs: 20_000, answerMs: 30_000 }
      await using world = await createTransactionWorld(server, patient)
      await world.other.exec(
        `ALTER DATABASE ${world.database} SET default_transaction_isolation = '${isolation}'`,
      )
      await world.closeAll()
      const instances = Array.from({ length: 4 }, () => [world.db, world.other]).flat()
      const adds = instances.flatMap((db) => [addAtOnce(db, addNext), addInSteps(db, addNext)])
      await Promise.all(adds)
      expect(await world.countDifferent()).toBe(adds.length)
    },
  )

  test.each([
    ['off', 'on'],
    ['local', 'local'],
    ['remote_write', 'remote_write'],
    ['remote_apply', 'remote_apply'],
  ])(
    'a commit waits for the disk, and for a standby as the server is set: %s',
    async (set, used) => {
      await using world = await createTransactionWorld(server)
      await server.query(`ALTER DATABASE ${world.database} SET synchronous_commit = ${set}`)
      await world.closeAll()
      const [found] = await world.db.change([], [commitSetting])
      expect(found.rows).toEqual([{ value: used }])
    },
  )

  test('others do not wait for a lock until a commit is on disk, only its caller does', async () => {
    await using world = await createTransactionWorld(server)
    world.proxy.fail(putOnDisk, 'hang before')
    const adding = rejection(addInSteps(world.db))
    await waitUntil(
      () => world.proxy.failed > 0,
      () => 'nothing is put on disk',
    )
    await world.other.change([], lock)
    expect(await world.count()).toBe(1)
    expect(await adding).toMatchObject({ name: 'OutcomeUnknown' })
  })

  test('work that would only be done again does not wait for the disk', async () => {
    await using world = await createTransactionWorld(server)
    const setting = () => ask([commitSetting])
    const [found] = await world.db.transact([], setting, { isSynced: false })
    expect(found.rows).toEqual([{ value: 'off' }])
    expect(
      world.proxy.statements.filter((text) => text.includes('pg_logical_emit_message')),
    ).toEqual([])
  })

  test.each(ways)(
    'a connection that was closed while it was idle costs no call, %s',
    async (_, add) => {
      await using world = await createTransactionWorld(server)
      await add(world.db)
      await world.closeAll()
      await add(world.db)
      expect(await world.count()).toBe(2)
    },
  )
})
