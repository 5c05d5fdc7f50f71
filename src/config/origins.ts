import type { Parsed } from './problem.ts'

/** Parses `*`, or web origins separated by commas. Returns each as browsers write it. */
export function originList(text: string): Parsed<'*' | readonly string[]> {
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
function origin(text: string): Parsed<string | undefined> {
  if (text === '') return { value: undefined }
  if (text === '*')
    return notAnOrigin('has * beside other origins.', `Leave one of them: ${starHint}`)
  if (text.includes('*')) return notAnOrigin('has an origin with a wildcard.', wildcardHint)
  if (text.toLowerCase() === 'null') return notAnOrigin('names null, which is no origin.', nullHint)
  const url = /^https?:\/\/[^/?#@\\;'"\s]+\/?$/i.test(text) ? URL.parse(text) : null
  if (url) return { value: url.origin }
  return notAnOrigin('has an entry that is no web origin.', listHint)
}

function notAnOrigin(problem: string, hint: string) {
  return { problem, expected: '* or web origins, such as https://example.com', hint }
}

const starHint = '* alone for every page on the web, or the origins of your own pages.'
const wildcardHint = 'Write every origin in full: each subdomain is one of its own.'
const nullHint = 'Remove it: sandboxed frames and local files are allowed by * only.'
const listHint =
  'Write scheme, host and, where it is not the usual one, port: http:// or https:// in front, no path.'
