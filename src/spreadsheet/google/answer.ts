import { isRecord } from '../../signup/json.ts'

/** Looking into the JSON of an answer, whatever is in it. */

/** The list in a field of a JSON object; empty where there is none. */
export function listIn(value: unknown, field: string): readonly unknown[] {
  const list = isRecord(value) ? value[field] : undefined
  return Array.isArray(list) ? list : []
}

/** The text of a cell or a name. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
