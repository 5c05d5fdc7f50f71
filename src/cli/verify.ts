import { createInterface } from 'node:readline/promises'
import { Command } from '@commander-js/extra-typings'
import type { Compared, Comparison, FoundKind } from '../operations/compare.ts'
import { counted } from '../operations/words.ts'
import { digits } from '../platform/digits.ts'
import { iso } from '../platform/clock.ts'
import { command } from './command.ts'
import { differenceOf } from './difference.ts'
import { type Session, UsageError } from './session.ts'
import { countTable, table } from './terminal/table.ts'

/** How many signups or rows a list has. */
const listedMax = { text: 20, json: 1_000 }

export const addVerify = command(
  new Command('verify')
    .description('compare the journal with the rows of the spreadsheet')
    .option('--site <name>', 'the site, when there are several')
    .option('--repair', 'show which missing rows would be written again, and ask')
    .option('--yes', 'do not ask, with --repair')
    .addHelpText('after', '\nExit code 1: something is missing, double or edited.'),
  async (context, { site, repair, yes }) => {
    const { out, notes, json, clock } = context
    if (yes && !repair) throw new UsageError('--yes goes with --repair.')
    if (json && repair && !yes) throw new UsageError('--json asks nothing: give --yes, too.')
    await using difference = await differenceOf(context, site)
    const { compared, location: spreadsheet, expiredUpTo } = difference
    const { missing, edited, double } = compared
    const lists = await listsOf(difference.comparison, json ? listedMax.json : listedMax.text)
    if (!json) await out.lines(...describe(compared, lists))
    let repaired = 0
    if (repair && missing > 0) {
      const question = `Write ${counted(missing, 'signup')} again? The rows come at the end of their tabs.`
      if (yes || (await isSure(question, context))) {
        repaired = await difference.deliverAgain('missing')
        const put = counted(repaired, 'signup')
        notes.tell(`${put} put back. The service writes what was put back.`)
      } else notes.tell('Nothing was changed.')
    }
    const { present, waiting, elsewhere, unknown: erased, rows: all, others } = compared
    const report = {
      ...{ at: iso(clock.now()), spreadsheet },
      signups: { present, missing, edited, waiting, elsewhere, erased },
      rows: { all, double, others },
      ...{ ...lists, expiredUpTo, repaired: repair ? repaired : null },
    }
    return { report, isWell: missing === repaired && edited + double === 0 }
  },
)

/** Asks a question on standard error. Only a line of standard input that begins with y means yes. */
async function isSure(question: string, { notes, stop, stdin }: Session): Promise<boolean> {
  notes.tell(`${question} [y/N]`)
  const lines = createInterface({ input: stdin, signal: stop })
  try {
    for await (const line of lines) return /^\s*y/i.test(line)
  } finally {
    lines.close()
    stdin.destroy()
  }
  return false
}

type Lists = Awaited<ReturnType<typeof listsOf>>

async function listsOf(comparison: Comparison, max: number) {
  const listed = async (kind: FoundKind) => {
    const found = await comparison.found(kind, max)
    return found.map(({ signup: { receivedAt, sheetTab, email } }) => {
      return { timestamp: iso(receivedAt), sheetTab, email }
    })
  }
  return {
    missing: await listed('missing'),
    edited: await listed('edited'),
    double: comparison
      .doubles(max)
      .map(({ at, tab, extra }) => ({ timestamp: iso(at), sheetTab: tab, extra })),
  }
}

function describe(all: Compared, { missing, edited, double }: Lists): string[] {
  const extras = double.map(({ extra, ...it }) => ({ ...it, extra: `${extra} too many` }))
  return [
    ...countTable([
      ['Signups with their row', all.present],
      ['Missing', all.missing],
      ['Edited', all.edited],
      ['Double', all.double],
      ['Waiting for delivery', all.waiting],
      ['Written elsewhere only', all.elsewhere],
      ['Erased in the journal', all.unknown],
      ['Rows of others', all.others],
    ]),
    ...section('Missing: no row has this timestamp and this address', missing, all.missing),
    ...section('Edited: a row has only one of the two', edited, all.edited),
    ...section('Double: more rows than signups', extras, extras.length),
  ]
}

function section(
  title: string,
  rows: readonly Readonly<Record<string, string>>[],
  all: number,
): string[] {
  if (all === 0) return []
  const rest = all > rows.length ? [`and ${digits(all - rows.length)} more`] : []
  return ['', title, ...table(rows.map(Object.values<string>)), ...rest]
}
