import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { PostgresDatabase } from '../../src/journal/postgres/database.ts'
import { migrate } from '../../src/journal/postgres/migrate.ts'
import { openPostgresSites } from '../../src/journal/postgres/postgres-journal.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { JournalWorld } from './contracts/contract.ts'
import type { SitesWorld } from './second-site.ts'

/**
 * Makes worlds on one server that runs while the tests of this file do. A world that has ended leaves its
 * database to the next one, emptied: that takes a tenth of the time of a new database.
 *
 * @param startBefore starts a pooler before the server, and resolves with its port
 */
export function sharePostgresWorlds(
  startBefore = async ({ port }: PostgresServer) => port,
): () => Promise<JournalWorld & SitesWorld> {
  let server: PostgresServer
  let port: number
  const free: string[] = []
  beforeAll(async () => {
    server = await startPostgres()
    port = await startBefore(server)
  })
  afterAll(() => server[Symbol.asyncDispose]())
  return async () => {
    const name = free.pop() ?? (await makeDatabase(server))
    const url = server.url(name, port)
    return {
      open: (policy) => openPostgresJournal(url, policy),
      openSites: (policies) => openPostgresSites(url, policies),
      [Symbol.asyncDispose]: async () => {
        await empty(server.url(name))
        free.push(name)
      },
    }
  }
}

/** A database that has the journal's tables, but no site: every site has a code of its own. */
async function makeDatabase(server: PostgresServer): Promise<string> {
  const { name, url } = await server.createDatabase()
  const db = new PostgresDatabase(url, { clock: systemClock })
  await migrate(db)
  await db[Symbol.asyncDispose]()
  return name
}

/** Makes the journal as it was after its migrations. */
async function empty(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(emptying)
  await client.end()
}

const emptying = `
  DO $$ DECLARE one text; BEGIN
    FOR one IN SELECT tablename FROM pg_tables
      WHERE schemaname = 'rollcall' AND tablename NOT IN ('version', 'head', 'counter')
    LOOP EXECUTE format('DELETE FROM rollcall.%I', one); END LOOP;
  END $$;
  UPDATE rollcall.head SET position = 0, looks = 0;
  UPDATE rollcall.counter SET value = 0`
