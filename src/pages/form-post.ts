import { type Answer, seeOther } from '../http/answer.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { redirectLocation, redirectOrigin, type RedirectRules } from './redirect.ts'
import type { Events } from '../ops/events.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import { missingOnPage } from './field-problems.ts'
import { thanksPath } from './thanks.ts'
import { firstValue } from './typed-form.ts'
import { type PageOptions, type View, viewOf } from './view.ts'

export interface FormPostOptions extends PageOptions {
  readonly events: Pick<Events, 'redirectNotFollowed'>
}

/** The required fields that a form from our own pages lacks. Such a form has a query in its address. */
export function missingInPosted(
  { request }: Pick<Exchange, 'request'>,
  fields: FormEntries,
  options: PageOptions,
): readonly FieldProblem[] {
  return request.url.includes('?') ? missingOnPage(viewOf(request, options), fields) : []
}

/**
 * Redirects the visitor after a signup: to the form's `redirect`, or to the thank-you page. A reload
 * of that page does not send the form again.
 *
 * @param redirect the value as it was sent
 */
export function sendOn(
  { request, ownOrigin, requestId }: Pick<Exchange, 'request' | 'ownOrigin' | 'requestId'>,
  redirect: string | undefined,
  options: FormPostOptions,
): Answer {
  const { allowedOrigins, events } = options
  const { location, isFollowed } = next(viewOf(request, options), redirect, {
    ownOrigin,
    allowedOrigins,
  })
  if (redirect !== undefined && !isFollowed) {
    events.redirectNotFollowed(redirectOrigin(redirect, ownOrigin), requestId)
  }
  return seeOther(location)
}

/** The page that `sendOn` will redirect this form to. */
export function nextLocation(view: View, fields: FormEntries, rules: RedirectRules): string {
  const redirect = firstValue(fields, 'redirect')
  return next(view, redirect === '' ? undefined : redirect, rules).location
}

function next(view: View, redirect: string | undefined, rules: RedirectRules) {
  const location = redirect === undefined ? undefined : redirectLocation(redirect, rules)
  const thanks = view.root + thanksPath + view.query
  return { location: location ?? thanks, isFollowed: location !== undefined }
}
