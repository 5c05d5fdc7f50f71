import { createGoogleWorld, type GoogleWorld } from './google-world.ts'
import type { PostgresServer, TestDatabase } from './postgres-server.ts'

/** An emulated spreadsheet and a database, for any number of instances. */
export interface DatabaseWorld extends AsyncDisposable {
  readonly google: GoogleWorld
  readonly database: TestDatabase
  /** Settings of every instance. */
  readonly env: Readonly<Record<string, string>>
}

export async function createDatabaseWorld(server: PostgresServer): Promise<DatabaseWorld> {
  await using stack = new AsyncDisposableStack()
  const google = stack.use(await createGoogleWorld())
  const database = stack.use(await server.createDatabase())
  const all = stack.move()
  return {
    google,
    database,
    env: { ...google.env, DATABASE_URL: database.url },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
