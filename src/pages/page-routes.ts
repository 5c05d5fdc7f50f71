import { page, type Answer } from '../http/answer.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { pageSecurity } from '../http/headers.ts'
import { refuse } from '../http/refuse.ts'
import type { Handler } from '../http/router.ts'
import { parseForm, tooManyTabs } from '../signup/parse.ts'
import { formPage } from './form-page.ts'
import { nextLocation } from './form-post.ts'
import { consentField } from './form-trees.ts'
import { linkedFields } from './link.ts'
import { thanksPage, thanksPath } from './thanks.ts'
import { consentText, typedForm } from './typed-form.ts'
import { type OwnPage, type PageOptions, type View, viewOf } from './view.ts'

export interface PageRoutesOptions extends PageOptions {
  /** Whether a signup by this client for this tab would be accepted now. */
  readonly takesTab: (tab: string, client: string | undefined) => Promise<boolean>
}

/** One of our pages. */
export interface PageRoute {
  readonly path: string
  readonly GET: Handler
}

/** The pages that people see, with their handlers. */
export function pageRoutes(options: PageRoutesOptions): readonly PageRoute[] {
  const { allowedOrigins } = options
  const framed = pageSecurity({ ...options, framed: true })
  const alone = pageSecurity({ ...options, framed: false })
  const answer = (html: string, security: readonly string[]): Answer =>
    page(html, { security, vary: 'Accept-Language' })

  const signup =
    (own: OwnPage, security: readonly string[]): Handler =>
    async (exchange) => {
      const { request, ownOrigin } = exchange
      const view = viewOf(request, options, own)
      const linked = await checkedFields(exchange, view, options)
      const next = nextLocation(view, linked, { ownOrigin, allowedOrigins })
      return answer(await formPage(view, { typed: typedForm(linked, view), next }), security)
    }
  const thanks: Handler = async ({ request }) =>
    answer(await thanksPage(viewOf(request, options)), framed)
  return [
    { path: '/', GET: signup('hosted', alone) },
    { path: '/api/signup/form', GET: signup('form', framed) },
    { path: `/${thanksPath}`, GET: thanks },
  ]
}

/**
 * The hidden fields from the page's address.
 *
 * @throws Refusal when no signup could be accepted with them. The page's author learns it now, and no
 *   visitor after typing.
 */
async function checkedFields(
  { request, client }: Pick<Exchange, 'request' | 'client'>,
  view: View,
  { tabs, fields: declared, takesTab }: PageRoutesOptions,
): Promise<FormEntries> {
  const isTaken = (field: string) => field === consentField && consentText(view) !== undefined
  const query = new URL(request.url).searchParams
  const linked = linkedFields(query, declared, request.headers.get('referer'))
  const fields = linked.filter(([field]) => !isTaken(field))
  const somebody = ['email', 'name@example.com'] as const
  // The visitor will fill in what the address leaves out.
  const asked = declared.map((field) => ({ ...field, required: false }))
  const context = { ...tabs, fields: asked, source: 'form' } as const
  const parsed = parseForm([somebody, ...fields], context)
  if (!parsed.ok) throw refuse.pageAddress(parsed.problems)
  if (!(await takesTab(parsed.value.sheetTab, client.rateLimitKey)))
    throw refuse.pageAddress([tooManyTabs])
  return fields
}
