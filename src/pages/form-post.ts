import { type Answer, seeOther } from '../http/answer.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import type { AllowedOrigins } from '../http/origin.ts'
import type { Events } from '../ops/events.ts'
import { limits } from '../signup/limits.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import { consentField } from './form-trees.ts'
import { pageTexts } from './texts.ts'
import { consentText, firstValue } from './typed-form.ts'
import { type PageOptions, type View, viewOf } from './view.ts'

/** The path of the thank-you page, relative to our root. */
export const thanksPath = 'api/signup/thanks'
/** In the query of that page: the signup went to the overflow tab. */
export const waitingParameter = 'waiting'

export interface FormPostOptions extends PageOptions {
  readonly events: Pick<Events, 'redirectNotFollowed'>
}

/** The problems of a form from our own pages that lacks a name or consent that the page requires. */
export function missingInPosted(
  { request }: Pick<Exchange, 'request'>,
  entries: FormEntries,
  options: PageOptions,
): readonly FieldProblem[] {
  // A form of our own has a query in its address.
  if (!request.url.includes('?')) return []
  const view = viewOf(request, options)
  const { nameMissing, consentMissing } = pageTexts.en.fields
  const required = [
    ...(view.name === 'required' ? [{ field: 'name', message: nameMissing }] : []),
    ...(consentText(view) === undefined ? [] : [{ field: consentField, message: consentMissing }]),
  ]
  return required.filter(({ field }) => !firstValue(entries, field)?.trim())
}

/**
 * Redirects the visitor after a signup: to the form's `redirect`, or to the thank-you page. A reload
 * of that page does not send the form again.
 *
 * @param redirect the value as it was sent
 * @param isWaiting whether the signup went to the overflow tab
 */
export function sendOn(
  { request, ownOrigin, requestId }: Pick<Exchange, 'request' | 'ownOrigin' | 'requestId'>,
  redirect: string | undefined,
  isWaiting: boolean,
  options: FormPostOptions,
): Answer {
  const { allowedOrigins, events } = options
  const next = redirectLocation(redirect, { ownOrigin, allowedOrigins })
  if (redirect !== undefined && next === undefined) {
    events.redirectNotFollowed(redirectOrigin(redirect, ownOrigin), requestId)
  }
  return seeOther(next ?? thanksLocation(viewOf(request, options), isWaiting))
}

/** The page that `sendOn` will redirect this form to. */
export function nextLocation(view: View, fields: FormEntries, rules: RedirectRules): string {
  return redirectLocation(firstValue(fields, 'redirect'), rules) ?? thanksLocation(view)
}

function thanksLocation({ root, query }: View, isWaiting = false): string {
  const waiting = `${query === '' ? '?' : '&'}${waitingParameter}`
  return `${root}${thanksPath}${query}${isWaiting ? waiting : ''}`
}

export interface RedirectRules {
  /** The origin under which the visitor sees us. */
  readonly ownOrigin: string
  /** Named origins may be redirected to. A wildcard names none. */
  readonly allowedOrigins: AllowedOrigins
}

/** Characters that browsers drop or read as a slash. Only attackers use them. */
const trickery = /[\p{Cc}\\]/u

/**
 * The `Location`, in ASCII, for a `redirect` as it was sent: a path on our own origin, or a URL of a
 * named origin. Undefined when the redirect must not be followed. A relative one starts at our root.
 */
export function redirectLocation(
  redirect: string | undefined,
  { ownOrigin, allowedOrigins }: RedirectRules,
): string | undefined {
  if (!redirect || redirect.length > limits.redirectCharactersMax || trickery.test(redirect))
    return undefined
  const url = URL.parse(redirect, ownOrigin)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '') return undefined
  if (url.origin === ownOrigin) {
    // Leave out scheme and host, because only the browser knows them for sure.
    const path = url.pathname + url.search + url.hash
    return path.startsWith('//') ? undefined : path
  }
  const isNamed = allowedOrigins !== '*' && allowedOrigins.includes(url.origin)
  return isNamed ? url.href : undefined
}

const loggedCharactersMax = 100

/** The part of a `redirect` that may be logged: its origin, without path, query, user or password. */
export function redirectOrigin(redirect: string, ownOrigin: string): string {
  const url = URL.parse(redirect, ownOrigin)
  if (!url) return 'not a URL'
  return (url.origin === 'null' ? url.protocol : url.origin).slice(0, loggedCharactersMax)
}
