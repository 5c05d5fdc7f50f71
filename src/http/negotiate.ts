import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../platform/http-exchange.ts'

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
