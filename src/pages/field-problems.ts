import type { FormEntries } from '../http/exchange.ts'
import type { FieldProblem } from '../signup/parse.ts'
import type { ProblemField } from '../signup/wire.ts'
import { messageOf } from './field-messages.ts'
import { pageTexts } from './texts.ts'
import { consentField, consentText, firstValue } from './typed-form.ts'
import type { View } from './view.ts'

/** The problems of a form from our own pages that lacks a name or consent that the page requires. */
export function missingOnPage(view: View, entries: FormEntries): readonly FieldProblem[] {
  const isEmpty = (field: string) => !firstValue(entries, field)?.trim()
  const { nameMissing, consentMissing } = pageTexts.en.fields
  return [
    ...(view.name === 'required' && isEmpty('name')
      ? [{ field: 'name', message: nameMissing }]
      : []),
    ...(consentText(view) !== undefined && isEmpty(consentField)
      ? [{ field: consentField, message: consentMissing }]
      : []),
  ]
}

/**
 * Translates the problems of fields into the visitor's language. Problems that a visitor cannot
 * correct stay in English, for the page's author.
 */
export function translated(
  errors: readonly ProblemField[],
  entries: FormEntries,
  { language, texts: { fields }, fields: declared }: View,
): readonly ProblemField[] {
  // The English messages are already more exact than the translated ones.
  if (language === 'en') return errors
  const messages: Readonly<Record<string, readonly [ifEmpty: string, otherwise: string]>> = {
    email: [fields.emailMissing, fields.emailWrong],
    name: [fields.nameMissing, fields.nameTooLong],
    [consentField]: [fields.consentMissing, fields.consentMissing],
  }
  return errors.map((error) => {
    const field = declared.find(({ name }) => name === error.field)
    const value = firstValue(entries, error.field)?.trim() ?? ''
    if (field) return { ...error, message: messageOf(field, value, fields) }
    const [ifEmpty, otherwise] = messages[error.field] ?? [error.message, error.message]
    return { ...error, message: value === '' ? ifEmpty : otherwise }
  })
}
