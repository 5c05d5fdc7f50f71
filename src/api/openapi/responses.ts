/** A part of the document, as JSON. */
export type Json = Readonly<Record<string, unknown>>

export const ref = (section: string, name: string): Json => ({
  $ref: `#/components/${section}/${name}`,
})

export const refs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, ref('headers', name)]))

export const retryAfter = refs(['Retry-After'])

export const headers: Json = {
  'X-Request-Id': header('Names the request, also in the log.', '^[0-9a-fA-F-]{16,64}$', true),
  'Retry-After': header('Seconds to wait before the next try.', '^[0-9]+$', true),
  RateLimit: header(
    'How much of its limit the client address has left; absent when nothing is counted.',
    '^"(signups|replays|puzzles|decisions)";r=[0-9]+;t=[0-9]+$',
  ),
  'RateLimit-Policy': header(
    'How many signups, repeated requests, puzzles or decisions one client address may send in how many seconds.',
    '^"(signups|replays|puzzles|decisions)";q=[0-9]+;w=[0-9]+$',
  ),
  'Idempotency-Replayed': header('The answer to an earlier request with the same key.', '^true$'),
  'Preference-Applied': header('The wait that was granted.', '^wait=[0-9]+$'),
  ETag: header('Tells versions of a file apart.', '^"[^"]*"$', true),
}

function header(description: string, pattern: string, required = false): Json {
  return { description, required, schema: { type: 'string', pattern } }
}

const refusals = {
  400: 'Not valid HTTP, a body that cannot be parsed, or a malformed key.',
  401: 'No valid API key.',
  403: 'A challenge token that does not pass, an origin that is not allowed, or bulk signups that would have to be confirmed.',
  404: 'There is no such signup, site or link, or no proof of work.',
  408: 'The request did not arrive in time.',
  410: 'Signups are closed.',
  413: 'The body is too large, or the list too long.',
  415: 'A content type, coding or charset that is not supported.',
  417: 'An Expect header other than 100-continue.',
  422: 'Fields are missing or wrong, the site is unknown, or the key was used with other content before.',
  429: 'Too many signups, repeated requests, puzzles or decisions from one client address.',
  431: 'Address and headers are too long.',
  500: 'A defect of this service.',
  503:
    'Nothing was stored, or with "outcome": "unknown" nobody knows: send it again a little later, ' +
    'with the same Idempotency-Key.',
} as const

const refusalHeaders: Readonly<Partial<Record<string, Json>>> = {
  401: { 'WWW-Authenticate': { required: true, schema: { const: 'Bearer' } } },
  429: refs(['Retry-After', 'RateLimit', 'RateLimit-Policy']),
  503: retryAfter,
}

const problem: Json = { 'application/problem+json': { schema: ref('schemas', 'Problem') } }
const problemOrPage: Json = { ...problem, 'text/html': { schema: { type: 'string' } } }

/** Refused by the server before `Accept` is known, so never with a page. */
const beforeAccept: ReadonlySet<string> = new Set(['408', '417', '431'])

type Status = keyof typeof refusals

/** The answers that any request may get. */
export const everywhere: readonly Status[] = [400, 403, 408, 417, 431, 500]

/** The further refusals of signups. */
export const signupRefusals: readonly Status[] = [410, 413, 415, 422, 429, 503]

/** All refusals, by their name in the document. */
export const refusalResponses: Json = Object.fromEntries(
  Object.entries(refusals).map(([status, description]) => [
    `Refused${status}`,
    response(
      description,
      beforeAccept.has(status) ? problem : problemOrPage,
      refusalHeaders[status],
    ),
  ]),
)

export function refused(statuses: readonly Status[]): Json {
  return Object.fromEntries(statuses.map((it) => [it, ref('responses', `Refused${it}`)]))
}

export function response(description: string, content: Json | undefined, headers: Json = {}): Json {
  const all = { ...refs(['X-Request-Id']), ...headers }
  return { description, headers: all, ...(content && { content }) }
}

export function jsonResponse(description: string, schema: string, headers: Json = {}): Json {
  return response(description, { 'application/json': { schema: ref('schemas', schema) } }, headers)
}
