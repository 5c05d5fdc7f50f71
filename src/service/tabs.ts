import type { SiteConfig } from '../config/sites/site.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { tabsByKey } from '../signup/tab.ts'

/** The tabs that signups may name, and the site's own fields, as `parse.ts` needs them. */
export function tabsOf(
  { defaultTabOf, tabs, fields }: SiteConfig,
  { intake }: Pick<Journal, 'intake'>,
) {
  return {
    /** A getter, because the default tab may get its name while the service runs. */
    get defaultTab() {
      return intake.defaultTab.name
    },
    // Always the same, so that a repeated request keeps its fingerprint when the tab gets its name.
    absentTab: defaultTabOf === undefined ? undefined : '',
    knownTabs: tabsByKey(tabs ?? []),
    onlyKnownTabs: tabs !== undefined,
    fields,
  }
}
