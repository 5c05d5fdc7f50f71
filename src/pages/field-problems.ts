import type { FormEntries } from '../http/exchange.ts'
import type { ProblemField } from '../signup/wire.ts'
import { messageOf } from './field-messages.ts'
import { consentField } from './form-trees.ts'
import type { PageProblem } from './texts.ts'
import { firstValue } from './typed-form.ts'
import type { View } from './view.ts'

/** Which problem tells a visitor of wrong fields: that the page is wrong, that it is too much, or each beside its field. */
export function problemOfFields(errors: readonly ProblemField[], view: View): PageProblem {
  if (errors.some((error) => isForAuthor(error, view))) return 'forbidden'
  return errors.some(isOfWhole) ? 'tooLarge' : 'fields'
}

/** The author of a page fills these in, and no visitor can mend them. */
const authorsField = /^(sheetTab|tab|site|source|redirect|tags)$/

function isForAuthor({ field }: ProblemField, { fields }: View): boolean {
  return authorsField.test(field) && !fields.some(({ name }) => name === field)
}

/** Nobody sees these as fields: they are what a form has besides. */
function isOfWhole({ field }: ProblemField): boolean {
  return field === '' || field === 'metadata'
}

/**
 * The problems of fields in words for visitors, in their language. Of what they cannot correct, and of the
 * form as a whole, only the field is named: the message is for the page's author.
 */
export function translated(
  errors: readonly ProblemField[],
  entries: FormEntries,
  view: View,
): readonly ProblemField[] {
  const {
    language,
    texts: { fields },
    fields: declared,
  } = view
  const messages: Readonly<Record<string, readonly [ifEmpty: string, otherwise: string]>> = {
    email: [fields.emailMissing, fields.emailWrong],
    name: [fields.nameMissing, fields.nameTooLong],
    [consentField]: [fields.consentMissing, fields.consentMissing],
  }
  return errors.map((error) => {
    if (isForAuthor(error, view) || isOfWhole(error)) return { ...error, message: '' }
    const field = declared.find(({ name }) => name === error.field)
    // The English messages are more exact than the translated ones, but for what a program has to send.
    if (language === 'en' && field?.type !== 'checkbox') return error
    const value = firstValue(entries, error.field)?.trim() ?? ''
    if (field) return { ...error, message: messageOf(field, value, fields) }
    const [ifEmpty, otherwise] = messages[error.field] ?? [error.message, error.message]
    return { ...error, message: value === '' ? ifEmpty : otherwise }
  })
}
