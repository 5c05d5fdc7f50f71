import type { Kind, Refusal } from '../src/config/kind.ts'

/** The value of this kind that the text of a variable has, or the first thing that is wrong with it. */
export function tried<T>(kind: Kind<T>, text: string): Refusal | { readonly value: T | undefined } {
  const found: Refusal[] = []
  const value = kind.parse(kind.written?.(text) ?? text, (refusal) => {
    found.push(refusal)
  })
  return found[0] ?? { value }
}
