import { html } from 'hono/html'
import { alert, type ShownFailure } from './alert.ts'
import { consentControl, control, inputsOf } from './controls.ts'
import { document, type Html } from './document.ts'
import { fieldControl } from './field-controls.ts'
import { ownText } from './own-text.ts'
import type { PageTexts } from './texts.ts'
import { consentField, type TypedForm } from './typed-form.ts'
import type { View } from './view.ts'

export interface FormPage {
  readonly typed: TypedForm
  /** Where the script leads after the signup. Without a script, the answer redirects to the same page. */
  readonly next: string
  readonly failure?: ShownFailure
}

/** The signup form with the typed values. Each error is beside its field; all others are on top. */
export async function formPage(view: View, { typed, next, failure }: FormPage): Promise<string> {
  const { texts, page, settings } = view
  const inputs = inputsOf(texts, typed, view.name === 'required')
  const names = [
    ...inputs.map(({ name }) => name),
    ...typed.fields.map(({ field }) => field.name),
    ...(typed.consent ? [consentField] : []),
  ]
  const beside = new Map(failure?.errors.map(({ field, message }) => [field, message]))
  const firstWrong = names.find((name) => beside.has(name))
  // Browsers do not let a frame take the focus from the page around it.
  const mayTakeFocus = page !== 'form'
  const onTop = failure?.errors.filter(({ field }) => !names.includes(field)) ?? []
  const problemOf = (name: string) => ({
    message: beside.get(name),
    takesFocus: mayTakeFocus && name === firstWrong,
  })
  const isSingle = page === 'form' && names.length === 1
  const body = html`
    ${heading(view)}
    ${failure && alert({ ...failure, errors: onTop }, mayTakeFocus && firstWrong === undefined)}
    ${view.isChallenged && failure?.text !== texts.problems.challenge && noScript(texts)}
    <form
      method="post"
      action="${view.root}api/signup${view.query}"
      data-next="${next}"
      ${isSingle && html`class="single"`}
    >
      ${inputs.map((it) => control(it, problemOf(it.name)))}
      ${typed.fields.map((it) => fieldControl(view, it, problemOf(it.field.name)))}
      ${typed.hidden.map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
      )}
      ${typed.consent && consentControl(view, typed.consent, problemOf(consentField))}
      <button type="submit">
        ${page && settings.button ? ownText(view, settings.button) : texts.form.submit}
      </button>
    </form>
    <template>${alert({ text: texts.problems.fields, errors: [] }, false)}</template>
  `
  const title = (page && settings.title) ?? texts.form.title
  const isHosted = page === 'hosted'
  return document(view, {
    title: failure ? `${texts.form.error}: ${title}` : title,
    body,
    hasForm: true,
    isListed: isHosted && !failure,
    description: isHosted ? settings.text : undefined,
  })
}

/** The heading. The bare form has none, because the page around it has its own. */
function heading(view: View): Html | false {
  const { page, settings, texts } = view
  if (page === 'form') return false
  const title = page && settings.title ? ownText(view, settings.title) : texts.form.title
  return html`
    <h1>${title}</h1>
    ${page && settings.text && html`<p class="intro">${ownText(view, settings.text)}</p>`}
  `
}

function noScript({ noScript: { title, text } }: PageTexts): Html {
  return html`
    <noscript>
      <div class="alert">
        <p><strong>${title}</strong></p>
        <p>${text}</p>
      </div>
    </noscript>
  `
}
