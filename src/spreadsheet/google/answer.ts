/** Looking into the JSON of an answer, whatever is in it. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The list in a field of a JSON object; empty where there is none. */
export function listIn(value: unknown, field: string): readonly unknown[] {
  const list = isRecord(value) ? value[field] : undefined
  return Array.isArray(list) ? list : []
}

/** The text of a cell or a name. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
