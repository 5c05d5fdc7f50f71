import { parseAccept } from 'hono/utils/accept'
import type { HttpHeaders } from '../platform/http-exchange.ts'
import type { Coding, StaticFile } from '../platform/static-file.ts'
import { type Answer, answer, type Extras } from './answer.ts'
import { securityWith } from './headers.ts'

/** The coding that gives the smallest file comes first. */
const codings: readonly Coding[] = ['br', 'gzip']

const kept = (control: string) =>
  securityWith({ 'cache-control': control, 'cross-origin-resource-policy': 'cross-origin' })
// A fixed script reaches every browser within ten minutes. A stale copy is used during the refresh.
const keptLong = kept('public, max-age=600, stale-while-revalidate=86400')
const keptBriefly = kept('public, max-age=30')

/**
 * Serves a file to pages of every origin, compressed as the browser prefers; 304 when the browser has it.
 *
 * @param isBrief whether a copy that is older than half a minute may be wrong
 */
export function assetAnswer(
  asset: StaticFile,
  request: HttpHeaders,
  isBrief = false,
): Promise<Answer> {
  const security = isBrief ? keptBriefly : keptLong
  return fileAnswer(asset, request, { security, isPublic: true })
}

/**
 * For a script tag whose address is wrong: a script that tells why in the console of its page. Of a refusal
 * browsers would show the status alone.
 */
export function refusedScript(why: string): Answer {
  const headers = ['content-type', 'text/javascript; charset=utf-8']
  return answer(200, `console.error(${JSON.stringify(`Rollcall: ${why}`)})\n`, {
    headers,
    security: securityWith({ 'cross-origin-resource-policy': 'cross-origin' }),
    isPublic: true,
  })
}

const documentSecurity = securityWith({ 'cache-control': 'no-cache' })

/** Serves a document that browsers check before each use: 304 when it has not changed. */
export function documentAnswer(document: StaticFile, request: HttpHeaders): Promise<Answer> {
  return fileAnswer(document, request, { security: documentSecurity })
}

async function fileAnswer(
  asset: StaticFile,
  request: HttpHeaders,
  extras: Extras,
): Promise<Answer> {
  const coding = chosenCoding(request.get('accept-encoding'))
  // It identifies the bytes sent, so each coding has its own.
  const etag = `"${asset.hash}-${coding ?? 'identity'}"`
  const headers = ['etag', etag]
  const vary = 'Accept-Encoding, Origin'
  if (isKnown(request.get('if-none-match'), etag))
    return answer(304, null, { ...extras, headers, vary })
  headers.push('content-type', asset.contentType)
  if (coding) headers.push('content-encoding', coding)
  const body = coding ? await asset.compressed(coding) : asset.content
  return answer(200, body, { ...extras, headers, vary })
}

/** RFC 9110, section 12.5.3: a coding that the client does not accept is not used; undefined is always accepted. */
function chosenCoding(accepted: string | null): Coding | undefined {
  const named = new Map(parseAccept(accepted ?? '').map(({ type, q }) => [type.toLowerCase(), q]))
  return codings.find((coding) => (named.get(coding) ?? named.get('*') ?? 0) > 0)
}

/** Compares weakly, as RFC 9110 requires for `If-None-Match`, because a proxy may weaken the tag. */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
