import { isObject } from './json.ts'
import { limits } from './limits.ts'

/**
 * In JSON text: escaped control characters and lone surrogates (the only ones that
 * `JSON.stringify` writes as such escapes), and DEL and C1, which it does not escape.
 * Escaped quotes and backslashes, in group 1, match too and are kept: the `n` of `\\n` is a letter.
 */
const escapes = /((?:\\["\\])+)|(?:\\[bfnrt]|\\u[0-9a-f]{4}|[\x7f-\x9f])+/g

/** Longer JSON is not even cleaned: it fits only if most of it is control characters. */
const rawCharactersMax = 6 * limits.metadataCharactersMax

const tooLong = `Metadata is too long: at most ${limits.metadataCharactersMax} characters as JSON.`

/**
 * Metadata as it is stored: compact JSON in which each run of control characters and lone
 * surrogates is one space; empty for an empty object. Never recurses: nesting may be any depth.
 */
export function compactMetadata(
  value: unknown,
): { readonly text: string } | { readonly problem: string } {
  if (!isObject(value)) {
    return { problem: 'Metadata must be a JSON object, such as {"plan":"free"}.' }
  }
  const keys = Object.keys(value)
  if (keys.length === 0) return { text: '' }
  if (keys.length > limits.metadataKeysMax) {
    return { problem: `Metadata has too many keys: at most ${limits.metadataKeysMax}.` }
  }
  const raw = stringify(value)
  if (raw === undefined) return { problem: 'Metadata is nested too deeply: make it flatter.' }
  if (raw.length > rawCharactersMax) return { problem: tooLong }
  const text = raw.replace(escapes, (_, kept: string | undefined) => kept ?? ' ')
  const problem = textProblem(value, raw, text)
  return problem === undefined ? { text } : { problem }
}

function textProblem(value: object, raw: string, text: string): string | undefined {
  if (text.length > limits.metadataCharactersMax) return tooLong
  if (text.includes('null') && hasLostNumber(value)) {
    return 'Metadata has a number that JSON cannot hold: send it as text.'
  }
  if (text !== raw && stringify(JSON.parse(text)) !== text) {
    return 'Metadata has two keys that differ only in control characters: rename one.'
  }
  return undefined
}

/** Undefined when the engine's stack is too small for the nesting. */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** Whether there is a number such as 1e999: `JSON.parse` reads Infinity, which becomes null. */
function hasLostNumber(value: object): boolean {
  const values: unknown[] = [value]
  for (const inner of values) {
    if (typeof inner === 'number' && !Number.isFinite(inner)) return true
    const children: unknown[] = typeof inner === 'object' && inner ? Object.values(inner) : []
    values.push(...children)
  }
  return false
}
