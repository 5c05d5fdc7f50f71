import { loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env/env.ts'
import { expiredUpTo } from '../operations/retention.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import { systemClock } from '../platform/clock.ts'
import { journalHomeOf } from '../service/journal-home.ts'
import { type Session, UsageError } from './session.ts'
import { listOf } from '../operations/words.ts'
import { nameHint } from './terminal/words.ts'

export type Settings = Awaited<ReturnType<typeof readSettings>>

/** The settings of the environment, and the home of their journal. @throws ConfigError */
export async function readSettings({ env }: Pick<Session, 'env'>) {
  const { config, secrets } = loadConfig(readEnvironment(env))
  return { config, secrets, home: await journalHomeOf(config, secrets, { clock: systemClock }) }
}

interface Named {
  readonly name: string
}

/** The site that `--site` names, or all without a name. @throws UsageError when there is none of that name */
export function chosenSites<Site extends Named>(
  sites: readonly Site[],
  name: string | undefined,
): readonly [Site, ...Site[]] {
  const [first, ...others] = sites.filter((it) => name === undefined || it.name === name)
  if (first) return [first, ...others]
  const names = sites.map((it) => it.name)
  throw new UsageError(
    `There is no site ${JSON.stringify(name)}. ${nameHint(name ?? '', names, 'The sites')}`,
  )
}

/** The same of a command for one site. @throws UsageError also when there are several, and no name is given */
export function chosenSite<Site extends Named>(
  sites: readonly Site[],
  name: string | undefined,
): Site {
  const [site, ...others] = chosenSites(sites, name)
  if (others.length === 0) return site
  const names = listOf(sites.map((it) => it.name))
  throw new UsageError(`There are several sites: give --site NAME. The sites are ${names}.`)
}

/**
 * Tells which sites with signups the journal has and the settings do not. Without the service's
 * ROLLCALL_CONFIG, a command would show zeros and say nothing.
 */
export async function tellOtherSites({
  config,
  home,
  notes,
}: Pick<Settings, 'config' | 'home'> & Pick<Session, 'notes'>): Promise<void> {
  await using reading = await home.openReader()
  const known = new Set(config.sites.map(({ name }) => name))
  const others: string[] = []
  for (const [name, reader] of reading.sites) {
    if (known.has(name)) continue
    const { all } = await reader.figures()
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
