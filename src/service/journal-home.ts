import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { databaseHome } from './database-home.ts'
import { folderHome } from './folder-home.ts'
import type { JournalHome } from '../operations/journal-home.ts'
import type { World } from './world.ts'

/** The home of the journal by these settings. Opens nothing. */
export function journalHomeOf(
  config: Config,
  { databaseUrl }: Pick<Secrets, 'databaseUrl'>,
  world: Pick<World, 'clock'>,
): JournalHome {
  return databaseUrl === undefined
    ? folderHome(config, world)
    : databaseHome(config, databaseUrl, world)
}
