import { html } from 'hono/html'
import { limits } from '../signup/limits.ts'
import type { Html } from './document.ts'
import { ownText } from './own-text.ts'
import type { PageTexts } from './texts.ts'
import { consentField, type TypedForm } from './typed-form.ts'
import type { View } from './view.ts'

/** An input with a label above it. Its name is also its id. */
export interface Control {
  readonly name: string
  readonly label: string
  readonly hint?: string | false
  readonly value: string
  readonly attributes: Html
}

/** The problem of a field, if there is one. */
export interface ControlProblem {
  readonly message: string | undefined
  /** Whether this is the first problem on the page. */
  readonly takesFocus: boolean
}

export function inputsOf(
  { form }: PageTexts,
  typed: TypedForm,
  isNameRequired: boolean,
): readonly Control[] {
  const email: Control = {
    name: 'email',
    label: form.email,
    value: typed.email,
    attributes: html`type="email" autocomplete="email" inputmode="email" autocapitalize="none"
    spellcheck="false" dir="ltr" required maxlength="${limits.emailCharactersMax}"`,
  }
  if (typed.name === undefined) return [email]
  const name: Control = {
    name: 'name',
    label: form.name,
    hint: !isNameRequired && form.optional,
    value: typed.name,
    attributes: html`type="text" autocomplete="name" ${isNameRequired && html`required`}
    maxlength="${limits.nameCharactersMax}"`,
  }
  return [email, name]
}

export function control(it: Control, problem: ControlProblem): Html {
  return html`
    <div class="field">
      <label for="${it.name}"> ${it.label} ${hintOf(it.hint)} </label>
      <input
        id="${it.name}"
        name="${it.name}"
        value="${it.value}"
        ${it.attributes}
        ${wrong(it.name, problem)}
      />
      ${message(it.name, problem)}
    </div>
  `
}

export function consentControl(
  view: View,
  { isGiven, text }: NonNullable<TypedForm['consent']>,
  problem: ControlProblem,
): Html {
  const parts = view.settings.consent?.map(({ text: words, url }) =>
    url === undefined ? words : html`<a href="${url}" target="_blank" rel="noopener">${words}</a>`,
  )
  return html`
    <div class="field">
      <label class="choice">
        <input
          id="consent"
          type="checkbox"
          name="${consentField}"
          value="${text}"
          required
          ${isGiven && html`checked`}
          ${wrong('consent', problem)}
        />
        <span>${ownText(view, html`${parts}`)}</span>
      </label>
      ${message('consent', problem)}
    </div>
  `
}

/** A word beside the label. */
export function hintOf(hint: string | false | undefined): Html | undefined {
  return hint ? html`<small>(${hint})</small>` : undefined
}

/** The attributes of a control with a problem. */
export function wrong(id: string, { message, takesFocus }: ControlProblem): Html | undefined {
  if (message === undefined) return undefined
  return html`aria-invalid="true" aria-describedby="${id}-problem" ${takesFocus && html`autofocus`}`
}

/** The problem below a control. */
export function message(id: string, { message }: ControlProblem): Html | undefined {
  return message === undefined
    ? undefined
    : html`<p class="problem" id="${id}-problem">${message}</p>`
}
