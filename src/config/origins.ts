import type { ParsedSetting } from './problem.ts'

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
