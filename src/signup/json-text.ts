/** More than metadata of 10,000 characters can hold, at six and more for a key and its value. */
const objectKeysMax = 2_000

/** Every double fits: 5e-324 and the like take up to 343, written out with their zeros. */
const numberCharactersMax = 400

/**
 * Parses JSON and refuses what `JSON.parse` would change without a word: a key that stands twice in
 * one object (the first value would be lost) and a number that a double cannot hold (digits would).
 * The reason tells a place and never quotes a value. Numbers beyond the range of a double become
 * infinite, as with `JSON.parse`. What would take long for its length is refused before it is parsed.
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

/** The place only: the parser's message quotes the text around it. */
function placeIn(error: unknown): string {
  const place = error instanceof Error ? /at position \d+/.exec(error.message) : null
  return place ? ` (${place[0]})` : ''
}

/** What there is too much of in a text that may be anything. Goes over it once. */
function excessIn(text: string): string | undefined {
  /** How many keys every object that is open has so far. */
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

/** What is lost when this text, which is valid JSON, is parsed to this value. Never recurses. */
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

/** How many keys its objects have, all together. */
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

/** The first key that stands in an object that has it already. */
function keyTwiceIn(text: string): string {
  /** The keys so far of every object that is open; of one without any yet, and of an array, there is no set. */
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
  throw new Error('No key stands twice.')
}

/** Behind the closing quote, or behind the text when there is none. */
function endOfString(text: string, start: number): number {
  let end = start
  do {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
  } while (isEscaped(text, end))
  return end + 1
}

/** Whether an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text[start - 1] === '\\') start--
  return (at - start) % 2 === 1
}

/** Whether a colon follows. */
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

/** Whether a double, written out again, has the digits of this literal: fifteen it always holds. */
function isHeldExactly(literal: string): boolean {
  if (/^-?[\d.]{1,15}$/.test(literal)) return true
  if (literal.length > numberCharactersMax) return false
  const value = Number(literal)
  return !Number.isFinite(value) || significantDigits(String(value)) === significantDigits(literal)
}

/** Without the zeros at both ends. */
function significantDigits(literal: string): string {
  const digits = literal.replace(/e.*/i, '').replace(/\D/g, '')
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  return digits.slice(start, end)
}
