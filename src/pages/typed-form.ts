import type { FormEntries } from '../http/exchange.ts'
import { plainConsent } from '../signup/consent.ts'
import type { Field } from '../signup/field.ts'
import { collectedLength } from '../signup/field-control.ts'
import { stampField, unseenField } from '../signup/filter-fields.ts'
import { tokenFields } from '../signup/form.ts'
import { consentField } from './form-trees.ts'
import { plainOwnText } from './tree-html.ts'
import type { View } from './view.ts'

/** The values of a form, sorted by where our own form shows them. */
export interface TypedForm {
  readonly email: string
  /** Absent when the form does not ask for a name. */
  readonly name?: string
  /** The declared fields of the site that the form shows, with the text that it has for each. */
  readonly fields: readonly { readonly field: Field; readonly value: string }[]
  /** Whether the visitor has agreed; absent when the form does not ask for consent. */
  readonly consent?: boolean
  /** All other fields, sent as hidden inputs: those by the page's author and unknown ones. */
  readonly hidden: FormEntries
}

/** Never shown again: a token is valid for one try, and our form has the other two itself. */
const notKept: ReadonlySet<string> = new Set([...tokenFields, stampField, unseenField])

/**
 * Sorts the typed values for showing them again. One of our own forms asks for the fields in the view.
 * For somebody else's form, ours shows the fields that it had.
 */
export function typedForm(entries: FormEntries, view: View): TypedForm {
  const name = firstValue(entries, 'name') ?? (view.name === 'off' ? undefined : '')
  const text = consentText(view)
  const consented = firstValue(entries, consentField)
  const fields = view.fields.filter((field) => isAsked(field, entries, view))
  const shown = new Set(['email', 'name', ...fields.map(({ name }) => name)])
  if (text !== undefined) shown.add(consentField)
  return {
    email: firstValue(entries, 'email') ?? '',
    ...(name !== undefined && { name }),
    fields: fields.map((field) => ({ field, value: valueOf(field, entries) })),
    ...(text !== undefined && { consent: consented === text }),
    hidden: entries.filter(
      ([field, value]) => value !== '' && !shown.has(field) && !notKept.has(field),
    ),
  }
}

/** Of several choices, all values with commas between them: no option has one. */
function valueOf({ name, type }: Field, entries: FormEntries): string {
  if (type !== 'choices') return firstValue(entries, name) ?? ''
  return entries.flatMap(([field, value]) => (field === name ? [value] : [])).join(',')
}

/** Our own form asks for all fields but those that fill themselves; another one for those that it must. */
function isAsked(field: Field, entries: FormEntries, { page }: View): boolean {
  if (collectedLength(field) !== undefined) return false
  const isOwn = page === 'hosted' || page === 'form'
  return isOwn || field.required || entries.some(([name]) => name === field.name)
}

/** The text that visitors of our own pages must agree to, as plain text. */
export function consentText(view: View): string | undefined {
  const { consent } = view.settings
  return view.page && consent && plainConsent(plainOwnText(view, consent))
}

/** The first value of a field that is not empty; '' when all are empty, undefined when there is none. */
export function firstValue(entries: FormEntries, field: string): string | undefined {
  const values = entries.filter(([name]) => name === field).map(([, value]) => value)
  return values.find((value) => value !== '') ?? values[0]
}
