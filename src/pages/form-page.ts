import { html } from 'hono/html'
import type { FormEntries } from '../http/exchange.ts'
import { stampField } from '../signup/filter-fields.ts'
import { translationsOf } from '../signup/site-text.ts'
import type { ProblemField, Tree } from '../signup/wire.ts'
import { document, type Html } from './document.ts'
import { fieldTree, told, type Typed } from './field-tree.ts'
import { commonField, consentBox, consentField, unseen } from './form-trees.ts'
import { notice } from './notice.ts'
import { type PageProblem, problemText } from './texts.ts'
import { htmlOf, ownLanguage, ownText, plainOwnText } from './tree-html.ts'
import type { TypedForm } from './typed-form.ts'
import type { View } from './view.ts'

export interface ShownFailure {
  readonly problem: PageProblem
  readonly errors: readonly ProblemField[]
  /** A line with the id of the request in the log. */
  readonly reference?: string | undefined
}

export interface FormPage {
  readonly typed: TypedForm
  /** Where the script leads after the signup. Without a script, the answer redirects to the same page. */
  readonly next: string
  readonly failure?: ShownFailure
}

/** The signup form with the typed values. Each error is beside its field; all others are on top. */
export async function formPage(view: View, { typed, next, failure }: FormPage): Promise<string> {
  const { texts, page, settings } = view
  const { fields, consent } = typed
  const names = [
    'email',
    ...(typed.name === undefined ? [] : ['name']),
    ...fields.map(({ field }) => field.name),
    ...(consent === undefined ? [] : [consentField]),
  ]
  const beside = new Map(failure?.errors.map(({ field, message }) => [field, message]))
  const firstWrong = names.find((name) => beside.has(name))
  // Browsers do not let a frame take the focus from the page around it.
  const mayTakeFocus = page !== 'form'
  const onTop = failure?.errors.filter(({ field }) => !names.includes(field)) ?? []
  const problemOf = (name: string): Problem => ({
    problem: beside.get(name),
    takesFocus: mayTakeFocus && name === firstWrong,
  })
  const draw = (tree: Tree) => htmlOf(view, tree)
  const stamp: FormEntries = view.stamp ? [[stampField, view.stamp()]] : []
  const isSingle = page === 'form' && names.length === 1
  const body = html`
    ${heading(view)}
    ${failure && alert(view, { ...failure, errors: onTop }, mayTakeFocus && firstWrong === undefined)}
    ${view.openness === 'overflow' && notice(view)}
    ${view.isChallenged && failure?.problem !== 'challenge' && noScript(view)}
    <form
      method="post"
      action="${view.root}api/signup${view.query}"
      data-next="${next}"
      ${isSingle && html`class="single"`}
    >
      ${commonFields(view, typed, problemOf).map(draw)}
      ${fields.map(({ field, value }) =>
        draw(fieldTree(field, ownLanguage(view), { value, ...problemOf(field.name) })),
      )}
      ${[...typed.hidden, ...stamp].map(([name, value]) => draw(['input', { type: 'hidden', name, value }]))}
      ${consent !== undefined && draw(consentTree(view, consent, problemOf(consentField)))}
      ${draw(unseen)}
      <button type="submit">
        ${page && settings.button ? ownText(view, settings.button) : texts.form.submit}
      </button>
    </form>
    <template>${alert(view, { problem: 'fields', errors: [] }, false)}</template>
  `
  const title = page && settings.title ? plainOwnText(view, settings.title) : texts.form.title
  const isHosted = page === 'hosted'
  return document(view, {
    title: failure ? `${texts.form.error}: ${title}` : title,
    body,
    hasForm: true,
    isListed: isHosted && !failure,
    description: isHosted && settings.text ? plainOwnText(view, settings.text) : undefined,
  })
}

/** What the page of a form says when signups are closed. */
export function closedPage(view: View): Promise<string> {
  const { page, settings } = view
  const { heading: ours } = problemText(view.texts, 'closed')
  const isHeading = page !== 'form' && !settings.title && !settings.closed
  return document(view, {
    title: settings.title ? plainOwnText(view, settings.title) : ours,
    body: html`${heading(view, ours)} ${!isHeading && notice(view)}`,
    isListed: page === 'hosted',
  })
}

/** The words for a problem. Of the end of signups a site may say more itself. */
export function problemWords(view: View, problem: PageProblem) {
  const { heading, text } = problemText(view.texts, problem)
  const own = problem === 'closed' && view.settings.closed
  return { heading, text: own ? ownText(view, own) : text }
}

type Problem = Omit<Typed, 'value'>

function commonFields(
  view: View,
  { email, name }: TypedForm,
  problemOf: (name: string) => Problem,
): readonly Tree[] {
  const ofEmail = told('email', problemOf('email'))
  const emailTree = commonField('email', true, { value: email, ...ofEmail.marks }, ...ofEmail.below)
  if (name === undefined) return [emailTree]
  const { marks, below } = told('name', problemOf('name'))
  const isRequired = view.name === 'required'
  return [emailTree, commonField('name', isRequired, { value: name, ...marks }, ...below)]
}

function consentTree(view: View, isGiven: boolean, problem: Problem): Tree {
  const { marks, below } = told('consent', problem)
  const ticked = isGiven ? { checked: '' } : {}
  const consent = translationsOf(view.settings.consent ?? '', ownLanguage(view))
  return consentBox(consent, view.language, { ...ticked, ...marks }, ...below)
}

/** The heading. The bare form has none, because the page around it has its own. */
function heading(view: View, ours = view.texts.form.title): Html | false {
  const { page, settings } = view
  if (page === 'form') return false
  const title = page && settings.title ? ownText(view, settings.title) : ours
  return html`
    <h1>${title}</h1>
    ${page && settings.text && html`<p class="intro">${ownText(view, settings.text)}</p>`}
  `
}

function noScript({ texts }: View): Html {
  const { heading, text } = problemText(texts, 'noScript')
  return html`
    <noscript>
      <div class="alert">
        <p><strong>${heading}</strong></p>
        <p>${text}</p>
      </div>
    </noscript>
  `
}

/** The box above a form that tells what is wrong. Screen readers read it at once when it takes the focus. */
function alert(view: View, failure: ShownFailure, takesFocus: boolean): Html {
  const { heading, text } = problemWords(view, failure.problem)
  return html`
    <div class="alert" role="alert" tabindex="-1" ${takesFocus && html`autofocus`}>
      <p><strong>${heading}</strong></p>
      <p>${text}</p>
      ${details(failure)}
    </div>
  `
}

/** The errors that belong to no visible field, and the reference. */
export function details({ errors, reference }: ShownFailure): Html {
  const items = errors
    .filter(({ field, message }) => field !== '' || message !== '')
    .map(({ field, message }) => {
      const name = field !== '' && html`<b>${field}</b>`
      return html`<li>${name}${name && message !== '' && ': '}${message}</li>`
    })
  return html`
    ${
      items.length > 0 &&
      html`<ul>
        ${items}
      </ul>`
    }
    ${reference && html`<p class="reference">${reference}</p>`}
  `
}
