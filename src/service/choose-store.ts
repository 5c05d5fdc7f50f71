import type { Config } from '../config/config.ts'
import { folderStore } from './folder-store.ts'
import type { Store } from './store.ts'
import type { World } from './world.ts'

/** The store of these settings. Opens nothing. */
export function storeOf(config: Config, world: Pick<World, 'clock'>): Store {
  return folderStore(config, world)
}
