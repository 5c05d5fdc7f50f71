import { parseForm } from '../signup/parse.ts'
import { nextLocation } from './form-post.ts'
import { pageHeaders } from './headers.ts'
import { signupPage, thanksPage, thanksPath } from './pages.ts'
import { linkedFields } from './pages/link.ts'
import { consentField, consentText, type FormEntries } from './pages/typed-form.ts'
import { type OwnPage, type PageOptions, type View, viewOf } from './pages/view.ts'
import { page, refuse } from './respond.ts'
import type { Visit } from './visit.ts'

type PageHandler = (
  request: Request,
  visit: Pick<Visit, 'ownOrigin'>,
) => Response | Promise<Response>

/** What GET answers at the paths that people see. */
export function pageRoutes(options: PageOptions): Readonly<Record<string, PageHandler>> {
  const { allowedOrigins } = options
  const headersOf = (framed: boolean) => ({
    ...pageHeaders({ ...options, framed }),
    vary: 'Accept-Language',
  })
  const framed = headersOf(true)
  const alone = headersOf(false)

  const signup =
    (own: OwnPage, headers: Record<string, string>): PageHandler =>
    async (request, { ownOrigin }) => {
      const view = viewOf(request, options, own)
      const linked = checkedFields(request, view, options)
      const next = nextLocation(view, linked, { ownOrigin, allowedOrigins })
      return page(await signupPage(view, linked, next), 200, headers)
    }
  return {
    '/': signup('hosted', alone),
    '/api/signup/form': signup('form', framed),
    [`/${thanksPath}`]: async (request) =>
      page(await thanksPage(viewOf(request, options)), 200, framed),
  }
}

/**
 * What the page's address has sent along with the signup.
 * @throws RequestRefused when no signup could be taken with it: its author should learn that, and
 *   no visitor after having typed
 */
function checkedFields(request: Request, view: View, { tabs }: PageOptions): FormEntries {
  const isTaken = (field: string) => field === consentField && consentText(view) !== undefined
  const linked = linkedFields(new URL(request.url).searchParams)
  const fields = linked.filter(([field]) => !isTaken(field))
  const somebody = ['email', 'name@example.com'] as const
  const parsed = parseForm([somebody, ...fields], { ...tabs, source: 'form' })
  if (!parsed.ok) throw refuse.pageAddress(parsed.problems)
  return fields
}
