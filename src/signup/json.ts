/** More than 10,000 characters of metadata can hold, at six or more for each key and value. */
const objectKeysMax = 2_000

/** Room for every double: written out with its zeros, one takes up to 343 characters. */
const numberCharactersMax = 400

/** Room for metadata that is nested too deeply by some levels, and is refused as such. */
const levelsMax = 1_000

/**
 * Parses JSON. A text that would take long to parse, or to work with, is refused first. The problem names a
 * position and never quotes a value.
 */
export function parseJson(
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  const problem = excessIn(text)
  if (problem !== undefined) return { problem }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    // Only the position, because the parser's message quotes the text around it.
    const place = /at position \d+/.exec(String(error))
    return { problem: `is not valid JSON${place ? ` (${place[0]})` : ''}` }
  }
}

/** The same for a text that should be a JSON object; undefined when it is none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const parsed = parseJson(text)
  return 'value' in parsed && isRecord(parsed.value) ? parsed.value : undefined
}

/** Whether a JSON value is an object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const number = /[-+.\deE]+/y

/** What the text has too much of. The text may be anything; it is read once. */
function excessIn(text: string): string | undefined {
  // It is too short for any excess, as most signups are.
  if (text.length <= numberCharactersMax) return undefined
  /** The number of keys so far, for each open object. */
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const unit = text[at] ?? ''
    if (unit === '"') at = endOfString(text, at) - 1
    else if (unit === '{' || unit === '[') {
      if (open.push(0) > levelsMax) {
        return `is nested more than ${levelsMax} levels deep (at position ${at}): make it flatter`
      }
    } else if (unit === '}' || unit === ']') open.pop()
    else if (unit === ':') {
      const keys = (open.pop() ?? 0) + 1
      if (keys > objectKeysMax) {
        return `has an object with more than ${objectKeysMax} keys (at position ${at}): make it smaller`
      }
      open.push(keys)
    } else if (unit === '-' || (unit >= '0' && unit <= '9')) {
      number.lastIndex = at
      const { length } = number.exec(text)?.[0] ?? unit
      if (length > numberCharactersMax) {
        return `has a number of more than ${numberCharactersMax} characters (at position ${at}): send it as text`
      }
      at += length - 1
    }
  }
  return undefined
}

/** The index after the closing quote, or the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  let end = start
  do {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
  } while (isEscaped(text, end))
  return end + 1
}

/** Whether an odd number of backslashes precedes this position. */
function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text[start - 1] === '\\') start--
  return (at - start) % 2 === 1
}
