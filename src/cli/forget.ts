import { Command } from '@commander-js/extra-typings'
import { forget, forgottenWords } from '../operations/forget.ts'
import { forgettableWords, tryForget } from '../operations/forget-trial.ts'
import { startRowRemoval } from '../service/row-removal.ts'
import { aboutPerson } from './people.ts'
import { parseSeconds } from './terminal/words.ts'

export const addForget = aboutPerson(
  new Command('forget')
    .description('erase a person from the journal and from the spreadsheet')
    .option('--dry-run', 'only tell what would be erased')
    .option('--wait <seconds>', 'how long to wait for the spreadsheet', parseSeconds, 60),
  {
    name: 'forget',
    more: `Exit code 1: something waits, and is done later by the service or the next forget;
or a file in DATA_DIR still has the address.`,
  },
  async (context, { dryRun, wait }) => {
    const { address, config } = context
    if (dryRun) {
      const found = await tryForget(address, { ...context, endpoints: new Map() })
      return { report: found, lines: forgettableWords(found) }
    }
    const report = await forget(address, {
      ...context,
      startRemoval: () => startRowRemoval(context),
      reachable: new Set(config.sites.map(({ name }) => name)),
      waitMs: wait * 1000,
    })
    const lines = forgottenWords(report, config.database !== undefined)
    return { report, lines, isWell: report.done }
  },
)
