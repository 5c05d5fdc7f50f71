import type { FieldValues } from './field.ts'
/**
 * Adds members to metadata, as compact JSON. The metadata's own text is kept: when it has a key already,
 * the new one is renamed.
 */
export function withMembers(
  metadata: string,
  members: readonly (readonly [key: string, value: FieldValues[string]])[],
): string {
  if (members.length === 0) return metadata
  const taken = new Set(metadata === '' ? [] : Object.keys(JSON.parse(metadata) as object))
  const added = members.map(([name, value]) => {
    let key = name
    while (taken.has(key)) key += ' (signup)'
    taken.add(key)
    return `${JSON.stringify(key)}:${JSON.stringify(value)}`
  })
  const inside = metadata.slice(1, -1)
  return `{${[...(inside === '' ? [] : [inside]), ...added].join(',')}}`
}
