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
