import { type Field, fieldsText, type FieldValues, headingOf, noFields } from './field.ts'
import { fieldTypes, type Read } from './field-types.ts'
import { cleanText } from './text.ts'
import type { ProblemField } from './wire.ts'

/** Without columns, all of them go into Metadata. A cell of Google Sheets holds 50,000. */
const allCharactersMax = 20_000

/** How strictly values are read. */
export interface FieldRules {
  /** A form sends nothing for a checkbox that is not ticked. */
  readonly isForm: boolean
  /** Whether a required field must have a value. */
  readonly needsRequired: boolean
}

/** One mistake in a signup. The field is `tags[3]` for an item of a list, and empty for the whole signup. */
export type FieldProblem = Omit<ProblemField, 'index'>

/**
 * The values of a site's own fields, and everything that is wrong with them. Numbers and checkboxes may
 * come as texts, as forms send them. Null, '' and spaces count as absent.
 */
export function readFields(
  given: Readonly<Record<string, unknown>>,
  fields: readonly Field[],
  { isForm, needsRequired }: FieldRules,
): { readonly values: FieldValues; readonly problems: readonly FieldProblem[] } {
  const values: Record<string, FieldValues[string]> = {}
  const problems: FieldProblem[] = []
  for (const field of fields) {
    const { name } = field
    const { clean = cleanText, ...type } = fieldTypes[field.type]
    const raw = Object.hasOwn(given, name) ? given[name] : undefined
    const cleaned = typeof raw === 'string' ? clean(raw) : raw
    const isEmptyList = field.type === 'choices' && [cleaned].flat().length === 0
    const isAbsent = cleaned === undefined || cleaned === null || cleaned === '' || isEmptyList
    const absent = field.type === 'checkbox' && isForm ? false : undefined
    const read: Read = isAbsent ? { value: absent } : type.read(cleaned, field)
    const isMissing = read.value === undefined || read.value === false
    const problem =
      read.problem ?? (isMissing && field.required && needsRequired ? missing(field) : undefined)
    if (problem !== undefined)
      problems.push({ field: name, message: `${headingOf(field)} ${problem}` })
    else if (read.value !== undefined) values[name] = read.value
  }
  if (fieldsText(values).length > allCharactersMax) {
    const message = `All fields together are too long: at most ${allCharactersMax} characters as JSON.`
    problems.push({ field: '', message })
  }
  return { values: Object.keys(values).length === 0 ? noFields : values, problems }
}

function missing({ type }: Field): string {
  return type === 'checkbox' ? 'is needed: tick it, or send true.' : 'is missing: fill it in.'
}
