import { parseAccept } from 'hono/utils/accept'
import type { HttpHeaders } from '../platform/http-exchange.ts'
import type { FileBodies, StaticFile } from '../platform/static-file.ts'
import { type Answer, answer, type Extras } from './answer.ts'
import { securityWith } from './headers.ts'

type Coding = keyof FileBodies

/** The coding that gives the smallest file comes first. */
const codings: readonly Coding[] = ['br', 'gzip']

const assetSecurity = securityWith({
  // A fixed script reaches every browser within ten minutes. A stale copy is used during the refresh.
  'cache-control': 'public, max-age=600, stale-while-revalidate=86400',
  'cross-origin-resource-policy': 'cross-origin',
})

/** Serves a file to pages of every origin, compressed as the browser prefers; 304 when the browser has it. */
export function assetAnswer(asset: StaticFile, request: HttpHeaders): Answer {
  return fileAnswer(asset, request, { security: assetSecurity, isPublic: true })
}

/**
 * A 404 for a script tag. A browser hides a refusal that is no script from its console and its network
 * view (opaque response blocking), so this is one, though no browser runs a script that comes with a 404.
 */
export function refusedScript(why: string): Answer {
  const headers = ['content-type', 'text/javascript; charset=utf-8']
  return answer(404, `// Rollcall: ${why}\n`, {
    headers,
    security: securityWith({ 'cross-origin-resource-policy': 'cross-origin' }),
    isPublic: true,
  })
}

const documentSecurity = securityWith({ 'cache-control': 'no-cache' })

/** Serves a document that browsers check before each use: 304 when it has not changed. */
export function documentAnswer(document: StaticFile, request: HttpHeaders): Answer {
  return fileAnswer(document, request, { security: documentSecurity })
}

function fileAnswer(asset: StaticFile, request: HttpHeaders, extras: Extras): Answer {
  const { body, coding } = chosenBody(asset, request.get('accept-encoding'))
  // It identifies the bytes sent, so each coding has its own.
  const etag = `"${asset.hash}-${coding}"`
  const headers = ['etag', etag]
  const vary = 'Accept-Encoding, Origin'
  if (isKnown(request.get('if-none-match'), etag))
    return answer(304, null, { ...extras, headers, vary })
  headers.push('content-type', asset.contentType)
  if (coding !== 'identity') headers.push('content-encoding', coding)
  return answer(200, body, { ...extras, headers, vary })
}

/** RFC 9110, section 12.5.3: a coding that the client does not accept is not used; no coding always is. */
function chosenBody(
  { bodies }: StaticFile,
  accepted: string | null,
): { readonly coding: Coding; readonly body: Uint8Array<ArrayBuffer> } {
  const named = new Map(parseAccept(accepted ?? '').map(({ type, q }) => [type.toLowerCase(), q]))
  for (const coding of codings) {
    const body = bodies[coding]
    const isTaken = (named.get(coding) ?? named.get('*') ?? 0) > 0
    if (body && isTaken) return { coding, body }
  }
  return { coding: 'identity', body: bodies.identity }
}

/** Compares weakly, as RFC 9110 requires for `If-None-Match`, because a proxy may weaken the tag. */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
