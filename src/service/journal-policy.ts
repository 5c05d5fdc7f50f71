import type { Config } from '../config/config.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import type { JournalPolicy, SitePolicies } from '../journal/contracts/journal.ts'
import { day } from '../platform/clock.ts'
import { plainConsent } from '../signup/consent.ts'
import { translationsOf } from '../signup/site-text.ts'

/** New tabs per hour and client address: more than a person needs, and too few to use up all tabs at once. */
const newTabsPerHourMax = 10

type Settings = Pick<Config, 'sites' | 'confirmationDays' | 'hasAdminPage'>

function policyOf(site: SiteConfig, { confirmationDays, hasAdminPage }: Settings): JournalPolicy {
  const { defaultTab, tabs = [], maxTabs, duplicates, spam, page, mail, spreadsheet } = site
  const consents = page.consent === undefined ? {} : translationsOf(page.consent, 'en')
  return {
    ...{ defaultTab, newTabsMax: maxTabs, newTabsPerHourMax, closing: site.closing },
    namedTabs: [defaultTab, ...tabs, site.closing.overflowTab ?? defaultTab],
    ...{ duplicates, hasAdminPage, holdsSuspects: spam.filter === 'quarantine' },
    spreadsheet: spreadsheet.kind === 'google' ? spreadsheet.spreadsheetId : 'workbook',
    confirmation: site.confirmation === 'mail' ? { waitMs: confirmationDays * day } : undefined,
    welcomes: mail.welcome !== undefined,
    wordings: Object.values(consents).map(plainConsent),
  }
}

/**
 * The policies of all sites of the settings, by name.
 *
 * @param others names of further sites, about which nothing is known
 */
export function policiesOf(settings: Settings, others: Iterable<string> = []): SitePolicies {
  const unknown = Array.from(others, (name) => [name, {}] as const)
  const known = settings.sites.map((site) => [site.name, policyOf(site, settings)] as const)
  return new Map([...unknown, ...known])
}
