import { html } from 'hono/html'
import { limits } from '../signup/limits.ts'
import type { ProblemField } from '../signup/wire.ts'
import { details, type ShownFailure } from './alert.ts'
import { document } from './document.ts'
import { problemOfFields, translated } from './field-problems.ts'
import { formPage } from './form-page.ts'
import type { PageProblem } from './texts.ts'
import type { FormEntries } from '../http/exchange.ts'
import { ownText, plainOwnText } from './tree-html.ts'
import { typedForm } from './typed-form.ts'
import type { View } from './view.ts'
import type { RefusalKind } from '../http/problem.ts'

/** The path of the thank-you page, relative to our root. */
export const thanksPath = 'api/signup/thanks'

/** The thank-you page. It contains neither the address nor anything else about the visitor. */
export async function thanksPage(view: View): Promise<string> {
  const { settings, texts } = view
  const { title, text, close, next } = texts.thanks
  const isBare = view.page === 'form'
  const mayClose = !isBare && settings.next === undefined
  const body = html`<div class="thanks" role="status">
    <div>
      ${!isBare && settings.title && html`<p class="intro">${ownText(view, settings.title)}</p>`}
      <h1>${title}</h1>
      <p>
        ${settings.thanks ? ownText(view, settings.thanks) : html`${text} ${mayClose && close}`}
      </p>
      ${settings.next && html`<a class="next" href="${settings.next}" target="_top">${next}</a>`}
    </div>
  </div>`
  return document(view, {
    title: settings.title ? `${title} – ${plainOwnText(view, settings.title)}` : title,
    body,
  })
}

/** The page with the signup form. `linked` has the fields from the page's address. */
export async function signupPage(view: View, linked: FormEntries, next: string): Promise<string> {
  return formPage(view, { typed: typedForm(linked, view), next })
}

/** A refusal with everything that its page shows. */
export interface ToldRefusal {
  readonly kind: RefusalKind
  /** Whether the service is at fault. Then the page shows the id of the request. */
  readonly isOurs: boolean
  readonly errors?: readonly ProblemField[] | undefined
  readonly requestId: string
  /** The posted form, if it was read before the refusal. */
  readonly typed?: FormEntries | undefined
  /** The page that the form leads to after a successful signup. */
  readonly next: string
}

/** Shows the form again with the typed values and the problem. Without a form, shows only the problem. */
export async function refusalPage(refusal: ToldRefusal, view: View): Promise<string> {
  const { kind, isOurs, errors = [], requestId, typed, next } = refusal
  const { problems, reference } = view.texts
  const problem = problemOf[kind]
  const failure: ShownFailure = {
    text: problems[kind === 'fields' ? problemOfFields(errors, view) : problem],
    errors: translated(errors, typed ?? [], view),
    reference: isOurs ? `${reference}: ${requestId}` : undefined,
  }
  // Refused origin: show no form of ours, because it would pass the origin check.
  if (typed && isShowable(typed) && problem !== 'forbidden') {
    return formPage(view, { typed: typedForm(typed, view), next, failure })
  }
  const { title, text } = failure.text
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    ${details(failure)}`
  return document(view, { title, body })
}

/** Several times the size of a signup. A larger form is not from a person and costs too much to show. */
const typedCharactersMax = 100_000

function isShowable(typed: FormEntries): boolean {
  if (typed.length > limits.formFieldsMax) return false
  const characters = typed.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  return characters <= typedCharactersMax
}

const problemOf: Readonly<Record<RefusalKind, PageProblem>> = {
  malformed: 'unreadable',
  incompleteBody: 'unreadable',
  pageAddress: 'address',
  notHttp: 'unreadable',
  apiKey: 'unreadable',
  metricsToken: 'unreadable',
  origin: 'forbidden',
  challenge: 'challenge',
  noSuchPath: 'notFound',
  noSuchSignup: 'notFound',
  noSuchSite: 'notFound',
  method: 'method',
  tunnel: 'method',
  tooSlow: 'unreadable',
  bodyTooLarge: 'tooLarge',
  bulkTooLarge: 'tooLarge',
  contentType: 'unreadable',
  jsonOnly: 'unreadable',
  contentCoding: 'unreadable',
  charset: 'unreadable',
  expectation: 'unreadable',
  fields: 'fields',
  bulk: 'fields',
  keyUsedBefore: 'fields',
  tooMany: 'tooMany',
  headersTooLarge: 'unreadable',
  unexpected: 'unexpected',
  journalUnavailable: 'unavailable',
  outcomeUnknown: 'unknown',
  tooBusy: 'unavailable',
  tooManyInTurn: 'unavailable',
  challengeUnavailable: 'unavailable',
}
