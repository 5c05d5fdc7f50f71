import { backlogCheck } from './backlog.ts'
import { challengeCheck } from './challenge.ts'
import type { Check } from './check.ts'
import { dataDirCheck } from './data-dir.ts'
import { diskCheck } from './disk.ts'
import { journalCheck } from './journal.ts'
import { keyCheck } from './key.ts'
import { originCheck } from './origin.ts'
import { processCheck } from './process.ts'
import { quotaCheck } from './quota.ts'
import { settingsCheck } from './settings.ts'
import { spreadsheetCheck } from './spreadsheet.ts'

/** In the order in which they run and are printed: from the settings to what they lead to. */
export const checks: readonly Check[] = [
  settingsCheck,
  keyCheck,
  spreadsheetCheck,
  challengeCheck,
  originCheck,
  dataDirCheck,
  diskCheck,
  journalCheck,
  processCheck,
  backlogCheck,
  quotaCheck,
]
