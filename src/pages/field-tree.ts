import type { ChoiceField, Field } from '../signup/field.ts'
import { areOptionsShown, collectedLength, fitInRow } from '../signup/field-control.ts'
import { fieldTypes } from '../signup/field-types.ts'
import type { Language } from '../signup/languages.ts'
import { firstOf, translationsOf } from '../signup/site-text.ts'
import type { Tree, TreeContent } from '../signup/wire.ts'
import { type Attributes, choice, labelled, optional, siteText } from './form-trees.ts'

/** What was typed into a field, and what is wrong with it. */
export interface Typed {
  readonly value: string
  readonly problem?: string | undefined
  /** Whether this is the first problem on the page. */
  readonly takesFocus?: boolean
}

const untouched: Typed = { value: '' }

/**
 * A declared field as forms show it.
 *
 * @param language that of the site's texts
 */
export function fieldTree(field: Field, language: Language, typed = untouched): Tree {
  const { name, required } = field
  const collected = collectedLength(field)
  if (collected !== undefined) {
    return ['input', { type: 'hidden', name, 'data-collect': String(collected) }]
  }
  const { value } = typed
  const id = fieldId(name)
  const heading = siteText(field.label ?? name, language)
  const label = required ? [heading] : [heading, ...optional]
  const { marks, below } = told(id, typed, helpOf(field, language))
  const { placeholder } = field
  const control = {
    id,
    name,
    ...fieldTypes[field.type].control?.(field),
    ...(required && { required: '' }),
    ...(placeholder !== undefined && { placeholder: translationsOf(placeholder, language) }),
    ...marks,
  }
  if (field.type === 'checkbox') {
    const isTicked = /^(true|on|yes|1)$/i.test(value)
    const box = choice({ ...control, ...(isTicked && { checked: '' }) }, heading)
    return ['div', { class: 'field' }, box, ...below]
  }
  if (field.type === 'textarea') {
    return labelled(id, label, ['textarea', control, value], ...below)
  }
  if (field.type !== 'choice' && field.type !== 'choices') {
    return labelled(id, label, ['input', { ...control, ...shown(control, value) }], ...below)
  }
  if (areOptionsShown(field)) return group(field, language, typed, label)
  const options = field.options.map((option): Tree => {
    const stored = firstOf(option)
    const selected = stored === value ? { selected: '' } : {}
    return siteText(option, language, 'option', { value: stored, ...selected })
  })
  const choose: Tree = ['option', { value: '' }, { ours: 'choose' }]
  return labelled(id, label, ['select', control, choose, ...options], ...below)
}

/** Radio buttons, or boxes of which any number may be ticked. */
function group(
  field: ChoiceField,
  language: Language,
  typed: Typed,
  legend: readonly TreeContent[],
): Tree {
  const { name, required, options } = field
  const { value, problem, takesFocus } = typed
  const id = fieldId(name)
  const { marks, below } = told(id, { problem }, helpOf(field, language))
  const isSeveral = field.type === 'choices'
  const chosen = isSeveral ? value.split(',').map((it) => it.trim()) : [value]
  const attributes = {
    class: 'field',
    id,
    ...(isSeveral
      ? { 'data-several': required ? 'required' : '' }
      : { role: 'radiogroup', ...(required && { 'aria-required': 'true' }) }),
    ...marks,
  }
  const buttons = options.map((option, at): Tree => {
    const button = {
      id: `${id}.${at}`,
      name,
      type: isSeveral ? 'checkbox' : 'radio',
      value: firstOf(option),
      ...(required && !isSeveral && { required: '' }),
      ...(chosen.includes(firstOf(option)) && { checked: '' }),
      ...(takesFocus && at === 0 && { autofocus: '' }),
    }
    return choice(button, siteText(option, language))
  })
  const choices: Tree = ['div', { class: fitInRow(field) ? 'choices row' : 'choices' }, ...buttons]
  return ['fieldset', attributes, ['legend', {}, ...legend], choices, ...below]
}

/** A browser shows nothing when a number or a date is none. As text it stays to be corrected. */
function shown({ type }: Attributes, value: string): Attributes {
  if (value === '') return {}
  const isNone =
    type === 'number'
      ? !Number.isFinite(Number(value))
      : type === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(value)
  return { value, ...(isNone && { type: 'text' }) }
}

/**
 * How a form tells the problem of a control: the attributes of the control, and what is below it.
 *
 * @param help the line below a control, with or without a problem
 */
export function told(id: string, { problem, takesFocus }: Omit<Typed, 'value'>, help?: Tree) {
  const isWrong = problem !== undefined
  const describing = [...(isWrong ? [`${id}-problem`] : []), ...(help ? [`${id}-help`] : [])]
  return {
    marks: {
      ...(isWrong && { 'aria-invalid': 'true' }),
      ...(describing.length > 0 && { 'aria-describedby': describing.join(' ') }),
      ...(isWrong && takesFocus && { autofocus: '' }),
    },
    below: [
      ...(isWrong ? [['p', { class: 'problem', id: `${id}-problem` }, problem] as const] : []),
      ...(help ? [['small', { id: `${id}-help` }, help] as const] : []),
    ],
  }
}

function helpOf({ help }: Field, language: Language): Tree | undefined {
  return help === undefined ? undefined : siteText(help, language)
}

/** The id of a declared field in a page. No other id has a dot. */
function fieldId(name: string): string {
  return `${name}.field`
}
