import { z } from 'zod'
import type { Kind } from './kinds.ts'
import type { ParsedSetting } from './refusal.ts'
import { note, parsedBy } from './schema-parts.ts'

/** Web origins, as browsers write them, or `*`. */
export const origins: Kind<'*' | readonly string[]> = {
  parse: originList,
  json: (example) =>
    z
      .array(parsedBy(originList, example.split(',')[0] ?? ''))
      .min(1)
      .max(1_000)
      .check((payload) => {
        const star = payload.value.indexOf('*')
        if (star === -1 || payload.value.length === 1) return
        const problem = 'is * beside other origins.'
        note(payload, { problem, expected: 'either * alone, or web origins', hint: starHint }, [
          star,
        ])
      })
      .transform((lists) => (lists.includes('*') ? '*' : [...new Set(lists.flat())])),
  form: 'With commas between them.',
}

/** Parses `*`, or web origins separated by commas. Returns each as browsers write it. */
export function originList(text: string): ParsedSetting<'*' | readonly string[]> {
  if (text === '*') return { value: '*' }
  const origins = new Set<string>()
  for (const entry of text.split(',')) {
    const parsed = origin(entry.trim())
    if (!('value' in parsed)) return parsed
    if (parsed.value !== undefined) origins.add(parsed.value)
  }
  return origins.size > 0 ? { value: [...origins] } : notAnOrigin('names no origin.', listHint)
}

/** Parses one entry. An empty entry is allowed and gives undefined. */
function origin(text: string): ParsedSetting<string | undefined> {
  if (text === '') return { value: undefined }
  if (text === '*') return notAnOrigin('has * beside other origins.', starHint)
  if (text.includes('*')) return notAnOrigin('has an origin with a wildcard.', wildcardHint)
  if (text.toLowerCase() === 'null')
    return notAnOrigin('has null, which is not an origin.', nullHint)
  const url = /^https?:\/\/[^/?#@\\;'"\s]+\/?$/i.test(text) ? URL.parse(text) : null
  if (url) return { value: url.origin }
  return notAnOrigin('has an entry that is not a web origin.', listHint)
}

function notAnOrigin(problem: string, hint: string) {
  return {
    problem,
    expected: '* or web origins with commas between them, such as https://example.com',
    hint,
  }
}

const starHint =
  'Write * alone to allow every page on the web, or only the origins of your own pages.'
const wildcardHint = 'Write every origin in full, and list each subdomain.'
const nullHint = 'Remove it. Only * allows sandboxed frames and local files.'
const listHint =
  'Write http:// or https:// and the host, and the port if it is not the usual one; leave out paths.'
