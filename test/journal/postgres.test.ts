import { afterAll, beforeAll } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { PostgresDatabase } from '../../src/journal/postgres/database.ts'
import { migrate } from '../../src/journal/postgres/migrate.ts'
import { openPostgresJournal } from '../../src/journal/postgres/postgres-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { callLedgerTests } from './call-ledger-contract.ts'
import { type ComparableWorld, comparisonTests } from './comparison-contract.ts'
import { holdTo } from './contract.ts'
import { contracts } from './contracts.ts'
import { previewedImports } from './import-log-contract.ts'

let server: PostgresServer
let template: string

beforeAll(async () => {
  server = await startPostgres()
  const { name, url } = await server.createDatabase()
  // It has tables, but no site: every site has a code of its own.
  const db = new PostgresDatabase(url, { clock: systemClock })
  await migrate(db)
  await db.close()
  template = name
})

afterAll(() => server[Symbol.asyncDispose]())

async function createWorld(): Promise<ComparableWorld> {
  const database = await server.createDatabase(template)
  return {
    open: (policy) => openPostgresJournal(database.url, policy),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`PostgreSQL, ${name}`, tests, createWorld)
}
holdTo('PostgreSQL, comparison', comparisonTests, createWorld)
holdTo('PostgreSQL, import log: previews', previewedImports, createWorld)
holdTo('PostgreSQL, call ledger: the calls of one account', callLedgerTests, createWorld)
