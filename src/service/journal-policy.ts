import type { Config } from '../config/config.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import {
  type JournalPolicy,
  type SitePolicies,
  unknownPolicy,
} from '../journal/contracts/journal.ts'
import { day } from '../platform/clock.ts'

/** New tabs per hour and client address: more than a person needs, and too few to use up all tabs at once. */
const newTabsPerHourMax = 10

function policyOf(site: SiteConfig, confirmationDays: number): JournalPolicy {
  const { defaultTabOf, tabs = [], maxTabs, duplicates, spam } = site
  const defaultTab = { name: site.defaultTab, provisionalFor: defaultTabOf }
  const namedTabs = defaultTabOf === undefined ? [site.defaultTab, ...tabs] : tabs
  const spreadsheet =
    site.spreadsheet.kind === 'google' ? site.spreadsheet.spreadsheetId : 'workbook'
  const quarantineTab = spam.filter === 'quarantine' ? spam.tab : undefined
  const ofTabs = { defaultTab, namedTabs, newTabsMax: maxTabs, newTabsPerHourMax, quarantineTab }
  const confirmation = site.confirmation === 'mail' ? { waitMs: confirmationDays * day } : undefined
  const welcomes = site.mail.welcome !== undefined
  return { ...ofTabs, duplicates, spreadsheet, confirmation, welcomes }
}

/**
 * The policies of all sites of the settings, by name.
 *
 * @param others names of further sites, about which nothing is known
 */
export function policiesOf(
  { sites, confirmationDays }: Pick<Config, 'sites' | 'confirmationDays'>,
  others: Iterable<string> = [],
): SitePolicies {
  const unknown = Array.from(others, (name) => [name, unknownPolicy] as const)
  const known = sites.map((site) => [site.name, policyOf(site, confirmationDays)] as const)
  return new Map([...unknown, ...known])
}
