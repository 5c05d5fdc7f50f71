import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../platform/http-exchange.ts'

type Range = ReturnType<typeof parseAccept>[number]

/**
 * Whether the `Accept` header of a request prefers an HTML page to JSON. Browsers name `text/html`; a wildcard
 * alone, as curl and `fetch` send it, means JSON. At equal quality a named type wins over a
 * wildcard, and the first of two named types wins.
 */
export function prefersHtml({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const ranges = parseAccept(headers.get('accept') ?? '')
  const page = best(ranges, ['text/html', 'application/xhtml+xml'])
  if (page.quality === 0 || page.breadth === 2) return false
  const json = best(ranges, ['application/json', 'application/problem+json'])
  return (page.quality - json.quality || json.breadth - page.breadth || json.place - page.place) > 0
}

interface Match {
  /** From 0 to 1; 0 means not acceptable. */
  readonly quality: number
  /** 0: matched by its name; 1: by `text/*`; 2: by a wildcard, or not at all. */
  readonly breadth: number
  readonly place: number
}

const none: Match = { quality: 0, breadth: 2, place: Infinity }

/** The match of the media type with the highest quality. */
function best(ranges: readonly Range[], types: readonly string[]): Match {
  return types
    .map((type) => match(ranges, type))
    .reduce((one, other) => (other.quality > one.quality ? other : one))
}

/** Uses the narrowest range that covers the type (RFC 9110, section 12.5.1). */
function match(ranges: readonly Range[], type: string): Match {
  const covers = [type, `${type.split('/', 1)[0] ?? ''}/*`, '*/*']
  for (const [breadth, range] of covers.entries()) {
    const place = ranges.findIndex((it) => it.type.toLowerCase() === range)
    const found = ranges[place]
    if (found) return { quality: found.q, breadth, place }
  }
  return none
}
