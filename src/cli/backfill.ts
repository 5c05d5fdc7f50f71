import { Command } from '@commander-js/extra-typings'
import type { FoundKind } from '../operations/compare.ts'
import type { Signup } from '../signup/signup.ts'
import { command } from './command.ts'
import { parseMoment } from './moment.ts'
import { differenceOf } from './difference.ts'
import { UsageError } from './session.ts'
import { digits } from '../platform/digits.ts'
import { countTable } from './terminal/table.ts'
import { iso, isoOrNull } from '../platform/clock.ts'

export const addBackfill = command(
  new Command('backfill')
    .description('deliver again what the present spreadsheet does not have, after a move')
    .option('--site <name>', 'the site, when there are several')
    .option('--all', 'whenever the signups came')
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
    .option('--dry-run', 'only tell what would be delivered')
    .option('--deleted', 'also what this spreadsheet had once, and people have deleted')
    .option('--webhooks', 'tell webhooks of these signups once more')
    .addHelpText('after', '\nGive --all or --since. The running service writes the rows.'),
  async (context, { site, all, since, deleted: takesDeleted, dryRun, webhooks }) => {
    const { out, notes, clock, json } = context
    if ((all === true) === (since !== undefined))
      throw new UsageError('Give --all or --since DATE.')
    const isWanted = ({ receivedAt }: Signup) => receivedAt >= (since ?? -Infinity)
    const kinds: FoundKind[] = takesDeleted ? ['elsewhere', 'missing'] : ['elsewhere']
    await using difference = await differenceOf(context, site)
    const { compared, comparison, location: spreadsheet, expiredUpTo } = difference
    const { present, edited, waiting, unknown: erased, missing: deleted } = compared
    /** What the spreadsheet does not have, by tab. */
    const tabs = new Map<string, number>()
    for (const kind of kinds) {
      for await (const page of comparison.foundPages(kind)) {
        for (const { signup } of page.filter((it) => isWanted(it.signup)))
          tabs.set(signup.sheetTab, (tabs.get(signup.sheetTab) ?? 0) + 1)
      }
    }
    const absent = Array.from(tabs, ([tab, count]) => [`Not there, of tab ${tab}`, count] as const)
    const lines = countTable([
      ...(absent.length > 0 ? absent : [['Not there', 0] as const]),
      ['There already', present],
      ['There, and edited', edited],
      ['Deleted by people', deleted],
      ['Waiting for delivery', waiting],
      ['Erased in the journal', erased],
    ])
    if (!json) await out.lines(...lines)
    let putBack: number | null = null
    if (!dryRun) {
      putBack = 0
      for (const kind of kinds) putBack += await difference.deliverAgain(kind, isWanted, webhooks)
      notes.tell(`Put back for delivery: ${digits(putBack)}. The service writes the rows.`)
    }
    const report = {
      ...{ at: iso(clock.now()), since: isoOrNull(since), spreadsheet },
      tabs: Array.from(tabs, ([sheetTab, signups]) => ({ sheetTab, signups })),
      // Of the whole journal. `deleted` ones were written to this spreadsheet once, and are not there now.
      ...{ present, edited, waiting, erased, deleted, expiredUpTo, putBack },
    }
    return { report }
  },
)
