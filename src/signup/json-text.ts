/**
 * Parses JSON and refuses what `JSON.parse` would change without a word: a key that stands twice in
 * one object (the first value would be lost) and a number that a double cannot hold (digits would).
 * The reason tells a place and never quotes a value. Numbers beyond the range of a double become
 * infinite, as with `JSON.parse`.
 */
export function parseJson(
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
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

/** What is lost when this text, which is valid JSON, is parsed to this value. Never recurses. */
function lossIn(text: string, value: unknown): string | undefined {
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (isKey(text, end)) keys += 1
      at = end - 1
    } else if (code === minus || (code >= zero && code <= nine)) {
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
  /** The keys so far of every object that is open; of an array there are none. */
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '{' || character === '[') open.push(new Set())
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = endOfString(text, at)
      const keys = open.at(-1)
      if (keys && isKey(text, end)) {
        const key = stringOf(text.slice(at, end))
        if (keys.has(key)) return quoted(key)
        keys.add(key)
      }
      at = end - 1
    }
  }
  throw new Error('No key stands twice.')
}

/** Behind the closing quote. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
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
  const value = Number(literal)
  return !Number.isFinite(value) || significantDigits(String(value)) === significantDigits(literal)
}

function significantDigits(literal: string): string {
  return literal
    .replace(/e.*/i, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '')
}
