import type { FieldValues } from './field.ts'

/** What a signup has whose site declares no fields. */
export const noFields: FieldValues = {}

/** The values as they are stored: compact JSON; empty when there are none. */
export function fieldsText(values: FieldValues): string {
  return values === noFields || Object.keys(values).length === 0 ? '' : JSON.stringify(values)
}

/** The values of a stored text. */
export function fieldsOf(text: string): FieldValues {
  return text === '' ? noFields : (JSON.parse(text) as FieldValues)
}
