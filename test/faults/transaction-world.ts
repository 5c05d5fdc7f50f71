import { inspect } from 'node:util'
import { expect } from 'vitest'

import { waitUntil } from '../../harness/delivery-state.ts'
import { roles } from '../../harness/postgres-programs.ts'
import { type PostgresProxy, startPostgresProxy } from '../../harness/postgres-proxy.ts'
import type { PostgresServer } from '../../harness/postgres-server.ts'
import type { DatabaseLimits } from '../../src/journal/postgres/connections.ts'
import { PostgresDatabase } from '../../src/journal/postgres/database.ts'
import { ask, statementsOf, type Step } from '../../src/journal/sql.ts'
import { JournalUnavailable } from '../../src/journal/contracts/errors.ts'
import { systemClock } from '../../src/platform/clock.ts'

const sql = statementsOf('fault', {
  lock: 'SELECT id FROM turn FOR UPDATE',
  pause: 'SELECT pg_sleep(0.1)',
  add: 'INSERT INTO word (text) VALUES ($1)',
  addNext: `INSERT INTO word (text) SELECT 'word ' || count(*) FROM word`,
  commit: `SELECT current_setting('synchronous_commit') AS value`,
  count: 'SELECT count(*) AS count, count(DISTINCT text) AS different FROM word',
})

export const lock: Step = [sql.lock]
/** Keeps its connection busy for a moment. */
export const { pause } = sql
/** Tells for what a commit of the transaction waits. */
export const commitSetting = sql.commit
export const addNext: Step = [sql.addNext]
const secretWord = 'ada@example.com'
export const addWord: Step = [sql.add, secretWord]

/** Short, so that tests need not wait long for them, and long enough for a busy machine. */
export const limits = {
  connectionsMax: 4,
  connectMs: 3000,
  answerMs: 2500,
  lockMs: 1200,
  statementMs: 1200,
  idleMs: 600,
}

/** A database with a lock and a table of words. */
export interface TransactionWorld extends AsyncDisposable {
  readonly database: string
  readonly proxy: PostgresProxy
  /** An instance behind the proxy. */
  readonly db: PostgresDatabase
  /** An instance that the proxy does not harm. */
  readonly other: PostgresDatabase
  /** How many words there are. */
  count(): Promise<number>
  /** How many different words there are. */
  countDifferent(): Promise<number>
  /** Ends all connections of both instances, as a restart of the server does, and waits until they know. */
  closeAll(): Promise<void>
}

/** @param own limits for a test that must not meet the short ones */
export async function createTransactionWorld(
  server: PostgresServer,
  own: Partial<DatabaseLimits> = {},
): Promise<TransactionWorld> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await server.createDatabase())
  const proxy = stack.use(await startPostgresProxy(server.port))
  const open = (url: string) =>
    stack.adopt(
      new PostgresDatabase(url, { clock: systemClock, limits: { ...limits, ...own } }),
      (db) => db[Symbol.asyncDispose](),
    )
  const other = open(database.url)
  await other.exec(`CREATE SCHEMA rollcall; CREATE TABLE rollcall.word (text text);
    CREATE TABLE rollcall.turn (id integer); INSERT INTO rollcall.turn VALUES (1)`)
  const db = open(server.url(database.name, proxy.port))
  const all = stack.move()
  const counts = async () => (await other.query([sql.count]))[0].rows[0]
  return {
    database: database.name,
    proxy,
    db,
    other,
    count: async () => Number((await counts())?.['count']),
    countDifferent: async () => Number((await counts())?.['different']),
    closeAll: async () => {
      await server.query(
        `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE datname = '${database.name}'`,
      )
      await waitUntil(
        () => proxy.connections === 0,
        () => 'a connection is still open',
      )
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

type Add = (db: PostgresDatabase) => Promise<unknown>

/** Adds a word in one go. */
export function addAtOnce(db: PostgresDatabase, step = addWord): Promise<unknown> {
  return db.change([], lock, step)
}

/** Adds a word in a transaction of several round trips. */
export function addInSteps(db: PostgresDatabase, step = addWord): Promise<unknown> {
  return db.transact([], function* () {
    yield* ask(lock)
    yield* ask(step)
  })
}

/** The two ways to change something. */
export const ways: readonly (readonly [string, Add])[] = [
  ['in one go', addAtOnce],
  ['in several', addInSteps],
]

/** What a call was rejected with. Everything that a log could show of it is free of secrets. */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(JournalUnavailable)
  const shown = inspect(error, { depth: 9 })
  for (const secret of [roles.service.password, secretWord, 'postgres://', '127.0.0.1']) {
    expect(shown).not.toContain(secret)
  }
  return error
}
