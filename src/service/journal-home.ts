import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { folderHome } from './folder-home.ts'
import type { JournalHome } from '../operations/journal-home.ts'
import type { World } from './world.ts'

/** The home of the journal by these settings. Opens nothing. The driver of PostgreSQL is loaded for a database only. */
export async function journalHomeOf(
  config: Config,
  { databaseUrl }: Pick<Secrets, 'databaseUrl'>,
  world: Pick<World, 'clock'>,
): Promise<JournalHome> {
  if (databaseUrl === undefined) return folderHome(config, world)
  const { databaseHome } = await import('./database-home.ts')
  return databaseHome(config, databaseUrl, world)
}
