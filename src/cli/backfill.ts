import type { Command } from '@commander-js/extra-typings'
import type { SignupRecord } from '../journal/contracts/reader.ts'
import type { FoundKind } from '../operations/compare.ts'
import { parseMoment } from './moment.ts'
import { deliverAgain, type Difference, withDifference } from './difference.ts'
import { exit, type Run, UsageError } from './session.ts'
import { digits } from '../operations/words.ts'
import { countTable } from './terminal/table.ts'
import { iso } from '../platform/clock.ts'

export function addBackfill(program: Command, run: Run): void {
  program
    .command('backfill')
    .description('deliver again what the present spreadsheet does not have, after a move')
    .option('--site <name>', 'the site, when there are several')
    .option('--all', 'whenever the signups came')
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
    .option('--dry-run', 'only tell what would be delivered')
    .option('--deleted', 'also what this spreadsheet had once, and people have deleted')
    .option('--webhooks', 'tell webhooks of these signups once more')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', '\nGive --all or --since. The running service writes the rows.')
    .action((options) =>
      run(async (session) => {
        const { all, since, deleted, dryRun, json } = options
        const { out, notes, clock } = session
        if ((all === true) === (since !== undefined))
          throw new UsageError('Give --all or --since DATE.')
        const isWanted = ({ signup }: SignupRecord) => signup.receivedAt >= (since ?? -Infinity)
        const kinds: FoundKind[] = deleted ? ['elsewhere', 'missing'] : ['elsewhere']
        return withDifference(session, options.site, async (difference) => {
          const found = await reportOf(difference, kinds, isWanted)
          if (!json) await out.lines(...describe(found))
          let putBack = 0
          const tell = options.webhooks ? difference.tellWebhooks : undefined
          if (!dryRun) {
            for (const kind of kinds)
              putBack += await deliverAgain(difference, kind, session, isWanted, tell)
            notes.tell(`Put back for delivery: ${digits(putBack)}. The service writes the rows.`)
          }
          if (json) {
            const chosen = { at: iso(clock.now()), since: since === undefined ? null : iso(since) }
            await out.json({ ...chosen, ...found, putBack: dryRun ? null : putBack })
          }
          return exit.done
        })
      }),
    )
}

type Report = Awaited<ReturnType<typeof reportOf>>

/**
 * Adds up the JSON of `rollcall backfill`, but for `at`, `since`, and `putBack`: how many signups were put
 * back into the pending work, null with `--dry-run`. Times are ISO 8601 in UTC.
 *
 * @param kinds what to deliver again
 */
async function reportOf(
  { compared, comparison, location, expiredUpTo }: Difference,
  kinds: readonly FoundKind[],
  isWanted: (found: SignupRecord) => boolean,
) {
  const { present, edited, waiting, unknown: erased, missing: deleted } = compared
  const tabs = new Map<string, number>()
  for (const kind of kinds) {
    for await (const page of comparison.foundPages(kind)) {
      for (const { signup } of page.filter(isWanted)) {
        tabs.set(signup.sheetTab, (tabs.get(signup.sheetTab) ?? 0) + 1)
      }
    }
  }
  return {
    spreadsheet: location,
    // What the spreadsheet does not have, by tab.
    tabs: Array.from(tabs, ([sheetTab, signups]) => ({ sheetTab, signups })),
    // Of the whole journal. `deleted` ones were written to this spreadsheet once, and are not there now.
    ...{ present, edited, waiting, erased, deleted },
    expiredUpTo,
  }
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
