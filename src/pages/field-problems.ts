import type { FormEntries } from '../http/exchange.ts'
import type { FieldProblem } from '../signup/parse.ts'
import type { ProblemField } from '../signup/wire.ts'
import { pageTexts } from './texts.ts'
import { consentField, consentText, firstValue } from './typed-form.ts'
import type { View } from './view.ts'

/** What a form of our own pages lacks that a signup as such does not need. */
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
 * The problems of fields in the visitor's language. Those that a visitor cannot mend stay in
 * English, for the page's author.
 */
export function translated(
  errors: readonly ProblemField[],
  entries: FormEntries,
  { language, texts: { fields } }: View,
): readonly ProblemField[] {
  // In English what is wrong has been told more exactly already.
  if (language === 'en') return errors
  const messages: Readonly<Record<string, readonly [ifEmpty: string, otherwise: string]>> = {
    email: [fields.emailMissing, fields.emailWrong],
    name: [fields.nameMissing, fields.nameTooLong],
    [consentField]: [fields.consentMissing, fields.consentMissing],
  }
  return errors.map((error) => {
    const [ifEmpty, otherwise] = messages[error.field] ?? [error.message, error.message]
    const isEmpty = !firstValue(entries, error.field)?.trim()
    return { ...error, message: isEmpty ? ifEmpty : otherwise }
  })
}
