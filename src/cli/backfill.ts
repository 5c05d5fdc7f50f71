import type { Command } from '@commander-js/extra-typings'
import type { SignupRecord } from '../journal/contracts/reader.ts'
import type { FoundKind } from '../operations/compare.ts'
import type { Millis } from '../signup/signup.ts'
import { parseMoment } from './arguments.ts'
import { deliverAgain, type Difference, expectAllCompared, withDifference } from './difference.ts'
import { exit, type ExitCode, type Run, type Session, UsageError } from './session.ts'
import { digits, iso } from './terminal/words.ts'
import { countTable } from './terminal/table.ts'

interface Options {
  readonly site?: string
  readonly all?: true
  readonly since?: Millis
  readonly deleted?: true
  readonly dryRun?: true
  readonly json?: true
}

/** The JSON of `rollcall backfill`. Times are ISO 8601 in UTC. */
interface Report {
  readonly at: string
  readonly spreadsheet: string
  readonly since: string | null
  /** What the spreadsheet does not have, by tab: to deliver again, or put back by this run. */
  readonly tabs: readonly { readonly sheetTab: string; readonly signups: number }[]
  /** How many signups were put back into the pending work; null with `--dry-run`. */
  readonly putBack: number | null
  /** Of the whole journal. */
  readonly present: number
  readonly edited: number
  readonly waiting: number
  readonly erased: number
  /** Written to this spreadsheet once, and not there now; left out without `--deleted`. */
  readonly deleted: number
  /** Up to when `RETENTION_DAYS` has erased what the journal knew; null when it has not. */
  readonly expiredUpTo: string | null
}

export function addBackfill(program: Command, run: Run): void {
  program
    .command('backfill')
    .description('deliver again what the present spreadsheet does not have, after a move')
    .option('--site <name>', 'the site, when there are several')
    .option('--all', 'whenever the signups came')
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
    .option('--dry-run', 'only tell what would be delivered')
    .option('--deleted', 'also what this spreadsheet had once, and people have deleted')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', '\nGive --all or --since. The running service writes the rows.')
    .action((options) => run((session) => backfill(session, options)))
}

async function backfill(session: Session, options: Options): Promise<ExitCode> {
  const { all, since, deleted, dryRun, json } = options
  const { out, notes, clock } = session
  if ((all === true) === (since !== undefined)) throw new UsageError('Give --all or --since DATE.')
  const isWanted = ({ signup }: SignupRecord) => signup.receivedAt >= (since ?? -Infinity)
  const kinds: FoundKind[] = deleted ? ['elsewhere', 'missing'] : ['elsewhere']
  return withDifference(session, options.site, async (difference) => {
    const { compared, location, expiredUpTo } = difference
    const { present, edited, waiting, unknown, missing } = compared
    const tabs = await countByTab(difference, kinds, isWanted)
    const found: Report = {
      at: iso(clock.now()),
      spreadsheet: location,
      since: since === undefined ? null : iso(since),
      tabs: Array.from(tabs, ([sheetTab, signups]) => ({ sheetTab, signups })),
      putBack: null,
      ...{ present, edited, waiting, erased: unknown, deleted: missing },
      expiredUpTo,
    }
    if (!json) await out.lines(describe(found))
    let putBack = 0
    if (!dryRun) {
      expectAllCompared(difference)
      for (const kind of kinds) putBack += await deliverAgain(difference, kind, session, isWanted)
      notes.tell(`Put back for delivery: ${digits(putBack)}. The service writes the rows.`)
    }
    if (json) await out.json({ ...found, putBack: dryRun ? null : putBack })
    return exit.done
  })
}

async function countByTab(
  { comparison }: Difference,
  kinds: readonly FoundKind[],
  isWanted: (found: SignupRecord) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const tabs = new Map<string, number>()
  for (const kind of kinds) {
    for await (const page of comparison.foundPages(kind)) {
      for (const { signup } of page.filter(isWanted)) {
        tabs.set(signup.sheetTab, (tabs.get(signup.sheetTab) ?? 0) + 1)
      }
    }
  }
  return tabs
}

function describe({ tabs, present, edited, deleted, waiting, erased }: Report): string[] {
  return countTable([
    ...tabs.map(({ sheetTab, signups }) => [`Not there, of tab ${sheetTab}`, signups] as const),
    ...(tabs.length === 0 ? [['Not there', 0] as const] : []),
    ['There already', present],
    ['There, and edited', edited],
    ['Deleted by people', deleted],
    ['Waiting for delivery', waiting],
    ['Erased in the journal', erased],
  ])
}
