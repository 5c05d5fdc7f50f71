/**
 * A pure function of a text that remembers what it gave for up to `entriesMax` texts. When they are
 * full all are forgotten: cheaper than to know which are old, and many texts at once cost what they
 * cost without it. The caller bounds the length of the texts.
 */
export function remember<T>(entriesMax: number, compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly value: T }>()
  return (text) => {
    const found = known.get(text)
    if (found) return found.value
    const value = compute(text)
    if (known.size >= entriesMax) known.clear()
    known.set(text, { value })
    return value
  }
}
