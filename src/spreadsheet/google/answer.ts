import { isRecord } from '../../signup/json.ts'

/** Functions that read JSON of any content. */

/** The value at a path of fields in a JSON object; undefined when there is none. */
export function fieldIn(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, field) => (isRecord(inner) ? inner[field] : undefined), value)
}

/** The list at a path of fields in a JSON object; empty when there is none. */
export function listIn(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const list = fieldIn(value, ...path)
  return Array.isArray(list) ? list : []
}

/** The number at a path of fields in a JSON object; 0 when there is none, as Google leaves out a 0. */
export function numberIn(value: unknown, ...path: readonly string[]): number {
  return Number(fieldIn(value, ...path) ?? 0)
}

/** The value if it is text, else an empty text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
