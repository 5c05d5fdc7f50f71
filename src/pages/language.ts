import { parseAccept } from 'hono/utils/accept'
import { type Language, languages } from '../signup/languages.ts'

/** One of ours for a language tag (BCP 47), as `de` for `de-AT`. */
export function languageOf(tag: string): Language | undefined {
  const primary = tag.split('-', 1)[0]?.trim().toLowerCase()
  return languages.find((language) => language === primary)
}

/** The language that an `Accept-Language` header likes best of ours. */
export function preferredLanguage(accepted: string | null): Language | undefined {
  // Sorted by quality already; at 0 it is not wanted.
  return parseAccept(accepted ?? '')
    .filter(({ q }) => q > 0)
    .map(({ type }) => languageOf(type))
    .find((language) => language !== undefined)
}
