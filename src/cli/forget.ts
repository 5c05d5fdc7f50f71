import type { Command } from '@commander-js/extra-typings'
import { forget, forgottenWords } from '../operations/forget.ts'
import { startRowRemoval } from '../service/row-removal.ts'
import { argumentHint, openSites, readAddress } from './people.ts'
import { exit, type Run } from './session.ts'
import { parseSeconds } from './terminal/words.ts'
import { readSettings } from './settings.ts'

export function addForget(program: Command, run: Run): void {
  program
    .command('forget')
    .description('erase a person from the journal and from the spreadsheet')
    .argument('<address>', 'the email address, or - to read it from standard input')
    .option(
      '--site <name>',
      'only at this site; otherwise at all, also at those that are not in the settings',
    )
    .option('--wait <seconds>', 'how long to wait for the spreadsheet', parseSeconds, 60)
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      argumentHint.replace('COMMAND', 'forget') +
        'Exit code 1: something waits, and is done later by the service or the next forget;\n' +
        'or a file in DATA_DIR still has the address.',
    )
    .action((given, options) =>
      run(async (session) => {
        const { clock, notes, out, stop } = session
        const { config, secrets, home } = await readSettings()
        const address = await readAddress(given, stop)
        await using opened = await openSites(home, config, options.site)
        const { journals } = opened
        using progress = notes.progress('signups searched')
        const report = await forget(address, {
          journals,
          home,
          startRemoval: () => startRowRemoval({ config, secrets, home, journals, clock }),
          reachable: new Set(config.sites.map(({ name }) => name)),
          clock,
          stop,
          waitMs: options.wait * 1000,
          searched: (done) => progress.at(done),
        })
        if (options.json) await out.json(report)
        else await out.lines(...forgottenWords(report, config.database !== undefined))
        return report.done ? exit.done : exit.notAll
      }),
    )
}
