import type { Command } from '@commander-js/extra-typings'
import { argumentHint, openSites, readAddress } from './people.ts'
import { exit, type Run } from './session.ts'
import { readSettings } from './settings.ts'
import { listOf } from './terminal/words.ts'

export function addMail(program: Command, run: Run): void {
  program
    .command('mail')
    .description('what mails may be sent')
    .command('allow')
    .description('let mails go again to an address that declined them or left the list')
    .argument('<address>', 'the email address, or - to read it from standard input')
    .option('--site <name>', 'only those of this site; otherwise of all')
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      `${argumentHint.replace('COMMAND', 'mail allow')}It signs nobody up. Do it only when the person has asked you to.`,
    )
    .action((given, options) =>
      run(async ({ out, stop }) => {
        const { config, home } = await readSettings()
        const address = await readAddress(given, stop)
        await using opened = await openSites(home, config, options.site)
        const allowed: string[] = []
        for (const [site, { confirmation }] of opened.journals) {
          if (await confirmation.allow(address)) allowed.push(site)
        }
        if (options.json) await out.json({ allowed })
        else if (allowed.length === 0) await out.lines('Nothing kept mails from this address.')
        else await out.lines(`Mails may go to this address again, of the site ${listOf(allowed)}.`)
        return exit.done
      }),
    )
}
