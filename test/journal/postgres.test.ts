import { afterAll, beforeAll } from 'vitest'

import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openPostgresJournal } from '../../src/journal/postgres/postgres-journal.ts'
import { holdTo, type JournalWorld } from './contract.ts'
import { contracts } from './contracts.ts'

let server: PostgresServer
let template: string

beforeAll(async () => {
  server = await startPostgres()
  const { name, url } = await server.createDatabase()
  const journal = await openPostgresJournal(url)
  await journal[Symbol.asyncDispose]()
  template = name
})

afterAll(() => server[Symbol.asyncDispose]())

async function createWorld(): Promise<JournalWorld> {
  const database = await server.createDatabase(template)
  return {
    open: async (policy) => (await openPostgresJournal(database.url, policy)) as Journal,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

for (const name of [
  'intake log: used challenge tokens',
  'intake log: name spaces of idempotency keys',
  'intake log: new tabs of one client',
  'intake log: two instances append at once',
]) {
  holdTo(`PostgreSQL, ${name}`, contracts[name] ?? [], createWorld)
}
