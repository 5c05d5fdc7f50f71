import type { Command } from '@commander-js/extra-typings'
import { type Person, readPerson } from '../operations/person.ts'
import { visible } from '../platform/visible.ts'
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

function describe({ sites, wordings }: Person): string[] {
  const lines = sites.flatMap((site) => {
    const told = linesOf(site)
    return sites.length > 1 && told.length > 0 ? [`Site ${site.site}`, '', ...told] : told
  })
  const agreed = wordings.flatMap((text, at) => [`Wording ${at + 1}: ${text}`])
  return [
    ...(lines.length > 0 ? lines : ['Nothing is kept about this address.', '']),
    ...agreed,
    ...(agreed.length > 0 ? [''] : []),
    unsearched,
  ].map(visible)
}

function linesOf({ signups, pending, mails, block, expiredUpTo }: Person['sites'][number]) {
  const lines = [
    ...signups.flatMap((signup) => {
      const { state, writtenAt, confirmedAt, signs } = signup
      return entry(`Signup, ${state}`, signup, [
        ['Confirmed', confirmedAt],
        ['Row written', writtenAt],
        ['Signs of spam', signs.join(', ')],
      ])
    }),
    ...pending.flatMap((signup) => {
      const { state, until, isSuspect } = signup
      return entry(`Beside the list, ${isSuspect ? 'suspect' : state}`, signup, [
        ['Erased', until ?? (isSuspect ? null : 'some days after its mail')],
      ])
    }),
    ...mails.map(({ kind, madeAt, sentAt, tries }) => {
      const state = sentAt ? `sent ${short(sentAt)}` : `not sent, tried ${tries} times`
      return `Mail (${kind}) of ${short(madeAt)}: ${state}`
    }),
    ...(block
      ? [
          `No mail goes to it: ${block.why} ${short(block.at)}, ` +
            (block.until === null
              ? 'until it confirms or rollcall mail allow'
              : `until ${short(block.until)}`),
        ]
      : []),
    ...(expiredUpTo === null
      ? []
      : [
          `RETENTION_DAYS: of what was written up to ${short(expiredUpTo)} only the spreadsheet knows whose it is.`,
        ]),
  ]
  return lines.length > 0 ? [...lines, ''] : []
}

type Told = Person['sites'][number]['signups'][number] | Person['sites'][number]['pending'][number]

/** A heading, and below it what is not empty. */
function entry(
  heading: string,
  signup: Told,
  more: readonly (readonly [name: string, value: string | null])[],
): string[] {
  const { id, receivedAt, sheetTab, source, name, tags, metadata, fields, wording } = signup
  const others = { ...metadata, ...fields }
  const facts: typeof more = [
    ...more,
    ['Tab', sheetTab],
    ['Source', source],
    ['Name', name],
    ['Tags', tags.join(', ')],
    ['More', Object.keys(others).length > 0 ? JSON.stringify(others) : ''],
    ['Agreed to', wording === null ? '' : `wording ${wording + 1}`],
    ['Id', id],
  ]
  const told = facts.filter(([, value]) => (value ?? '') !== '')
  return [
    `${heading}, of ${short(receivedAt)}`,
    ...told.map(([key, value]) => `  ${key}: ${value ?? ''}`),
  ]
}

/** "2026-11-20 10:00:00 UTC" */
function short(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`
}
