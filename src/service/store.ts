import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Journal } from '../journal/journal.ts'
import type { JournalPolicy } from '../journal/policy.ts'
import { openSqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import type { World } from './world.ts'

/** The journal's file in `DATA_DIR`. */
export const journalFile = 'journal.db'

/** New tabs per hour and client address: more than a person needs, and too few to use up all tabs at once. */
const newTabsPerHourMax = 10

/** Opens the journal in `DATA_DIR`. The folder must exist. Throws when the journal cannot be used. */
export function openStore(config: Config, { clock }: Pick<World, 'clock'>): Journal {
  return openSqliteJournal(join(config.dataDir, journalFile), policyOf(config), { clock })
}

function policyOf(config: Config): JournalPolicy {
  const { defaultSheetTab, defaultTabOf, sheetTabs = [], newTabsMax, duplicates } = config
  const defaultTab = { name: defaultSheetTab, of: defaultTabOf }
  const namedTabs = defaultTabOf === undefined ? [defaultSheetTab, ...sheetTabs] : sheetTabs
  return { defaultTab, namedTabs, newTabsMax, newTabsPerHourMax, duplicates }
}
