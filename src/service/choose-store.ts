import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { databaseStore } from './database-store.ts'
import { folderStore } from './folder-store.ts'
import type { Store } from './store.ts'
import type { World } from './world.ts'

/** The store of these settings. Opens nothing. */
export function storeOf(
  config: Config,
  { databaseUrl }: Pick<Secrets, 'databaseUrl'>,
  world: Pick<World, 'clock'>,
): Store {
  return databaseUrl === undefined
    ? folderStore(config, world)
    : databaseStore(config, databaseUrl, world)
}
