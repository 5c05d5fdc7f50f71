import { html, raw } from 'hono/html'
import { type ChoiceField, type Field, headingOf } from '../signup/field.ts'
import { controlAttributes, controlKindOf, fitInRow } from '../signup/field-control.ts'
import { type ControlProblem, hintOf, message, wrong } from './controls.ts'
import type { Html } from './document.ts'
import { ownText } from './own-text.ts'
import { fieldId, isTicked, type TypedField } from './typed-form.ts'
import type { View } from './view.ts'

/** A declared field of the site, with the typed value and its problem. */
export function fieldControl(
  view: View,
  { field, value }: TypedField,
  problem: ControlProblem,
): Html {
  switch (controlKindOf(field)) {
    case 'checkbox':
      return checkbox(view, field, isTicked(value), problem)
    case 'input':
      return labelled(view, field, input(field, value, problem), problem)
    case 'select':
      return labelled(view, field, select(view, field as ChoiceField, value, problem), problem)
    case 'radios':
      return radios(view, field as ChoiceField, value, problem)
  }
}

function labelled(view: View, field: Field, input: Html, problem: ControlProblem): Html {
  const id = fieldId(field.name)
  return html`
    <div class="field">
      <label for="${id}">${headingWithHint(view, field)}</label>
      ${input} ${message(id, problem)}
    </div>
  `
}

function input(field: Field, value: string, problem: ControlProblem): Html {
  const id = fieldId(field.name)
  return html`<input
    id="${id}"
    name="${field.name}"
    value="${value}"
    ${attributes(shown(controlAttributes(field), value))}
    ${wrong(id, problem)}
  />`
}

/** A browser shows nothing when a number or a date is none. As text it stays to be corrected. */
function shown(
  attributes: Readonly<Record<string, string>>,
  value: string,
): Readonly<Record<string, string>> {
  const { type } = attributes
  const isShown =
    value === '' ||
    (type === 'number' && Number.isFinite(Number(value))) ||
    (type === 'date' && /^\d{4}-\d{2}-\d{2}$/.test(value)) ||
    (type !== 'number' && type !== 'date')
  return isShown ? attributes : { ...attributes, type: 'text' }
}

function select(view: View, field: ChoiceField, value: string, problem: ControlProblem): Html {
  const id = fieldId(field.name)
  return html`<select
    id="${id}"
    name="${field.name}"
    ${attributes(controlAttributes(field))}
    ${wrong(id, problem)}
  >
    <option value="">${view.texts.form.choose}</option>
    ${field.options.map(
      (option) =>
        html`<option value="${option}" ${option === value && raw('selected')}>${option}</option>`,
    )}
  </select>`
}

function radios(view: View, field: ChoiceField, value: string, problem: ControlProblem): Html {
  const id = fieldId(field.name)
  const { message: text, takesFocus } = problem
  const inGroup = { message: text, takesFocus: false }
  return html`
    <fieldset
      class="field"
      id="${id}"
      role="radiogroup"
      ${field.required && raw('aria-required="true"')}
      ${wrong(id, inGroup)}
    >
      <legend>${headingWithHint(view, field)}</legend>
      <div class="${fitInRow(field) ? 'choices row' : 'choices'}">
        ${field.options.map(
          (option, index) => html`
            <label class="choice">
              <input
                id="${id}.${index}"
                name="${field.name}"
                type="radio"
                value="${option}"
                ${field.required && raw('required')}
                ${option === value && raw('checked')}
                ${takesFocus && index === 0 && raw('autofocus')}
              />
              <span>${ownText(view, option)}</span>
            </label>
          `,
        )}
      </div>
      ${message(id, problem)}
    </fieldset>
  `
}

function checkbox(view: View, field: Field, isGiven: boolean, problem: ControlProblem): Html {
  const id = fieldId(field.name)
  return html`
    <div class="field">
      <label class="choice">
        <input
          id="${id}"
          name="${field.name}"
          ${attributes(controlAttributes(field))}
          ${isGiven && raw('checked')}
          ${wrong(id, problem)}
        />
        <span>${ownText(view, headingOf(field))}</span>
      </label>
      ${message(id, problem)}
    </div>
  `
}

function headingWithHint(view: View, field: Field): Html {
  const hint = !field.required && view.texts.form.optional
  return html`${ownText(view, headingOf(field))} ${hintOf(hint)}`
}

/** The names come from our own code, and the values may come from the settings. */
function attributes(all: Readonly<Record<string, string>>): Html {
  const texts = Object.entries(all).map(([name, value]) =>
    value === '' ? html` ${raw(name)}` : html` ${raw(name)}="${value}"`,
  )
  return html`${texts}`
}
