/** A link in the text of a consent. There is no other markup. */
const link = /\[([^[\]]+)\]\((https?:[^()\s]+)\)/gi

/** The text of a consent as it is stored: the address of a link stands behind its words. */
export function plainConsent(text: string): string {
  return text.replace(link, '$1 ($2)')
}

/** The pieces of such a text: text, words of a link, address of a link, text, and so on. */
export function consentPieces(text: string): readonly string[] {
  return text.split(link)
}
