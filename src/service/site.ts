import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf, type SiteSecrets } from '../config/secrets.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import type { Journal, OpenJournal } from '../journal/contracts/journal.ts'
import { type JournalHome, partOf } from '../operations/journal-home.ts'
import { createEvents, type Events, suspected } from '../ops/events.ts'
import { createHealth, type Health, type JournalHealth } from '../ops/health.ts'
import type { Logger } from '../ops/log.ts'
import type { Metrics } from '../ops/metrics.ts'
import { ToldLines } from '../ops/refusal-events.ts'
import { endpointKeyOf } from '../outbox/webhook/endpoint.ts'
import { Listeners } from '../platform/listeners.ts'
import type { Clock } from '../platform/clock.ts'
import { overflowKeyOf } from '../signup/closing.ts'
import type { ParseContext } from '../signup/parse.ts'
import { type OwnColumn, ownColumns } from '../signup/row.ts'
import { tabKey } from '../signup/signup.ts'
import { firstOf } from '../signup/site-text.ts'
import { tabsByKey } from '../signup/tab.ts'
import { locationOf } from '../spreadsheet/google/google-sheets.ts'
import { workbookFolder } from './data-folder.ts'
import type { World } from './world.ts'

/** A site of the settings, with what follows from them. It has secrets, so it is never printed. */
export interface Site extends SiteConfig, SiteSecrets {
  /** The columns of its own. */
  readonly own: readonly OwnColumn[]
  /** The folder of the local workbook, if that is its spreadsheet. */
  readonly workbookDir: string
  /** Where its rows go: a URL or a folder. */
  readonly location: string
  readonly endpoints: readonly SiteEndpoint[]
}

export function siteOf(
  site: SiteConfig,
  { dataDir }: Pick<Config, 'dataDir'>,
  secrets: Pick<Secrets, 'sites'>,
): Site {
  const { name, spreadsheet, fields, confirmation } = site
  const workbookDir = workbookFolder(dataDir, name)
  return {
    ...{ ...site, ...secretsOf(secrets, site), workbookDir },
    own: ownColumns(fields, confirmation),
    location: spreadsheet.kind === 'google' ? locationOf(spreadsheet) : workbookDir,
    endpoints: endpointsOf(secrets, site),
  }
}

export type SiteEndpoint = ReturnType<typeof endpointsOf>[number]

/** The webhooks of a site and then its channel, with their numbers, from 1 in the order of the settings, and their keys. */
export function endpointsOf(secrets: Pick<Secrets, 'sites'>, site: SiteConfig) {
  const { webhooks = [], chat } = secretsOf(secrets, site)
  const title = firstOf(site.page.title ?? '')
  const all = [...secrets.sites.values()]
  const sharers = all.filter((it) => it.chat?.url === chat?.url).length
  const channels = chat ? [{ ...chat, title, sharers, own: ownColumns(site.fields) }] : []
  return [...webhooks, ...channels].map((endpoint, at) => {
    const { url } = endpoint
    const key = endpointKeyOf('chat' in endpoint ? `chat ${url}` : url)
    return { ...endpoint, site: site.name, number: at + 1, host: new URL(url).host, key }
  })
}

/** What the parser needs to know of a site, for signups that come in this way: its tabs and its own fields. */
export function parseContext(
  source: ParseContext['source'],
  { defaultTab, tabs, fields, closing: { overflowTab } }: SiteConfig,
) {
  const overflowKey = overflowKeyOf({ overflowTab })
  const named = (tabs ?? []).filter((tab) => tabKey(tab) !== overflowKey)
  // The owner may bring signups along that are there already.
  const isOwner = source === 'import'
  return {
    source,
    defaultTab,
    knownTabs: tabsByKey(isOwner && overflowTab !== undefined ? [...named, overflowTab] : named),
    onlyKnownTabs: tabs !== undefined,
    ...(!isOwner && { overflowKey }),
    fields,
  }
}

/** A site of a running service, with what its requests and its delivery share. */
export interface RunningSite extends Site {
  readonly journal: Journal
  readonly health: Health
  readonly events: Events
  /** As the writer has it. */
  readonly erased: Listeners<undefined>
  /** Its lines name the site, when there is a file that names sites. */
  readonly log: Logger
}

/** At least one, in the order of the settings. */
export type RunningSites = readonly [RunningSite, ...RunningSite[]]

/** The sites of the settings. Their `health.journal` is one: they have one journal. */
export function runningSites(
  config: Config,
  secrets: Secrets,
  journal: OpenJournal,
  log: Logger,
  clock: Clock,
  metrics?: Metrics,
): RunningSites {
  const shared: JournalHealth = { state: 'ok' }
  const lines = new ToldLines(clock)
  const suspectLines = new ToldLines(clock, suspected)
  const run = (site: SiteConfig): RunningSite => {
    const { name, settingNames: names } = site
    const health = createHealth(shared)
    const own = config.hasSites ? log.child({ site: name }) : log
    const options = { lines, suspectLines, names, metrics: metrics?.ofSite(name) }
    return {
      ...siteOf(site, config, secrets),
      ...{ journal: partOf(journal.sites, site), health, log: own },
      events: createEvents(own, health, clock, options),
      erased: new Listeners<undefined>(),
    }
  }
  const [first, ...others] = config.sites
  const sites: RunningSites = [run(first), ...others.map(run)]
  if (metrics) journal.onCommit((commit) => sites[0].events.signupsCommitted(commit))
  return sites
}

/** What the HTTP side of a service works with. */
export interface ServiceParts {
  readonly config: Config
  readonly secrets: Secrets
  readonly sites: RunningSites
  readonly journal: Pick<OpenJournal, 'backlogs' | 'admin'>
  readonly home: JournalHome
  /** What has to end before the journal is added to it. */
  readonly started: Pick<AsyncDisposableStack, 'use'>
  readonly log: Logger
  /** Undefined without `METRICS_TOKEN`. */
  readonly metrics: Metrics | undefined
  readonly world: World
}
