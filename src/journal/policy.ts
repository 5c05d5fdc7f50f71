/** What the operator decides about a site's signups; fixed when the journal is opened. */
export interface JournalPolicy {
  /** How many tabs signups may bring into being. */
  readonly newTabsMax: number
  /** How many of these one opener may make in an hour. */
  readonly newTabsPerHourMax: number
  /** Tabs that the settings name: they do not count. */
  readonly namedTabs: readonly string[]
  /**
   * With `ignore`, a second signup for an address in a tab (letter case aside) is kept like any other
   * and becomes written with its batch, but its batch holds no row for it.
   */
  readonly duplicates: 'append' | 'ignore'
  /**
   * The default tab's name. With `of`, a spreadsheet's id, it holds only until `resolveDefaultTab` gives
   * the tab its name for that spreadsheet. Then the tab does not count either, whatever its name.
   */
  readonly defaultTab: { readonly name: string; readonly of?: string | undefined }
}

export const defaultPolicy: JournalPolicy = {
  newTabsMax: Infinity,
  newTabsPerHourMax: Infinity,
  namedTabs: [],
  duplicates: 'append',
  defaultTab: { name: 'Sheet1' },
}
