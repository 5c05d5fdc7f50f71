import type { Connection, HttpRequest } from '../platform/http-exchange.ts'
import { Client } from './client.ts'
import { isOriginAllowed, ownOrigin, requestHosts, webOrigin } from './origin.ts'
import type { Refusal } from './problem.ts'
import type { Allowance, LimitedPolicy, SiteLimits } from './rate-limit.ts'
import { refuse } from './refuse.ts'
import { type AddressedSite, type EdgeSite, type Sites, unknownSite } from './sites.ts'

/** What the exchanges of a service share. */
export interface Surroundings {
  /** The hosts that count as our own, as browsers write them; undefined allows any. */
  readonly allowedHosts: readonly string[] | undefined
  /** How many proxies in front of us are trusted to tell the client's address. */
  readonly trustedProxies: number
  readonly sites: Sites
  readonly limits: SiteLimits
}

/** The fields of a form as they were posted, in order. */
export type FormEntries = readonly (readonly [name: string, value: string])[]

/** A request from an adapter, with the path parameters that the router found. */
interface Arrival extends Pick<Exchange, 'requestId' | 'request' | 'params'> {
  readonly connection: Connection
}

/** One request, with its client and its site: the argument of every handler. */
export class Exchange {
  readonly requestId: string
  readonly request: HttpRequest
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly client: Client
  /** The fields of a posted form until its signup is accepted, so that a refusal can show them again. */
  postedFields: FormEntries | undefined
  /** How many signups the request has; 0 until its body was read, as a request without one counts for nothing. */
  signups = 0
  /** How many of its signups were refused although the request was answered. */
  rejected = 0
  /** Whether the page of a refusal may be in a frame, as forms are. */
  mayBeFramed = true
  /** The client's rate limit after the last count; undefined when nothing was counted. */
  allowance: Allowance | undefined
  /** The site of the request; undefined while it is unknown. */
  knownSite: EdgeSite | undefined
  /** Whether the request's origin may use its site. An unknown site stores nothing, so anybody may. */
  isOriginAllowed = true
  readonly #around: Surroundings
  readonly #addressed: AddressedSite
  #replays = 0
  #isCounted = false

  constructor({ requestId, request, connection, params }: Arrival, around: Surroundings) {
    this.requestId = requestId
    this.request = request
    this.params = params
    this.client = new Client({
      remoteAddress: connection.remoteAddress,
      forwardedFor: request.headers.get('x-forwarded-for'),
      trustedProxies: around.trustedProxies,
    })
    this.#around = around
    this.#addressed = around.sites.inUrl(request.url)
    this.#settle(this.#addressed.site)
  }

  #settle(site: EdgeSite | undefined): void {
    this.knownSite = site
    const origin = this.request.headers.get('origin')
    const allowed = site?.origins ?? '*'
    this.isOriginAllowed =
      origin === null || allowed === '*' || isOriginAllowed(origin, allowed, this.hosts)
  }

  /**
   * The site of the request.
   *
   * @throws Refusal 422 when it is unknown
   */
  get site(): EdgeSite {
    const { knownSite } = this
    if (!knownSite) throw refuse.fields([unknownSite(this.#addressed.name)])
    return knownSite
  }

  /** Whether the address names a site that there is not. */
  get isSiteUnknown(): boolean {
    return this.#addressed.name !== undefined && this.#addressed.site === undefined
  }

  /** Whether requests name their site. */
  get hasSites(): boolean {
    return this.#around.sites.areNamed
  }

  /** Whether only the body can tell the site. Then `useSiteOfBody` checks the origin. */
  get isSiteInBody(): boolean {
    return this.hasSites && this.request.method === 'POST' && this.#addressed.name === undefined
  }

  /**
   * Uses the site that the body of a posted signup names, or that of its address.
   *
   * @param name the site that the body names; undefined when it names none
   * @throws Refusal 422 when the site is unknown, or other than that of the address; 403 when it does not
   *   allow the request's origin
   */
  useSiteOfBody(name: string | undefined): void {
    const { sites } = this.#around
    const { name: addressed, site } = this.#addressed
    if (addressed !== undefined && name !== undefined && name !== addressed) {
      const message = 'The body names another site than the address does.'
      throw refuse.fields([{ field: 'site', message }])
    }
    const settled = name === undefined ? site : sites.find(name)
    if (!settled) throw refuse.fields([unknownSite(name ?? addressed)])
    if (settled !== this.knownSite) this.#settle(settled)
    if (!this.isOriginAllowed) throw this.refusedOrigin()
  }

  refusedOrigin(): Refusal {
    const origin = this.request.headers.get('origin') ?? ''
    // Our embedded form first asks for `/api/config`, and must be able to read this refusal.
    const { ALLOWED_ORIGINS: origins } = (this.knownSite ?? this.#around.sites.all[0]).settingNames
    return refuse.origin(webOrigin(origin), origins, this.request.method === 'GET')
  }

  /** Whether the client has used up its signups. Then there is no need to read the body. */
  get isSpent(): boolean {
    return this.#around.limits.isSpent(this)
  }

  /**
   * Counts signups, or something else, against the limit of the client's address.
   *
   * @throws Refusal 429 when they exceed the limit. None of them is counted then.
   */
  take(count: number, policy: LimitedPolicy = 'signups'): void {
    const exceeded = this.#count(policy, count)
    if (exceeded) throw exceeded
  }

  /**
   * Counts the signups of a refused request, unless they were counted or the fault is ours. Returns the refusal
   * that answers the request: another one when they exceed the limit.
   */
  countRefused(refusal: Refusal): Refusal {
    if (this.#isCounted || this.signups === 0 || refusal.status >= 500) return refusal
    return this.#count('signups', this.signups) ?? refusal
  }

  /**
   * Counts replayed signups. `count` is the total of this request so far; only the increase since the
   * last call is counted.
   *
   * @throws Refusal 429 when they exceed the limit. None of the increase is counted then.
   */
  takeReplays(count: number): void {
    const more = count - this.#replays
    if (more <= 0) return
    this.take(more, 'replays')
    this.#replays = count
  }

  #count(policy: LimitedPolicy, count: number): Refusal | undefined {
    this.#isCounted = true
    const allowance = this.#around.limits.count(policy, count, this)
    this.allowance = allowance
    return allowance?.isTaken === false ? refuse.tooMany(allowance, count) : undefined
  }

  /** The hosts that the request was sent to, limited to our own. */
  get hosts(): readonly string[] {
    return requestHosts(this.request.headers, this.#isProxyTrusted, this.#around.allowedHosts)
  }

  /** The origin under which the visitor sees us. */
  get ownOrigin(): string {
    const { hosts } = this
    const known = hosts.length > 0 ? hosts : (this.#around.allowedHosts ?? hosts)
    return ownOrigin(this.request, known, this.#isProxyTrusted)
  }

  get #isProxyTrusted(): boolean {
    return this.#around.trustedProxies > 0
  }
}
