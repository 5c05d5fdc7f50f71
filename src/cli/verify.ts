import type { Command } from '@commander-js/extra-typings'
import type { Compared, FoundKind } from '../operations/compare.ts'
import { deliverAgain, type Difference, expectAllCompared, withDifference } from './compare.ts'
import { exit, type ExitCode, type Run, type Session, UsageError } from './session.ts'
import { confirm } from './terminal/confirm.ts'
import { counted } from './terminal/counted.ts'
import { iso } from './terminal/iso.ts'
import { table } from './terminal/table.ts'

interface Options {
  readonly site?: string
  readonly json?: true
  readonly repair?: true
  readonly yes?: true
}

/** How many signups or rows a list shows. */
const listedMax = { text: 20, json: 1_000 }

/** The JSON of `rollcall verify`. Times are ISO 8601 in UTC. Lists have at most 1,000 entries. */
interface Report {
  readonly at: string
  readonly spreadsheet: string
  /** How many signups of the journal there are of each kind. */
  readonly signups: {
    readonly present: number
    readonly missing: number
    readonly edited: number
    readonly waiting: number
    readonly elsewhere: number
    readonly erased: number
  }
  /** How many rows of the spreadsheet there are of each kind. */
  readonly rows: {
    readonly all: number
    readonly double: number
    readonly copies: number
    readonly others: number
  }
  readonly missing: readonly Listed[]
  readonly edited: readonly Listed[]
  readonly double: readonly { timestamp: string; sheetTab: string; extra: number }[]
  /** Tabs that were left out, because Google cannot read their titles in a range. */
  readonly unread: readonly { readonly sheetTab: string; readonly place: string }[]
  /** Up to when `RETENTION_DAYS` has erased what the journal knew; null when it has not. */
  readonly expiredUpTo: string | null
  /** How many missing signups were put back into the pending work; null without `--repair`. */
  readonly repaired: number | null
}

interface Listed {
  readonly timestamp: string
  readonly sheetTab: string
  readonly email: string
}

export function addVerify(program: Command, run: Run): void {
  program
    .command('verify')
    .description('compare the journal with the rows of the spreadsheet')
    .option('--site <name>', 'the site, when there are several')
    .option('--repair', 'show which missing rows would be written again, and ask')
    .option('--yes', 'do not ask, with --repair')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', '\nExit code 1: something is missing, double or edited.')
    .action((options) => run((session) => verify(session, options)))
}

async function verify(session: Session, options: Options): Promise<ExitCode> {
  const { json, repair, yes } = options
  if (yes && !repair) throw new UsageError('--yes goes with --repair.')
  if (json && repair && !yes) throw new UsageError('--json asks nothing: give --yes, too.')
  return withDifference(session, options.site, async (difference) => {
    const { compared, unread } = difference
    if (!json) await session.out.write((await describe(difference)).join('\n') + '\n')
    const repaired = repair && compared.missing > 0 ? await repairMissing(difference) : 0
    if (!json && repaired > 0) {
      const missing = compared.missing - repaired
      const now = { ...compared, missing, waiting: compared.waiting + repaired }
      await session.out.write(`\nNow:\n${countsOf(now).join('\n')}\n`)
    }
    if (json) await session.out.json(await report(difference, session, repair ? repaired : null))
    const isWell =
      compared.missing === repaired && compared.edited + compared.double + unread.length === 0
    return isWell ? exit.done : exit.notAll
  })

  async function repairMissing(difference: Difference): Promise<number> {
    expectAllCompared(difference)
    const { missing } = difference.compared
    const question = `Write ${counted(missing, 'signup')} again? The rows come at the end of their tabs.`
    if (!yes && !(await confirm(question, session.notes, session.stop))) {
      session.notes.tell('Nothing was changed.')
      return 0
    }
    const put = await deliverAgain(difference, 'missing', session)
    session.notes.tell(`${counted(put, 'signup')} put back. The service writes what was put back.`)
    return put
  }
}

function countsOf(compared: Compared): string[] {
  const { present, missing, edited, waiting, elsewhere, unknown } = compared
  const facts: [string, number][] = [
    ['Signups with their row', present],
    ['Missing', missing],
    ['Edited', edited],
    ['Double', compared.double],
    ['Waiting for delivery', waiting],
    ['Written elsewhere only', elsewhere],
    ['Erased in the journal', unknown],
    ['Copies in other tabs', compared.copies],
    ['Rows of others', compared.others],
  ]
  return table(
    facts.map(([name, count]) => [name, count.toLocaleString('en-US')]),
    { right: [1] },
  )
}

async function describe(difference: Difference): Promise<string[]> {
  const { compared, comparison, unread } = difference
  const { missing, edited } = compared
  const of = async (kind: FoundKind) => {
    const signups = await listed(difference, kind, listedMax.text)
    return signups.map((it) => [it.timestamp, it.sheetTab, it.email])
  }
  const doubles = comparison
    .doubles(listedMax.text)
    .map(({ at, tab, extra }) => [iso(at), tab, `${extra} too many`])
  return [
    ...countsOf(compared),
    ...section('Missing: no row has this timestamp and this address', await of('missing'), missing),
    ...section('Edited: a row has only one of the two', await of('edited'), edited),
    ...section('Double: more rows than signups', doubles, doubles.length),
    ...section(
      'Not compared: Google cannot read the title of a tab. Rename it',
      unread.map(({ name, place }) => [name, place]),
      unread.length,
    ),
  ]
}

function section(title: string, rows: readonly (readonly string[])[], all: number): string[] {
  if (all === 0) return []
  const rest = all > rows.length ? [`and ${(all - rows.length).toLocaleString('en-US')} more`] : []
  return ['', title, ...table(rows), ...rest]
}

async function report(
  difference: Difference,
  { clock }: Pick<Session, 'clock'>,
  repaired: number | null,
): Promise<Report> {
  const { compared, comparison, unread, location } = difference
  const { present, missing, edited, waiting, elsewhere, unknown: erased } = compared
  const { rows: all, double, copies, others } = compared
  return {
    at: iso(clock.now()),
    spreadsheet: location,
    signups: { present, missing, edited, waiting, elsewhere, erased },
    rows: { all, double, copies, others },
    missing: await listed(difference, 'missing', listedMax.json),
    edited: await listed(difference, 'edited', listedMax.json),
    double: comparison
      .doubles(listedMax.json)
      .map(({ at, tab, extra }) => ({ timestamp: iso(at), sheetTab: tab, extra })),
    unread: unread.map(({ name, place }) => ({ sheetTab: name, place })),
    expiredUpTo: difference.expiredUpTo,
    repaired,
  }
}

async function listed(
  { comparison }: Difference,
  kind: FoundKind,
  max: number,
): Promise<readonly Listed[]> {
  const found = await comparison.found(kind, max)
  return found.map(({ signup: { receivedAt, sheetTab, email } }) => ({
    timestamp: iso(receivedAt),
    sheetTab,
    email,
  }))
}
