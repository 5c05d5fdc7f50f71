import { type FieldTexts, messageOf } from '../src/pages/field-messages.ts'

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** `scripts/build-browser.js` puts the texts of one language here. */
declare const fieldTexts: FieldTexts

/** The types of fields by those of their controls. There are no texts for other controls. */
const fieldTypes: Readonly<Record<string, Parameters<typeof messageOf>[0]['type']>> = {
  text: 'text',
  textarea: 'text',
  number: 'number',
  url: 'url',
  date: 'date',
  tel: 'phone',
  checkbox: 'checkbox',
  radio: 'choice',
  'select-one': 'choice',
}

/**
 * What is wrong with a control that the browser or the service refuses, in the language of this file.
 * Undefined when there is no text for that, such as for a pattern that the page's author wrote.
 *
 * @param own the texts that the page's author gives
 */
export function messageFor(control: Control, own: Partial<FieldTexts>): string | undefined {
  const { value, validity, min, max, maxLength } = control as HTMLInputElement
  const { valid, valueMissing, badInput, typeMismatch, rangeUnderflow, rangeOverflow } = validity
  const type = control.closest('[data-several]') ? 'choice' : fieldTypes[control.type]
  // A browser tells no value of a number or a date that is none.
  const given = badInput ? '?' : value.trim()
  const isRange = type === 'number' && (rangeUnderflow || rangeOverflow)
  const isLong = maxLength >= 0 && given.length > maxLength
  const hasText = valid || valueMissing || badInput || typeMismatch || isRange || isLong
  if (!type || !hasText || (type === 'text' && given && !isLong)) return undefined
  const limits = { ...(min && { min: Number(min) }), ...(max && { max: Number(max) }), maxLength }
  return messageOf({ type, ...limits }, given, { ...fieldTexts, ...own })
}
