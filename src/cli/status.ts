import { Command } from '@commander-js/extra-typings'
import { partOf } from '../operations/journal-home.ts'
import { isLocked } from '../platform/node/directory-lock.ts'
import { serve } from '../platform/command-words.ts'
import { command } from './command.ts'
import { readStatus, type Status } from '../operations/status.ts'
import { statusFacts, timeWords, troublesOf } from '../operations/status-words.ts'
import { endpointsOf } from '../service/site.ts'
import { chart } from './terminal/chart.ts'
import { digits } from '../platform/digits.ts'
import { table } from './terminal/table.ts'
import { chosenSites, tellOtherSites } from './settings.ts'

const watchEveryMs = 2_000
const chartHeight = 6

export const addStatus = command(
  new Command('status')
    .description('what was accepted and written, what waits, and what is blocked and why')
    .option('--site <name>', 'only this site; otherwise all')
    .option('--watch', 'print again every 2 seconds, until Ctrl-C')
    .addHelpText(
      'after',
      '\nExit code 1: delivery is blocked, or partly blocked as a tab is set aside.',
    ),
  async (context, { site: name, watch }) => {
    const { config, secrets, home, out, clock, stop, json } = context
    await using journal = await home.openReader()
    await tellOtherSites(context)
    const sites = chosenSites(config.sites, name)
    // Of one site, the answer has the same form whether a file names it or not.
    const isOne = !config.hasSites || name !== undefined
    for (;;) {
      const at = (journal.time ?? clock).now()
      const all = await Promise.all(
        sites.map(async (site) => {
          const { name, spreadsheet } = site
          const account = spreadsheet.kind === 'google' ? spreadsheet : undefined
          const reader = partOf(journal.sites, site)
          const endpoints = endpointsOf(secrets, site)
          return [name, await readStatus(reader, account, at, endpoints, site.closing)] as const
        }),
      )
      const report = isOne ? all[0]?.[1] : { sites: Object.fromEntries(all) }
      const isServed = config.database !== undefined || isLocked(config.dataDir)
      const lines = all.flatMap(([site, now]) => [
        ...(isOne ? [] : ['', `Site ${site}`, '']),
        ...describe(now, isServed),
      ])
      const isWell = !all.some(([, { delivery }]) => delivery.state.endsWith('blocked'))
      if (!watch) return { report, lines, isWell }
      // One line for each look, so that a program can read them one by one. On a terminal, each look
      // replaces the one before.
      if (!json && out.isTerminal) await out.data.write('\u001b[H\u001b[J')
      await (json ? out.json(report, 0) : out.lines(...lines))
      await clock.sleep(watchEveryMs, stop)
      if (stop.aborted) return {}
    }
  },
)

/** As after an import of old signups. */
const moreWritten = 'A signup counts as accepted on its own day, as written on the day of its row.'

/** @param isServed false when no service runs that would deliver */
function describe(now: Status, isServed: boolean): string[] {
  const { accepted, written, hours } = now
  const { signs: _, ...suspect } = now.suspect
  const hasMoreWritten = written.today > accepted.today || written.sevenDays > accepted.sevenDays
  const counts = [
    ['', 'today', '7 days', 'all'],
    ['Accepted', ...Object.values(accepted).map(digits)],
    ['Written', ...Object.values(written).map(digits)],
    ...(suspect.all > 0 ? [['Suspect', ...Object.values(suspect).map(digits)]] : []),
  ]
  const facts = statusFacts(now, isServed ? '' : `does not run: start it with ${serve}`)
  const bars = hours.map(({ from, accepted: value }) => ({ label: from.slice(11, 13), value }))
  return [
    ...table(counts, [1, 2, 3]),
    ...(hasMoreWritten ? [moreWritten] : []),
    '',
    ...table(facts),
    ...troublesOf(now).flatMap(({ hint }) => (hint === undefined ? [] : [`Do: ${hint}`])),
    '',
    'Accepted per hour, the last 24 hours',
    ...chart(bars, chartHeight),
    '',
    `${timeWords(now.at)}. All times and days are UTC.`,
  ]
}
