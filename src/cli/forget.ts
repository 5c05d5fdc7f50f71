import type { Command } from '@commander-js/extra-typings'
import { forget, type Forgotten } from '../operations/forget.ts'
import { startRowRemoval } from '../service/row-removal.ts'
import { argumentHint, openSites, readAddress } from './people.ts'
import { exit, type Run } from './session.ts'
import { counted, parseSeconds } from './terminal/words.ts'
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
        else await out.lines(...describe(report, config.database !== undefined))
        return report.done ? exit.done : exit.notAll
      }),
    )
}

function describe(
  { signups, beside, rows, reason, absentSites, mentions, files, byHand: left }: Forgotten,
  isInDatabase: boolean,
): string[] {
  const { erased, unwritten, inBatch } = signups
  const before = files.some((name) => name.startsWith('journal.db.before-'))
    ? ' Delete a journal that a restore has put aside (.before-) when you do not need it any more.'
    : ''
  const why = reason === null ? '' : ` The spreadsheet says: ${reason}.`
  return [
    erased + inBatch + beside.pending + beside.mails === 0
      ? 'No signup has this address: check its spelling. Imports refuse it from now on.'
      : `Erased from the journal: ${counted(erased, 'signup')}.`,
    unwritten > 0 && `Of these ${unwritten} waited, and get no row.`,
    beside.pending + beside.mails > 0 &&
      `Erased beside the list: ${counted(beside.pending, 'signup')} that waited or had left, ${counted(beside.mails, 'mail')}.`,
    beside.blocks > 0 &&
      'Kept: a keyed hash of the address, by which it gets no mail, as the person wanted. rollcall mail allow ends that.',
    `Removed from the spreadsheet: ${counted(rows.removed, 'row')}.`,
    inBatch > 0 && `In a batch that is on its way: ${inBatch}. They are erased when it has ended.`,
    rows.waiting > 0 &&
      `Waiting: ${counted(rows.waiting, 'row')}.${why} The service removes what it can; so does the next forget.`,
    absentSites.length > 0 &&
      `Put these sites back into the file of ROLLCALL_CONFIG, as their rows stay until then: ${absentSites.join(', ')}.`,
    rows.notFound > 0 &&
      `Not found: ${counted(rows.notFound, 'row')}. A person has deleted them or changed their address.`,
    rows.others > 0 &&
      `Left: ${counted(rows.others, 'row')} with the address and another time. They are of later signups, or a person has changed their time: look at them.`,
    mentions > 0 &&
      `Left: ${counted(mentions, 'signup')} of other people with the address in another cell.`,
    files.length > 0 && `Files in DATA_DIR that have the address: ${files.join(', ')}.${before}`,
    files.length === 0 && !isInDatabase && 'No file in DATA_DIR has the address.',
    `Not reached, to do by hand: ${left.join('; ')}.`,
  ].filter((line) => line !== false)
}
