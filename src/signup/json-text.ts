/** More than 10,000 characters of metadata can hold, at six or more for each key and value. */
const objectKeysMax = 2_000

/** Room for every double: written out with its zeros, one takes up to 343 characters. */
const numberCharactersMax = 400

/**
 * Parses JSON and refuses what `JSON.parse` would silently change: a repeated key in one object (the
 * first value would be lost) and a number with more digits than a double holds (digits would be lost).
 * A number beyond the range of a double becomes infinite, as with `JSON.parse`. A text that would take
 * long to parse is refused first. The problem names a position and never quotes a value.
 */
export function parseJson(
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  const excess = excessIn(text)
  if (excess !== undefined) return { problem: excess }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { problem: `is not valid JSON${placeIn(error)}` }
  }
  const problem = lossIn(text, value)
  return problem === undefined ? { value } : { problem }
}

/** Only the position, because the parser's message quotes the text around it. */
function placeIn(error: unknown): string {
  const place = error instanceof Error ? /at position \d+/.exec(error.message) : null
  return place ? ` (${place[0]})` : ''
}

/** Tells whether an object in the text has too many keys. The text may be anything; it is read once. */
function excessIn(text: string): string | undefined {
  /** The number of keys so far, for each open object. */
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at) - 1
        break
      case openingBrace:
      case openingBracket:
        open.push(0)
        break
      case closingBrace:
      case closingBracket:
        open.pop()
        break
      case colon: {
        const keys = (open.pop() ?? 0) + 1
        if (keys > objectKeysMax) {
          return `has an object with more than ${objectKeysMax} keys (at position ${at}): make it smaller`
        }
        open.push(keys)
      }
    }
  }
  return undefined
}

/** What got lost when this valid JSON text was parsed to this value. Does not recurse. */
function lossIn(text: string, value: unknown): string | undefined {
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at) - 1
    else if (code === colon) keys += 1
    else if (code === minus || (code >= zero && code <= nine)) {
      const number = numberAt(text, at)
      if (!isHeldExactly(number)) {
        return `has a number with more digits than a double holds (at position ${at}): send it as text`
      }
      at += number.length - 1
    }
  }
  return keys === keysIn(value) ? undefined : `has the key ${keyTwiceIn(text)} twice in one object`
}

const quote = 0x22
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openingBrace = 0x7b
const closingBrace = 0x7d
const openingBracket = 0x5b
const closingBracket = 0x5d
const space = 0x20

/** The number of keys of all objects in the value. */
function keysIn(value: unknown): number {
  let keys = 0
  const values = [value]
  for (const inner of values) {
    if (typeof inner !== 'object' || inner === null) continue
    const children: unknown[] = Array.isArray(inner) ? inner : Object.values(inner)
    if (children !== inner) keys += children.length
    for (const child of children) if (typeof child === 'object') values.push(child)
  }
  return keys
}

/** The first repeated key in one object. */
function keyTwiceIn(text: string): string {
  /** The keys so far, for each open object; undefined for arrays and for objects without a key yet. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '{' || character === '[') open.push(undefined)
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = endOfString(text, at)
      if (isKey(text, end)) {
        const key = stringOf(text.slice(at, end))
        const keys = (open[open.length - 1] ??= new Set())
        if (keys.has(key)) return quoted(key)
        keys.add(key)
      }
      at = end - 1
    }
  }
  throw new Error('No key is repeated.')
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

/** Whether a colon follows the string that ends here, which makes it a key. */
function isKey(text: string, end: number): boolean {
  let next = end
  while (text.charCodeAt(next) <= space) next++
  return text.charCodeAt(next) === colon
}

function stringOf(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1)
}

function quoted(key: string): string {
  return JSON.stringify(key.length > 64 ? `${key.slice(0, 64)}…` : key)
}

const number = /[-+.\deE]+/y

function numberAt(text: string, at: number): string {
  number.lastIndex = at
  return number.exec(text)?.[0] ?? ''
}

/** Whether a double keeps all digits of this literal. A double always keeps fifteen. */
function isHeldExactly(literal: string): boolean {
  if (/^-?[\d.]{1,15}$/.test(literal)) return true
  if (literal.length > numberCharactersMax) return false
  const value = Number(literal)
  return !Number.isFinite(value) || significantDigits(String(value)) === significantDigits(literal)
}

/** The digits of a number without the zeros at both ends. */
function significantDigits(literal: string): string {
  const digits = literal.replace(/e.*/i, '').replace(/\D/g, '')
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start++
  while (digits[end - 1] === '0') end--
  return digits.slice(start, end)
}
