import type { Config } from '../../config/config.ts'
import { backlogCheck } from './backlog.ts'
import { challengeCheck } from './challenge.ts'
import type { Check } from './check.ts'
import { dataDirCheck } from './data-dir.ts'
import { databaseChecks } from './database.ts'
import { diskCheck } from './disk.ts'
import { journalCheck } from './journal.ts'
import { keyCheck } from './key.ts'
import { originCheck } from './origin.ts'
import { processCheck } from './process.ts'
import { quotaCheck } from './quota.ts'
import { settingsCheck } from './settings.ts'
import { spreadsheetCheck } from './spreadsheet.ts'

/** In the order in which they run and are printed: from the settings to what they lead to. */
export function checksOf({ database }: Pick<Config, 'database'>): readonly Check[] {
  return [
    settingsCheck,
    keyCheck,
    spreadsheetCheck,
    challengeCheck,
    originCheck,
    ...(database ? databaseChecks : folderChecks),
    backlogCheck,
    quotaCheck,
  ]
}

const folderChecks: readonly Check[] = [dataDirCheck, diskCheck, journalCheck, processCheck]
