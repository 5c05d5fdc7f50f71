import type { Command } from '@commander-js/extra-typings'
import {
  allowMails,
  entriesOf,
  nothingKept,
  type Person,
  readPerson,
  unsearched,
} from '../operations/person.ts'
import { visible } from '../platform/visible.ts'
import { endpointsOf } from '../service/webhooks.ts'
import { argumentHint, openSites, readAddress } from './people.ts'
import { exit, type Run } from './session.ts'
import { readSettings } from './settings.ts'

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
        const { config, secrets, home } = await readSettings()
        const address = await readAddress(given, stop)
        await using opened = await openSites(home, config, options.site)
        using progress = notes.progress('signups searched')
        const { journals } = opened
        const endpoints = new Map(config.sites.map((it) => [it.name, endpointsOf(secrets, it)]))
        const person = await readPerson(address, {
          ...{ journals, endpoints, stop },
          searched: (done) => progress.at(done),
        })
        if (options.json) await out.json(person)
        else await out.lines(...describe(person))
        return exit.done
      }),
    )
}

function describe(person: Person): string[] {
  const told = entriesOf(person).flatMap(({ heading, facts }) => {
    return [heading, ...facts.map(([name, text]) => `  ${name}: ${text}`)]
  })
  const agreed = person.wordings.map((text, at) => `Wording ${at}: ${text}`)
  const all = told.length > 0 ? [...told, ...agreed] : [nothingKept]
  return [...all, unsearched].map(visible)
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
        const { allowed, words } = await allowMails(address, opened.journals)
        if (options.json) await out.json({ allowed })
        else await out.lines(words)
        return exit.done
      }),
    )
}
