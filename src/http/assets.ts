import { parseAccept } from 'hono/utils/accept'

import type { FileBodies, StaticFile } from '../platform/static-file.ts'

type Coding = keyof FileBodies

/** The smallest first. */
const codings: readonly Coding[] = ['br', 'gzip']

const assetHeaders = {
  // Ten minutes until a mended script is everywhere; a stale one is shown while it is asked for.
  'cache-control': 'public, max-age=600, stale-while-revalidate=86400',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}

export interface AssetOptions {
  /** What browsers load, each under its path. */
  readonly assets: readonly StaticFile[]
}

/** What GET answers at the paths of the files. */
export function assetRoutes({
  assets,
}: AssetOptions): readonly (readonly [path: string, answer: (request: Request) => Response])[] {
  return assets.map((file) => [`/${file.path}`, (request) => assetResponse(file, request.headers)])
}

/** A file for pages of every origin, compressed as the browser likes it; 304 when it has it. */
export function assetResponse(file: StaticFile, request: Headers): Response {
  return fileResponse(file, request, assetHeaders)
}

/** A document that is asked for again with each use, and sent when it is another; otherwise 304. */
export function documentResponse(file: StaticFile, request: Headers): Response {
  return fileResponse(file, request, { 'cache-control': 'no-cache' })
}

function fileResponse(file: StaticFile, request: Headers, added: Record<string, string>): Response {
  const { body, coding } = chosenBody(file, request.get('accept-encoding'))
  const etag = `"${file.hash}-${coding}"`
  const headers = { etag, vary: 'Accept-Encoding', ...added }
  if (isKnown(request.get('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers })
  }
  return new Response(body, {
    headers: {
      ...headers,
      'content-type': file.contentType,
      'content-length': String(body.byteLength),
      ...(coding !== 'identity' && { 'content-encoding': coding }),
    },
  })
}

/** RFC 9110, section 12.5.3: what is not named is not taken, but for the file as it is. */
function chosenBody({ bodies }: StaticFile, accepted: string | null) {
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
