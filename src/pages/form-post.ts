import type { Events } from '../ops/events.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { type Parsed, parseForm } from '../signup/parse.ts'
import { thanksPath } from './pages.ts'
import { missingOnPage } from './field-problems.ts'
import { firstValue, type FormEntries } from './typed-form.ts'
import { type PageOptions, type View, viewOf } from './view.ts'
import { redirectLocation, redirectOrigin, type RedirectRules } from './redirect.ts'
import { seeOther } from '../http/respond.ts'
import type { Visit } from '../http/exchange.ts'

export interface FormPostOptions extends PageOptions {
  readonly events: Events
}

/** A signup from a form; one of our own pages has to hold what the page asks for. */
export function parsePosted(
  request: HttpRequest,
  fields: FormEntries,
  options: PageOptions,
): Parsed {
  const parsed = parseForm(fields, { ...options.tabs, source: 'form' })
  // By the query a form of ours is told from all others, which need no view.
  if (!request.url.includes('?')) return parsed
  const missing = missingOnPage(viewOf(request, options), fields)
  if (missing.length === 0) return parsed
  return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), ...missing] }
}

/**
 * After a person's form was taken: on to where the form says, or to the thank-you page, which a
 * reload then loads again without another signup.
 *
 * @param redirect as it was sent
 */
export function sendOn(
  request: HttpRequest,
  { redirect, isReplay }: { readonly redirect: string | undefined; readonly isReplay: boolean },
  { ownOrigin, requestId }: Pick<Visit, 'ownOrigin' | 'requestId'>,
  options: FormPostOptions,
): Response {
  const { allowedOrigins, events } = options
  const { location, isFollowed } = next(viewOf(request, options), redirect, {
    ownOrigin,
    allowedOrigins,
  })
  if (redirect !== undefined && !isFollowed) {
    events.redirectNotFollowed(redirectOrigin(redirect, ownOrigin), requestId)
  }
  return seeOther(location, isReplay)
}

/** Where such a form will lead to. */
export function nextLocation(view: View, fields: FormEntries, rules: RedirectRules): string {
  const redirect = firstValue(fields, 'redirect')
  return next(view, redirect === '' ? undefined : redirect, rules).location
}

function next(view: View, redirect: string | undefined, rules: RedirectRules) {
  const location = redirect === undefined ? undefined : redirectLocation(redirect, rules)
  const thanks = view.root + thanksPath + view.query
  return { location: location ?? thanks, isFollowed: location !== undefined }
}
