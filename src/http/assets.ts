import { parseAccept } from 'hono/utils/accept'
import type { HttpHeaders } from '../platform/http-exchange.ts'
import type { FileBodies, StaticFile } from '../platform/static-file.ts'
import { type Answer, type Extras, file, notModified } from './answer.ts'
import { securityWith } from './headers.ts'

type Coding = keyof FileBodies

/** The smallest first. */
const codings: readonly Coding[] = ['br', 'gzip']

const assetSecurity = securityWith({
  // Ten minutes until a mended script is everywhere; a stale one is shown while it is asked for.
  'cache-control': 'public, max-age=600, stale-while-revalidate=86400',
  'cross-origin-resource-policy': 'cross-origin',
})

/** A file for pages of every origin, compressed as the browser likes it; 304 when it has it. */
export function assetAnswer(asset: StaticFile, request: HttpHeaders): Answer {
  return fileAnswer(asset, request, { security: assetSecurity, isPublic: true })
}

const documentSecurity = securityWith({ 'cache-control': 'no-cache' })

/** A document that is asked for again with each use, and sent when it is another; otherwise 304. */
export function documentAnswer(document: StaticFile, request: HttpHeaders): Answer {
  return fileAnswer(document, request, { security: documentSecurity })
}

function fileAnswer(asset: StaticFile, request: HttpHeaders, extras: Extras): Answer {
  const { body, coding } = chosenBody(asset, request.get('accept-encoding'))
  const etag = etagOf(asset, coding)
  const headers = ['etag', etag]
  const vary = 'Accept-Encoding'
  if (isKnown(request.get('if-none-match'), etag)) return notModified({ ...extras, headers, vary })
  headers.push('content-type', asset.contentType)
  if (coding !== 'identity') headers.push('content-encoding', coding)
  return file(body, { ...extras, headers, vary })
}

/** Names the bytes that are sent: each coding has its own. */
function etagOf({ hash }: StaticFile, coding: Coding): string {
  return `"${hash}-${coding}"`
}

/** RFC 9110, section 12.5.3: what is not named is not taken, but for the file as it is. */
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

/** Weak comparison, as RFC 9110 wants it here: a proxy may have weakened the tag. */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
