import { afterAll, beforeAll } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { PostgresDatabase } from '../../src/journal/postgres/database.ts'
import { migrate } from '../../src/journal/postgres/migrate.ts'
import {
  openPostgresJournal,
  openPostgresSites,
} from '../../src/journal/postgres/postgres-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { ComparableWorld } from './comparison-contract.ts'
import type { SitesWorld } from './second-site.ts'

/**
 * Makes worlds on one server that runs while the tests of this file do.
 *
 * @param startBefore starts a pooler before the server, and resolves with its port
 */
export function sharePostgresWorlds(
  startBefore = async ({ port }: PostgresServer) => port,
): () => Promise<ComparableWorld & SitesWorld> {
  let server: PostgresServer
  let template: string
  let port: number
  beforeAll(async () => {
    server = await startPostgres()
    port = await startBefore(server)
    template = await makeTemplate(server)
  })
  afterAll(() => server[Symbol.asyncDispose]())
  return async () => {
    const database = await server.createDatabase(template)
    const url = server.url(database.name, port)
    return {
      open: (policy) => openPostgresJournal(url, policy),
      openSites: (policies) => openPostgresSites(url, policies),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    }
  }
}

/** A database that has the journal's tables, but no site: every site has a code of its own. */
async function makeTemplate(server: PostgresServer): Promise<string> {
  const { name, url } = await server.createDatabase()
  const db = new PostgresDatabase(url, { clock: systemClock })
  await migrate(db)
  await db.close()
  return name
}
