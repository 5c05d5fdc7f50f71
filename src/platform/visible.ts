/**
 * Control characters, and those that change the direction of a text, could make a terminal show something
 * else. The two joiners stay, because Persian and emoji are written with them.
 */
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text with each such character as its number, so that it stays in one line and in its place. */
export function visible(text: string): string {
  return text.replace(unseen, (it) => `\\u{${(it.codePointAt(0) ?? 0).toString(16)}}`)
}

/** The same for a text of several lines. */
export function visibleLines(text: string): string {
  return text.replace(unseen, (it) => (it === '\n' ? it : visible(it)))
}

/** The same for JSON, whose value stays. */
export function visibleJson(json: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(unseen, (it) => (it === '\n' ? it : it.split('').map(escaped).join('')))
}
