import { editDistance } from '../signup/edit-distance.ts'

/** The name that differs least from `given`, unless even that one differs in more than a third. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, edits: editDistance(given, name) }))
    .toSorted((a, b) => a.edits - b.edits)[0]
  return ranked && ranked.edits <= ranked.name.length / 3 ? ranked.name : undefined
}
