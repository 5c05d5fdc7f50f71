/** The operator's settings for a site's signups. They are fixed when the journal is opened. */
export interface JournalPolicy {
  /** How many new tabs signups may make in all. */
  readonly newTabsMax: number
  /** How many new tabs one opener (`AppendTerms.opener`) may make in an hour. */
  readonly newTabsPerHourMax: number
  /** Tabs that the settings name. They do not count as new tabs. */
  readonly namedTabs: readonly string[]
  /**
   * With `ignore`, the second signup of an address in a tab (letter case aside) gets no row. The journal
   * keeps it like any other signup, and marks it as written together with its batch.
   */
  readonly duplicates: 'append' | 'ignore'
  /**
   * The default tab's name. With `of`, the id of a spreadsheet, the name is provisional:
   * `resolveDefaultTab` finds out how that spreadsheet calls the tab. Such a default tab does not count
   * as a new tab under either name.
   */
  readonly defaultTab: { readonly name: string; readonly of?: string | undefined }
  /** The present spreadsheet: its id, or `workbook`. The journal notes it with each settled batch. */
  readonly spreadsheet: string
}

export const defaultPolicy: JournalPolicy = {
  newTabsMax: Infinity,
  newTabsPerHourMax: Infinity,
  namedTabs: [],
  duplicates: 'append',
  defaultTab: { name: 'Sheet1' },
  spreadsheet: 'workbook',
}

/**
 * For a site whose settings are not known. It leaves a default tab without a final name as it is: only
 * the settings or the spreadsheet can tell that name.
 */
export const unknownPolicy: Partial<JournalPolicy> = {
  defaultTab: { name: defaultPolicy.defaultTab.name, of: '' },
}
