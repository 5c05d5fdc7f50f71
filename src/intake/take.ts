import { type Body, type BodyLimits, isSmallBody, readBody } from '../http/body.ts'
import type { Exchange, FormEntries } from '../http/exchange.ts'
import { prefersHtml } from '../http/negotiate.ts'
import type { Answer } from '../http/answer.ts'
import { refuse } from '../http/refuse.ts'
import type { FieldProblem } from '../signup/field-values.ts'
import type { ParseContext } from '../signup/parse.ts'
import { tabKey } from '../signup/signup.ts'
import { ownedKey } from './idempotency.ts'
import { refuseSpent, type StoreParts } from './store.ts'
import { patienceOf, type Waiting } from './waiting.ts'

/** The intakes of all sites, with what they share. */
export interface Intakes {
  readonly bodies: BodyLimits
  /** The intake of each site, by its name. */
  readonly bySite: ReadonlyMap<string, Intake>
}

/** Whether this is the overflow tab of the site. */
export function isOverflow(tab: string, { contexts }: Pick<Intake, 'contexts'>): boolean {
  const { overflowKey } = contexts.api
  return overflowKey !== undefined && tabKey(tab) === overflowKey
}

/** What takes in the signups of one site. */
export interface Intake extends StoreParts {
  readonly waiting: Waiting
  /** What the parser needs to know, for each way in. Made once, not for each signup. */
  readonly contexts: Readonly<Record<'api' | 'form' | 'bulk', ParseContext>>
  /** How to treat people who post a form from a page. */
  readonly people: {
    /** The fields that the form's page requires and the form lacks. */
    missing(exchange: Exchange, fields: FormEntries): readonly FieldProblem[]
    /**
     * Sends the visitor to the next page after the signup was accepted. `redirect` is not checked yet.
     * `isWaiting`: the signup went to the overflow tab.
     */
    sendOn(exchange: Exchange, redirect: string | undefined, isWaiting: boolean): Answer
  }
  readonly bulkItemsMax: number
}

/**
 * Takes a request in, up to its body: with its site, its key, and how long it wants to wait for rows.
 *
 * @throws Refusal when its client has used up its limit, or its body cannot be read
 */
export async function take(exchange: Exchange, { bodies, bySite }: Intakes, takesForms: boolean) {
  const { request } = exchange
  const key = ownedKey(request, exchange.client)
  // The page with the refusal shows what was typed, so a small form is read even when it is refused.
  const isGivenBack = () => takesForms && prefersHtml(request) && isSmallBody(request)
  if (exchange.isSpent && !isGivenBack()) {
    await refuseSpent(key, exchange, bySite.get(exchange.knownSite?.name ?? ''))
  }
  const sent = await readBody(exchange, bodies)
  exchange.signups = 1
  if (sent.kind === 'form') {
    if (!takesForms) throw refuse.jsonOnly()
    exchange.postedFields = sent.fields
  }
  const body = takeSiteOut(sent, exchange)
  const { name } = exchange.site
  const intake = bySite.get(name)
  if (!intake) throw new Error(`The site ${name} is not running.`)
  return { body, key, intake, patience: patienceOf(request, intake.clock) }
}

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
