import type { SiteConfig } from '../config/sites/site.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { ParseContext } from '../signup/parse.ts'
import { tabsByKey } from '../signup/tab.ts'

/** What the parser needs to know of a site, for signups that come in this way: its tabs and its own fields. */
export function parseContext(
  source: ParseContext['source'],
  { defaultTabOf, tabs, fields, spam }: SiteConfig,
  { intake }: Pick<Journal, 'intake'>,
) {
  return {
    source,
    /** A getter, because the default tab may get its name while the service runs. */
    get defaultTab() {
      return intake.defaultTab.name
    },
    // Always the same, so that a repeated request keeps its fingerprint when the tab gets its name.
    absentTab: defaultTabOf === undefined ? undefined : '',
    knownTabs: tabsByKey(tabs ?? []),
    onlyKnownTabs: tabs !== undefined,
    closedTab: spam.filter === 'quarantine' ? spam.tab : undefined,
    fields,
  }
}
