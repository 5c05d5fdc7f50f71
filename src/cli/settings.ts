import type { Config } from '../config/config.ts'
import type { SiteConfig } from '../config/site.ts'
import { suggest } from '../signup/suggest.ts'
import { UsageError } from './session.ts'

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
  const names = listOfSites(config.sites.map((it) => it.name))
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
  const meant = suggest(name, names)
  const hint =
    meant === undefined ? `The sites are ${listOfSites(names)}.` : `Did you mean ${meant}?`
  return new UsageError(`There is no site ${JSON.stringify(name)}. ${hint}`)
}

const namesMax = 20

/** At most twenty names. */
export function listOfSites(names: readonly string[]): string {
  const rest = names.length - namesMax
  return names.slice(0, namesMax).join(', ') + (rest > 0 ? ` and ${rest} others` : '')
}
