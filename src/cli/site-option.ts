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
  const names = sites.map((site) => site.name)
  const meant = suggest(name, names)
  const hint = meant === undefined ? `The sites are ${list(names)}.` : `Did you mean ${meant}?`
  throw new UsageError(`There is no site ${JSON.stringify(name)}. ${hint}`)
}

const namesMax = 20

function list(names: readonly string[]): string {
  const rest = names.length - namesMax
  return names.slice(0, namesMax).join(', ') + (rest > 0 ? ` and ${rest} others` : '')
}
