import type { IntakeLog } from '../journal/intake-log.ts'
import { JournalUnavailable } from '../journal/unavailable.ts'
import type { Clock } from '../platform/clock.ts'
import { parseForm } from '../signup/parse.ts'
import { nextLocation } from './form-post.ts'
import { pageHeaders } from '../http/headers.ts'
import { signupPage, thanksPage, thanksPath } from './pages.ts'
import { linkedFields } from './link.ts'
import { consentField, consentText, type FormEntries } from './typed-form.ts'
import { type OwnPage, type PageOptions, type View, viewOf } from './view.ts'
import { page, refuse } from '../http/respond.ts'
import { tooManyTabs } from '../intake/submit.ts'
import type { Visit } from '../http/exchange.ts'

type PageHandler = (
  request: Request,
  visit: Pick<Visit, 'ownOrigin' | 'countedAs'>,
) => Response | Promise<Response>

export interface PageRoutesOptions extends PageOptions {
  readonly journal: Pick<IntakeLog, 'takesTab'>
  readonly clock: Clock
}

/** What GET answers at the paths that people see. */
export function pageRoutes(options: PageRoutesOptions): Readonly<Record<string, PageHandler>> {
  const { allowedOrigins } = options
  const headersOf = (framed: boolean) => ({
    ...pageHeaders({ ...options, framed }),
    vary: 'Accept-Language',
  })
  const framed = headersOf(true)
  const alone = headersOf(false)

  const signup =
    (own: OwnPage, headers: Record<string, string>): PageHandler =>
    async (request, { ownOrigin, countedAs }) => {
      const view = viewOf(request, options, own)
      const linked = await checkedFields(request, { view, countedAs }, options)
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
async function checkedFields(
  request: Request,
  { view, countedAs }: { readonly view: View } & Pick<Visit, 'countedAs'>,
  { tabs, journal, clock }: PageRoutesOptions,
): Promise<FormEntries> {
  const isTaken = (field: string) => field === consentField && consentText(view) !== undefined
  const linked = linkedFields(new URL(request.url).searchParams)
  const fields = linked.filter(([field]) => !isTaken(field))
  const somebody = ['email', 'name@example.com'] as const
  const parsed = parseForm([somebody, ...fields], { ...tabs, source: 'form' })
  if (!parsed.ok) throw refuse.pageAddress(parsed.problems)
  const isTabTaken = journal.takesTab(parsed.value.sheetTab, clock.now(), countedAs)
  if (!(await isTabTaken.catch(unlessUnavailable))) throw refuse.pageAddress([tooManyTabs])
  return fields
}

/** What nobody can know just now keeps nobody from the form. */
function unlessUnavailable(error: unknown): true {
  if (error instanceof JournalUnavailable) return true
  throw error
}
