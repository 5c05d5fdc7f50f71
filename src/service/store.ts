import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { ComparableJournal, OpenReader } from '../journal/journal.ts'
import type { JournalPolicy } from '../journal/policy.ts'
import { openSqliteJournal, openSqliteReader } from '../journal/sqlite/sqlite-journal.ts'
import { makeDataDirectory } from '../platform/node/directory-lock.ts'
import type { World } from './world.ts'

/** The journal's file in `DATA_DIR`. */
export const journalFile = 'journal.db'

/** New tabs per hour and client address: more than a person needs, and too few to use up all tabs at once. */
const newTabsPerHourMax = 10

/** Opens the journal in `DATA_DIR`. The folder must exist. Throws when the journal cannot be used. */
export function openStore(config: Config, { clock }: Pick<World, 'clock'>): ComparableJournal {
  return openSqliteJournal(join(config.dataDir, journalFile), policyOf(config), { clock })
}

/**
 * Opens the journal to write beside a service, which may run with other settings. Makes `DATA_DIR` and
 * the journal if they are missing. Rejects when the journal cannot be used or is of another version.
 */
export async function openStoreBeside(
  config: Config,
  { clock }: Pick<World, 'clock'>,
): Promise<ComparableJournal> {
  await makeDataDirectory(config.dataDir)
  const options = { clock, access: 'beside' } as const
  return openSqliteJournal(join(config.dataDir, journalFile), policyOf(config), options)
}

/**
 * Opens the journal to try out what a command would write. Makes nothing: without a journal, it is an empty
 * one in memory. Throws when the journal cannot be used or is of another version.
 */
export function openStoreForTrial(
  config: Config,
  { clock }: Pick<World, 'clock'>,
): ComparableJournal {
  const file = join(config.dataDir, journalFile)
  const options = { clock, access: 'beside' } as const
  return openSqliteJournal(existsSync(file) ? file : ':memory:', policyOf(config), options)
}

/**
 * Opens the journal for reading only, beside a service. Changes nothing. Throws when there is none, or
 * when it is of another version.
 */
export function openReader(config: Config, { clock }: Pick<World, 'clock'>): OpenReader {
  return openSqliteReader(join(config.dataDir, journalFile), { clock })
}

export function policyOf(config: Config): JournalPolicy {
  const { defaultSheetTab, defaultTabOf, sheetTabs = [], newTabsMax, duplicates } = config
  const defaultTab = { name: defaultSheetTab, of: defaultTabOf }
  const namedTabs = defaultTabOf === undefined ? [defaultSheetTab, ...sheetTabs] : sheetTabs
  const spreadsheet =
    config.spreadsheet.kind === 'google' ? config.spreadsheet.spreadsheetId : 'workbook'
  return { defaultTab, namedTabs, newTabsMax, newTabsPerHourMax, duplicates, spreadsheet }
}
