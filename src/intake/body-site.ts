import type { Body } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { refuse } from '../http/refuse.ts'
import { isRecord } from '../signup/json.ts'

/**
 * Uses the site of a posted request, and takes the field `site` out of its body. Without sites there
 * is no such field: the body stays as it is, and only the address may name the site.
 *
 * @throws Refusal 422 when the site is unknown, is no text, or is not that of the address; 403 when it does
 *   not allow the request's origin
 */
export function takeSiteOut(body: Body, exchange: Exchange): Body {
  if (!exchange.hasSites) {
    exchange.useSiteOfBody(undefined)
    return body
  }
  if (body.kind === 'form') {
    const isSite = ([name]: readonly [string, string]) => name === 'site'
    const named = new Set(body.fields.filter(isSite).map(([, value]) => value))
    named.delete('')
    if (named.size > 1) throw wrong('The site must be named once.')
    exchange.useSiteOfBody([...named][0])
    return { kind: 'form', fields: body.fields.filter((field) => !isSite(field)) }
  }
  if (!isRecord(body.value)) {
    exchange.useSiteOfBody(undefined)
    return body
  }
  const { site, ...value } = body.value
  if (typeof site !== 'string' && site !== undefined && site !== null) {
    throw wrong('The site must be text.')
  }
  exchange.useSiteOfBody(site === null || site === '' ? undefined : site)
  return { kind: 'json', value }
}

function wrong(message: string) {
  return refuse.fields([{ field: 'site', message }])
}
