import type { FormEntries } from '../http/exchange.ts'
import { tokenFields } from '../signup/token-fields.ts'
import type { View } from './view.ts'

/** What a form holds, sorted by where our own form shows it. */
export interface TypedForm {
  readonly email: string
  /** Absent: no name is asked for. */
  readonly name?: string
  /** Absent: no consent is asked for. */
  readonly consent?: Consent
  /** All the rest, sent along unseen: what the page's author put in, and fields unknown to us. */
  readonly hidden: FormEntries
}

interface Consent {
  readonly isGiven: boolean
  /** What a visitor agrees to, as it is stored. */
  readonly text: string
}

/** The field that holds the consent: it goes into Metadata. */
export const consentField = 'metadata[consent]'

/** Each token is good for one try: the widget puts in a fresh one. */
const tokens: ReadonlySet<string> = new Set(tokenFields)

/**
 * The form with what was typed. A form of ours asks for what the view says; of a form of somebody
 * else's, ours shows the fields it had.
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

/** What visitors of our own pages must agree to, as plain text. */
export function consentText({ page, settings }: View): string | undefined {
  return page && settings.consent?.map(({ text }) => text).join('')
}

/** The first that is not empty, if there is one. */
export function firstValue(entries: FormEntries, field: string): string | undefined {
  const values = entries.filter(([name]) => name === field).map(([, value]) => value)
  return values.find((value) => value !== '') ?? values[0]
}
