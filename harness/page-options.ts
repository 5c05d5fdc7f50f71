import { type PageOptions, type View, viewOf } from '../src/pages/view.ts'

/** The options of pages when no setting is made. */
export function pageOptions(options: Partial<PageOptions> = {}): PageOptions {
  return {
    pages: { name: 'off' },
    widget: { siteKey: null, origins: [] },
    site: undefined,
    fields: [],
    openness: () => 'open',
    closes: false,
    allowedOrigins: '*',
    tabs: { defaultTab: 'Sheet1', knownTabs: new Map(), onlyKnownTabs: false },
    ...options,
  }
}

/** The view of the page that a visitor of this address gets. */
export function visitorsView(
  path: string,
  { acceptLanguage = '', ...options }: Partial<PageOptions> & { acceptLanguage?: string } = {},
): View {
  const headers = { 'accept-language': acceptLanguage }
  return viewOf(new Request(`http://localhost${path}`, { headers }), pageOptions(options))
}
