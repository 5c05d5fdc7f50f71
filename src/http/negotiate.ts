import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { type Language, languages } from '../signup/languages.ts'

const pages = /^(?:text\/(?:html|\*)|application\/xhtml\+xml)$/i
const programs = /^(?:application\/(?:json|problem\+json|\*)|\*\/\*)$/i

/**
 * Whether the `Accept` header of a request prefers an HTML page to JSON. Browsers name `text/html`; a wildcard
 * alone, as curl and `fetch` send it, means JSON. At equal quality a named type wins over a
 * wildcard, and the first of two named types wins.
 */
export function prefersHtml({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const wildcards = (type: string) => type.split('*').length
  const [best] = parseAccept(headers.get('accept') ?? '')
    .filter(({ type, q }) => q > 0 && (pages.test(type) || programs.test(type)))
    .sort((one, other) => other.q - one.q || wildcards(one.type) - wildcards(other.type))
  return best !== undefined && pages.test(best.type)
}

/**
 * The language of a request: that of the query, else that of `Accept-Language`, else that of the site, else
 * English. `asked` is undefined unless the query names one of our languages.
 */
export function requestLanguage(
  { url, headers }: Pick<HttpRequest, 'url' | 'headers'>,
  ofSite: Language | undefined,
): { readonly asked: Language | undefined; readonly language: Language } {
  const asked = languageOf(new URL(url).searchParams.get('language') ?? '')
  return {
    asked,
    language: asked ?? preferredLanguage(headers.get('accept-language')) ?? ofSite ?? 'en',
  }
}

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
