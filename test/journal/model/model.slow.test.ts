// @module-tag slow
import { expect, test } from 'vitest'

import { sharePostgresWorlds } from '../postgres-world.ts'
import { acts } from './acts.ts'
import { expectAllHold } from './expect-all-hold.ts'
import { sqliteStore } from './sqlite-store.ts'
import type { Store } from './world.ts'

const createWorld = sharePostgresWorlds()

/** A database's own tools make its backups, and its clock tells what has expired: all that a mail went for. */
async function postgresStore(): Promise<Store> {
  const world = await createWorld()
  return {
    open: (policy) => world.open(policy),
    crash: () => {},
    journalNow: () => Number.MAX_SAFE_INTEGER,
    startsAt: Date.UTC(2020, 10, 20, 10),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

const [minute, each] = [60_000, 40]

test(
  'on PostgreSQL, too, the journal tells what the contract says, whatever happens in any order',
  { timeout: 60 * minute },
  () => expectAllHold(postgresStore, { sequences: 10, each, seed: 1 }),
)

test(
  'in long sequences of acts the journal on SQLite tells what the contract says',
  { timeout: 60 * minute },
  async () => {
    const killed = new Set<string>()
    await expectAllHold(sqliteStore, { sequences: 300, each, seed: 1, killed })
    // A kill that never happened was not tested. The first three have no transaction.
    expect([...killed, 'backup', 'crash', 'tidy'].sort()).toEqual(Object.keys(acts).sort())
  },
)
