import { pageHeaders } from './headers.ts'
import type { AllowedOrigins } from './origin.ts'
import { thanksPage, thanksPath } from './pages.ts'
import { stylesheetPath } from './pages/document.ts'
import { asset, page } from './respond.ts'

export interface PageOptions {
  readonly allowedOrigins: AllowedOrigins
  /** CSS of all pages. */
  readonly stylesheet: string
}

/** What GET answers at the paths that people see, and at those of the files pages are made with. */
export function pageRoutes({
  allowedOrigins,
  stylesheet,
}: PageOptions): Readonly<Record<string, () => Promise<Response>>> {
  const framed = pageHeaders({ allowedOrigins, framed: true })
  return {
    [thanksPath]: async () => page(await thanksPage(), 200, framed),
    [stylesheetPath]: async () => asset(stylesheet, 'text/css'),
  }
}
