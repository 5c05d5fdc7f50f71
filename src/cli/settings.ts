import { type Config, loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env/env.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import { expiredUpTo } from '../operations/retention.ts'
import type { OpenReader } from '../journal/contracts/journal.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import { systemClock } from '../platform/clock.ts'
import { journalHomeOf } from '../service/journal-home.ts'
import { type Session, UsageError } from './session.ts'
import { listOf } from '../operations/words.ts'
import { nameHint } from './terminal/words.ts'

/** The settings of the environment, and the home of their journal. @throws ConfigError */
export async function readSettings() {
  const { config, secrets } = loadConfig(readEnvironment())
  return { config, secrets, home: await journalHomeOf(config, secrets, { clock: systemClock }) }
}

type Sites = Config['sites']

/**
 * The site of this name, or all sites without a name.
 *
 * @throws UsageError when the settings have no site of this name
 */
export function chosenSites({ sites }: Pick<Config, 'sites'>, name: string | undefined): Sites {
  if (name === undefined) return sites
  const found = sites.find((site: SiteConfig) => site.name === name)
  if (found) return [found]
  throw noSuchSite(
    name,
    sites.map((site) => site.name),
  )
}

/**
 * The site of this name, or the only one without a name.
 *
 * @throws UsageError when the settings have no site of this name, or several and no name is given
 */
export function chosenSite(config: Pick<Config, 'sites'>, name: string | undefined): SiteConfig {
  const [site, ...others] = chosenSites(config, name)
  if (others.length === 0) return site
  const names = listOf(config.sites.map((it) => it.name))
  throw new UsageError(`There are several sites: give --site NAME. The sites are ${names}.`)
}

/**
 * The name of a site that the journal has, whether the settings name it or not; the only one without a name.
 *
 * @param known the names of all sites of the journal
 * @throws UsageError when there is no such site, or several and no name is given
 */
export function chosenName(
  config: Pick<Config, 'sites'>,
  known: Iterable<string>,
  name: string | undefined,
): string {
  if (name === undefined) return chosenSite(config, name).name
  const names = [...known]
  if (names.includes(name)) return name
  throw noSuchSite(name, names)
}

function noSuchSite(name: string, names: readonly string[]): UsageError {
  const hint = nameHint(name, names, 'The sites')
  return new UsageError(`There is no site ${JSON.stringify(name)}. ${hint}`)
}

/**
 * Tells which sites with signups the journal has and the settings do not. Without the service's
 * ROLLCALL_CONFIG, a command would show zeros and say nothing.
 */
export async function tellOtherSites(
  config: Pick<Config, 'sites' | 'hasSites'>,
  { sites }: Pick<OpenReader, 'sites'>,
  notes: Session['notes'],
): Promise<void> {
  const known = new Set(config.sites.map(({ name }) => name))
  const others: string[] = []
  for (const [name, reader] of sites) {
    if (known.has(name)) continue
    const { all } = await reader.figures(0, 0)
    if (all.accepted > 0) others.push(name)
  }
  if (others.length === 0) return
  const what = config.hasSites
    ? 'Put them back into the file of ROLLCALL_CONFIG to see them here'
    : 'Set ROLLCALL_CONFIG as the service has it to see them here'
  notes.tell(
    `The journal also has signups of sites that the settings do not have: ${listOf(others.toSorted())}. ${what}; export --site NAME has them now.`,
  )
}

/**
 * Tells up to when `RETENTION_DAYS` has erased what a command would show. Returns that time, in ISO 8601;
 * null when the journal has all.
 */
export async function tellExpired(
  reader: Pick<Reader, 'fact'>,
  notes: Session['notes'],
): Promise<string | null> {
  const upTo = await expiredUpTo(reader)
  if (upTo !== null) {
    notes.tell(`RETENTION_DAYS: the journal does not know any more what was written up to ${upTo}.`)
  }
  return upTo
}
