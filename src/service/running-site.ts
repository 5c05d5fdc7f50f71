import type { Config } from '../config/config.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import type { Journal, OpenJournal } from '../journal/contracts/journal.ts'
import { partOf } from '../operations/journal-home.ts'
import { createEvents, type Events, suspected } from '../ops/events.ts'
import { createHealth, type Health, type JournalHealth } from '../ops/health.ts'
import type { Logger } from '../ops/log.ts'
import type { Metrics } from '../ops/metrics.ts'
import { ToldLines } from '../ops/refusal-events.ts'
import type { Clock } from '../platform/clock.ts'

/** A site of a running service, with what its requests and its delivery share. */
export interface RunningSite {
  readonly config: SiteConfig
  readonly journal: Journal
  readonly health: Health
  readonly events: Events
  /** Its lines name the site, when there is a file that names sites. */
  readonly log: Logger
}

/** At least one, in the order of the settings. */
export type RunningSites = readonly [RunningSite, ...RunningSite[]]

/** The sites of the settings. Their `health.journal` is one: they have one journal. */
export function runningSites(
  { sites: [first, ...others], hasSites }: Pick<Config, 'sites' | 'hasSites'>,
  journal: OpenJournal,
  log: Logger,
  clock: Clock,
  metrics?: Metrics,
): RunningSites {
  const shared: JournalHealth = { state: 'ok' }
  const lines = new ToldLines(clock)
  const suspectLines = new ToldLines(clock, suspected)
  const run = (config: SiteConfig): RunningSite => {
    const health = createHealth(shared)
    const own = hasSites ? log.child({ site: config.name }) : log
    const counted = metrics?.ofSite(config.name)
    const options = { lines, suspectLines, names: config.settingNames, metrics: counted }
    const events = createEvents(own, health, clock, options)
    return { config, journal: partOf(journal.sites, config), health, events, log: own }
  }
  const sites: RunningSites = [run(first), ...others.map(run)]
  if (metrics) journal.onCommit((commit) => sites[0].events.signupsCommitted(commit))
  return sites
}
