import { isRecord } from '../../signup/json.ts'

/** Functions that read JSON of any content. */

/** The list in a field of a JSON object; empty when there is none. */
export function listIn(value: unknown, field: string): readonly unknown[] {
  const list = isRecord(value) ? value[field] : undefined
  return Array.isArray(list) ? list : []
}

/** The value if it is text, else an empty text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
