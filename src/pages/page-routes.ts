import { page, type Answer } from '../http/answer.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { pageSecurity } from '../http/headers.ts'
import { refuse } from '../http/refuse.ts'
import type { Handler } from '../http/router.ts'
import { parseForm, tooManyTabs } from '../signup/parse.ts'
import { nextLocation } from './form-post.ts'
import { linkedFields } from './link.ts'
import { signupPage, thanksPage, thanksPath } from './pages.ts'
import { consentField, consentText } from './typed-form.ts'
import { type OwnPage, type PageOptions, type View, viewOf } from './view.ts'

export interface PageRoutesOptions extends PageOptions {
  /** Whether a signup for this tab would be taken now, of this client. */
  readonly takesTab: (tab: string, client: string | undefined) => Promise<boolean>
}

/** A page of ours by its path. */
export interface PageRoute {
  readonly path: string
  readonly GET: Handler
  /** Whether its address fills a form. */
  readonly hasForm: boolean
}

/** The pages that people see, and what answers them. */
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
      return answer(await signupPage(view, linked, next), security)
    }
  const thanks: Handler = async ({ request }) =>
    answer(await thanksPage(viewOf(request, options)), framed)
  return [
    { path: '/', GET: signup('hosted', alone), hasForm: true },
    { path: '/api/signup/form', GET: signup('form', framed), hasForm: true },
    { path: `/${thanksPath}`, GET: thanks, hasForm: false },
  ]
}

/**
 * What the page's address has sent along with the signup.
 * @throws Refusal when no signup could be taken with it: its author should learn that, and no visitor
 *   after having typed
 */
async function checkedFields(
  { request, countedAs }: Pick<Exchange, 'request' | 'countedAs'>,
  view: View,
  { tabs, takesTab }: PageRoutesOptions,
): Promise<FormEntries> {
  const isTaken = (field: string) => field === consentField && consentText(view) !== undefined
  const linked = linkedFields(new URL(request.url).searchParams)
  const fields = linked.filter(([field]) => !isTaken(field))
  const somebody = ['email', 'name@example.com'] as const
  const parsed = parseForm([somebody, ...fields], { ...tabs, source: 'form' })
  if (!parsed.ok) throw refuse.pageAddress(parsed.problems)
  if (!(await takesTab(parsed.value.sheetTab, countedAs))) throw refuse.pageAddress([tooManyTabs])
  return fields
}
