import type { Command } from '@commander-js/extra-typings'
import { type Person, readPerson } from '../operations/person.ts'
import { visible } from '../platform/visible.ts'
import { argumentHint, openSites, readAddress } from './people.ts'
import { exit, type Run } from './session.ts'
import { readSettings } from './settings.ts'
import { listOf } from './terminal/words.ts'

export function addPerson(program: Command, run: Run): void {
  program
    .command('person')
    .description('print all that is kept about a person, for a request for access')
    .argument('<address>', 'the email address, or - to read it from standard input')
    .option(
      '--site <name>',
      'only of this site; otherwise of all, also of those not in the settings',
    )
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', argumentHint.replace('COMMAND', 'person'))
    .action((given, options) =>
      run(async ({ out, notes, stop }) => {
        const { config, home } = await readSettings()
        const address = await readAddress(given, stop)
        await using opened = await openSites(home, config, options.site)
        using progress = notes.progress('signups searched')
        const { journals } = opened
        const person = await readPerson(address, {
          ...{ journals, stop },
          searched: (done) => progress.at(done),
        })
        if (options.json) await out.json(person)
        else await out.lines(...describe(person))
        return exit.done
      }),
    )
}

const unsearched =
  'Not looked at: the spreadsheets themselves, exports, imports and backups, the mail server and its logs.'

/** Everything that is not empty, under the names that the JSON has. */
function describe({ sites, wordings }: Person): string[] {
  const told = sites.flatMap(({ site, signups, pending, mails, block, expiredUpTo }) => [
    ...signups.flatMap((one) => entry('Signup', { site, ...one })),
    ...pending.flatMap((one) => entry('Beside the list', { site, ...one })),
    ...mails.flatMap((one) => entry('Mail', { site, ...one })),
    ...(block ? entry('No mail goes to this address', { site, ...block }) : []),
    ...(expiredUpTo === null ? [] : entry('Erased by RETENTION_DAYS', { site, expiredUpTo })),
  ])
  const agreed = wordings.map((text, at) => `Wording ${at}: ${text}`)
  const all = told.length > 0 ? [...told, ...agreed] : ['Nothing is kept about this address.']
  return [...all, unsearched].map(visible)
}

function entry(heading: string, facts: object): string[] {
  const texts = Object.entries(facts).map(([key, value]: [string, unknown]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return ['null', '[]', '{}', '', 'false'].includes(text) ? '' : `  ${key}: ${text}`
  })
  return [heading, ...texts.filter((text) => text !== '')]
}

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
