/**
 * Caches the results of a pure function for up to `entriesMax` texts. A full cache is emptied, which is
 * cheaper than tracking which entries are old. The caller bounds the length of the texts.
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
