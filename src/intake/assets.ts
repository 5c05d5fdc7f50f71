import { parseAccept } from 'hono/utils/accept'

import type { StaticFile } from '../platform/static-files.ts'

type Coding = keyof StaticFile['bodies']

/** The smallest first. */
const codings: readonly Coding[] = ['br', 'gzip', 'identity']

/** Ten minutes until a mended script is everywhere; a stale one is shown while it is asked for. */
const cacheControl = 'public, max-age=600, stale-while-revalidate=86400'

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
  const coding = chooseCoding(request.get('accept-encoding'))
  const etag = `"${file.hash}-${coding}"`
  const body = file.bodies[coding]
  const headers = {
    etag,
    'cache-control': cacheControl,
    vary: 'Accept-Encoding',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  }
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
export function chooseCoding(accepted: string | null): Coding {
  const named = new Map(parseAccept(accepted ?? '').map(({ type, q }) => [type.toLowerCase(), q]))
  const isTaken = (coding: Coding) => (named.get(coding) ?? named.get('*') ?? 0) > 0
  return codings.find(isTaken) ?? 'identity'
}

/** Weak comparison, as RFC 9110 wants it here: a proxy may have weakened the tag. */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
