import { parseAccept } from 'hono/utils/accept'
import { type Language, languages } from '../signup/languages.ts'

/** Our language for a language tag (BCP 47), such as `de` for `de-AT`. */
export function languageOf(tag: string): Language | undefined {
  const primary = tag.split('-', 1)[0]?.trim().toLowerCase()
  return languages.find((language) => language === primary)
}

/** The one of our languages that an `Accept-Language` header prefers. */
export function preferredLanguage(accepted: string | null): Language | undefined {
  // The list is already sorted by quality. A quality of 0 means "not wanted".
  return parseAccept(accepted ?? '')
    .filter(({ q }) => q > 0)
    .map(({ type }) => languageOf(type))
    .find((language) => language !== undefined)
}
