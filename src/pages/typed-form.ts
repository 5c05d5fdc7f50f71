import type { FormEntries } from '../http/exchange.ts'
import { tokenFields } from '../signup/token-fields.ts'
import type { View } from './view.ts'

/** The values of a form, sorted by where our own form shows them. */
export interface TypedForm {
  readonly email: string
  /** Absent when the form does not ask for a name. */
  readonly name?: string
  /** Absent when the form does not ask for consent. */
  readonly consent?: Consent
  /** All other fields, sent as hidden inputs: those by the page's author and unknown ones. */
  readonly hidden: FormEntries
}

interface Consent {
  readonly isGiven: boolean
  /** The text that the visitor agrees to, as it is stored. */
  readonly text: string
}

/** The field with the consent. It goes into Metadata. */
export const consentField = 'metadata[consent]'

/** Never shown again: a token is valid for one try, and the widget makes a new one. */
const tokens: ReadonlySet<string> = new Set(tokenFields)

/**
 * Sorts the typed values for showing them again. One of our own forms asks for the fields in the view.
 * For somebody else's form, ours shows the fields that it had.
 */
export function typedForm(entries: FormEntries, view: View): TypedForm {
  const name = firstValue(entries, 'name') ?? (view.name === 'off' ? undefined : '')
  const text = consentText(view)
  const consented = firstValue(entries, consentField)
  const isShown = (field: string) =>
    field === 'email' || field === 'name' || (field === consentField && text !== undefined)
  return {
    email: firstValue(entries, 'email') ?? '',
    ...(name !== undefined && { name }),
    ...(text !== undefined && { consent: { text, isGiven: consented === text } }),
    hidden: entries.filter(
      ([field, value]) => value !== '' && !isShown(field) && !tokens.has(field),
    ),
  }
}

/** The text that visitors of our own pages must agree to, as plain text. */
export function consentText({ page, settings }: View): string | undefined {
  return page && settings.consent?.map(({ text }) => text).join('')
}

/** The first value of a field that is not empty; '' when all are empty, undefined when there is none. */
export function firstValue(entries: FormEntries, field: string): string | undefined {
  const values = entries.filter(([name]) => name === field).map(([, value]) => value)
  return values.find((value) => value !== '') ?? values[0]
}
