import { isRecord } from './json.ts'
import { limits } from './limits.ts'

/**
 * Matches control characters and lone surrogates in JSON text: those that `JSON.stringify` escapes,
 * and DEL and C1, which it does not escape. Group 1 matches escaped quotes and backslashes, which are
 * kept: without it, the `n` in `\\n` would look like an escaped line break.
 */
const escapes = /((?:\\["\\])+)|(?:\\[bfnrt]|\\u[0-9a-f]{4}|[\x7f-\x9f])+/g

/** Longer JSON is refused before cleaning: it could fit only if most of it were control characters. */
const rawCharactersMax = 6 * limits.metadataCharactersMax

const tooLong = `Metadata is too long: at most ${limits.metadataCharactersMax} characters as JSON.`

const consentKey = 'consent'
/** Where metadata has what a request calls its consent, and what is no text of the site. */
const sentKey = `${consentKey} (sent)`

/**
 * Metadata as it is stored: compact JSON in which each run of control characters and lone
 * surrogates is one space; empty for an empty object. Does not recurse, as the input may be deep.
 */
export function compactMetadata(
  value: unknown,
): { readonly text: string } | { readonly problem: string } {
  if (!isRecord(value)) {
    return { problem: 'Metadata must be a JSON object, such as {"plan":"free"}.' }
  }
  const keys = Object.keys(value)
  if (keys.length === 0) return { text: '' }
  if (keys.length > limits.metadataKeysMax) {
    return { problem: `Metadata has too many keys: at most ${limits.metadataKeysMax}.` }
  }
  const problem = problemIn(value)
  if (problem !== undefined) return { problem }
  const raw = JSON.stringify(value)
  if (raw.length > rawCharactersMax) return { problem: tooLong }
  const text = raw.replace(escapes, (_, kept: string | undefined) => kept ?? ' ')
  if (text.length > limits.metadataCharactersMax) return { problem: tooLong }
  if (text !== raw && JSON.stringify(JSON.parse(text)) !== text) {
    return { problem: 'Metadata has two keys that differ only in control characters: rename one.' }
  }
  return { text }
}

/** Adds members to metadata, as compact JSON. A new key that is there already is renamed. */
export function withMembers(
  metadata: string,
  members: readonly (readonly [key: string, value: unknown])[],
): string {
  if (members.length === 0) return metadata
  const taken = new Set(metadata === '' ? [] : Object.keys(JSON.parse(metadata) as object))
  const added = members.map(([name, value]) => {
    let key = name
    while (taken.has(key)) key += ' (signup)'
    taken.add(key)
    return `${JSON.stringify(key)}:${JSON.stringify(value)}`
  })
  const inside = metadata.slice(1, -1)
  return `{${[...(inside === '' ? [] : [inside]), ...added].join(',')}}`
}

/** What metadata says of a consent, as text; undefined when it says nothing. */
export function consentIn(metadata: string): string | undefined {
  if (!metadata.includes(`"${consentKey}":`)) return undefined
  const { [consentKey]: said } = JSON.parse(metadata) as Readonly<Record<string, unknown>>
  return typeof said === 'string' ? said : JSON.stringify(said)
}

/** Metadata in which the consent stands as something that a request has sent. */
export function withSentConsent(metadata: string): string {
  const { [consentKey]: said, ...others } = JSON.parse(metadata) as Readonly<
    Record<string, unknown>
  >
  return withMembers(JSON.stringify(others), [[sentKey, said]])
}

/** Why the value cannot be written out: it is too deep or too large, or has a number that JSON writes as null. */
function problemIn(value: object): string | undefined {
  let level = [value]
  let count = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.metadataDepthMax) {
      return `Metadata is nested too deeply: at most ${limits.metadataDepthMax} levels.`
    }
    const below: object[] = []
    for (const parent of level) {
      const children: unknown[] = Object.values(parent)
      count += children.length
      // Each child takes at least two characters.
      if (count > rawCharactersMax / 2) return tooLong
      for (const child of children) {
        // `JSON.parse` reads 1e999 as Infinity.
        if (typeof child === 'number' && !Number.isFinite(child)) {
          return 'Metadata has a number that JSON cannot hold: send it as text.'
        }
        if (typeof child === 'object' && child) below.push(child)
      }
    }
    level = below
  }
  return undefined
}
