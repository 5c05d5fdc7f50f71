import { type PageOptions, type View, viewOf } from '../src/pages/view.ts'

/** What pages are made with when no setting says anything. */
export function pageOptions(options: Partial<PageOptions> = {}): PageOptions {
  return {
    pages: { name: 'off' },
    widget: { siteKey: null, origins: [] },
    allowedOrigins: '*',
    tabs: { defaultTab: 'Sheet1', knownTabs: new Map(), onlyKnownTabs: false },
    ...options,
  }
}

/** How a visitor sees the page at this address. */
export function visitorsView(
  path: string,
  { acceptLanguage = '', ...options }: Partial<PageOptions> & { acceptLanguage?: string } = {},
): View {
  const headers = { 'accept-language': acceptLanguage }
  return viewOf(new Request(`http://localhost${path}`, { headers }), pageOptions(options))
}
