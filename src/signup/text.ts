const unprintable = /[\p{Cc}\p{Cs}]/u
const unprintableRuns = /[\p{Cc}\p{Cs}]+/gu

/** Whether `text` holds a control character (C0, DEL, C1) or a lone surrogate. */
export function hasUnprintable(text: string): boolean {
  return unprintable.test(text)
}

/** Each run of control characters and lone surrogates becomes one space; the ends are trimmed. */
export function cleanText(text: string): string {
  return text.replace(unprintableRuns, ' ').trim()
}

/** The same, but line breaks are kept, each as `\n`. */
export function cleanLines(text: string): string {
  return text.replace(/\r\n?/g, '\n').split('\n').map(cleanText).join('\n').trim()
}

/** The first five names, and how many more there are. */
export function firstNames(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return names.slice(0, 5).join(', ') + more
}
