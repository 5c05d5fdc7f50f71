import { createInterface } from 'node:readline/promises'
import type { Command } from '@commander-js/extra-typings'
import type { FoundKind } from '../operations/compare.ts'
import { deliverAgain, type Difference, withDifference } from './difference.ts'
import { exit, type Run, type Session, UsageError } from './session.ts'
import { counted, digits } from '../operations/words.ts'
import { countTable, table } from './terminal/table.ts'
import { iso } from '../platform/clock.ts'

const listedMax = { text: 20, json: 1_000 }

export function addVerify(program: Command, run: Run): void {
  program
    .command('verify')
    .description('compare the journal with the rows of the spreadsheet')
    .option('--site <name>', 'the site, when there are several')
    .option('--repair', 'show which missing rows would be written again, and ask')
    .option('--yes', 'do not ask, with --repair')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', '\nExit code 1: something is missing, double or edited.')
    .action((options) =>
      run(async (session) => {
        const { json, repair, yes } = options
        const { out, notes } = session
        if (yes && !repair) throw new UsageError('--yes goes with --repair.')
        if (json && repair && !yes) throw new UsageError('--json asks nothing: give --yes, too.')
        return withDifference(session, options.site, async (difference) => {
          const found = await reportOf(difference, session, json ? listedMax.json : listedMax.text)
          const { missing, edited } = found.signups
          if (!json) await out.lines(...describe(found))
          let repaired = 0
          if (repair && missing > 0) {
            const question = `Write ${counted(missing, 'signup')} again? The rows come at the end of their tabs.`
            if (yes || (await isSure(question, session))) {
              repaired = await deliverAgain(difference, 'missing', session)
              const put = counted(repaired, 'signup')
              notes.tell(`${put} put back. The service writes what was put back.`)
            } else notes.tell('Nothing was changed.')
          }
          if (json) await out.json({ ...found, repaired: repair ? repaired : null })
          const isWell = missing === repaired && edited + found.rows.double === 0
          return isWell ? exit.done : exit.notAll
        })
      }),
    )
}

/** Asks a question on standard error. Only a line of standard input that begins with y means yes. */
async function isSure(question: string, { notes, stop }: Session): Promise<boolean> {
  notes.tell(`${question} [y/N]`)
  const lines = createInterface({ input: process.stdin, signal: stop })
  try {
    for await (const line of lines) return /^\s*y/i.test(line)
  } finally {
    lines.close()
    process.stdin.destroy()
  }
  return false
}

type Report = Awaited<ReturnType<typeof reportOf>>

/**
 * Adds up the JSON of `rollcall verify`, but for `repaired`: how many missing signups were put back. Times
 * are ISO 8601 in UTC.
 *
 * @param max how many signups or rows a list has
 */
async function reportOf(
  { compared, comparison, location, expiredUpTo }: Difference,
  { clock }: Pick<Session, 'clock'>,
  max: number,
) {
  const { present, missing, edited, waiting, elsewhere, unknown: erased } = compared
  const { rows: all, double, others } = compared
  const listed = async (kind: FoundKind) => {
    const found = await comparison.found(kind, max)
    return found.map(({ signup: { receivedAt, sheetTab, email } }) => {
      return { timestamp: iso(receivedAt), sheetTab, email }
    })
  }
  return {
    at: iso(clock.now()),
    spreadsheet: location,
    signups: { present, missing, edited, waiting, elsewhere, erased },
    rows: { all, double, others },
    missing: await listed('missing'),
    edited: await listed('edited'),
    double: comparison
      .doubles(max)
      .map(({ at, tab, extra }) => ({ timestamp: iso(at), sheetTab: tab, extra })),
    expiredUpTo,
  }
}

function describe({ signups, rows, missing, edited, double }: Report): string[] {
  return [
    ...countTable([
      ['Signups with their row', signups.present],
      ['Missing', signups.missing],
      ['Edited', signups.edited],
      ['Double', rows.double],
      ['Waiting for delivery', signups.waiting],
      ['Written elsewhere only', signups.elsewhere],
      ['Erased in the journal', signups.erased],
      ['Rows of others', rows.others],
    ]),
    ...section(
      'Missing: no row has this timestamp and this address',
      missing.map(Object.values<string>),
      signups.missing,
    ),
    ...section(
      'Edited: a row has only one of the two',
      edited.map(Object.values<string>),
      signups.edited,
    ),
    ...section(
      'Double: more rows than signups',
      double.map(({ timestamp, sheetTab, extra }) => [timestamp, sheetTab, `${extra} too many`]),
    ),
  ]
}

function section(title: string, rows: readonly (readonly string[])[], all = rows.length): string[] {
  if (all === 0) return []
  const rest = all > rows.length ? [`and ${digits(all - rows.length)} more`] : []
  return ['', title, ...table(rows), ...rest]
}
