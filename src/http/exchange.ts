import type { Clock } from '../platform/clock.ts'
import type { Connection, HttpRequest } from '../platform/http-exchange.ts'
import type { Share } from '../platform/share.ts'
import {
  type ClientAddress,
  clientAddress,
  type ClientAddressInput,
  visitorAddress,
} from './client-address.ts'
import { isOriginAllowed, listedHosts, ownOrigin, requestHosts, webOrigin } from './origin.ts'
import { addressesMax, type LimitedPolicy, RateLimit, type Allowance } from './rate-limit.ts'
import type { Refusal } from './problem.ts'
import { refuse } from './refuse.ts'
import { clientShare } from './share.ts'
import { type AddressedSite, type EdgeSite, type Sites, unknownSite } from './sites.ts'

export interface ClientsOptions {
  /** The hosts that count as our own, as browsers write them; undefined allows any. */
  readonly allowedHosts: readonly string[] | undefined
  /** How many proxies in front of us are trusted to tell the client's address. */
  readonly trustedProxies: number
  readonly sites: Sites
  readonly clock: Pick<Clock, 'elapsed'>
  /** Called at most once, with the reason why clients are counted wrongly. */
  readonly warn: (warning: string, requestId: string) => void
}

/** Replays allowed for each signup: a replay costs less, and a retry should learn what became of it. */
const replaysPerSignup = 10

/** Identifies the clients of requests, and counts their signups. */
export class Clients {
  readonly trustedProxies: number
  readonly allowedHosts: readonly string[] | undefined
  readonly sites: Sites
  readonly #warn: ClientsOptions['warn']
  /** By the name of the site; `''` for requests whose site is unknown. A site without a limit has none. */
  readonly #limits: ReadonlyMap<string, Readonly<Record<LimitedPolicy, RateLimit>>>
  #wasWarned = false

  constructor({ trustedProxies, allowedHosts, sites, clock, warn }: ClientsOptions) {
    this.allowedHosts = allowedHosts
    this.trustedProxies = trustedProxies
    this.sites = sites
    this.#warn = warn
    const all = [...sites.all, { name: '', signupsPerMinute: strangersPerMinute(sites) }]
    // All sites together remember as many addresses as one alone.
    const share = { clock, addressesMax: Math.ceil(addressesMax / sites.all.length) }
    const limit = (policy: LimitedPolicy, perMinute: number) =>
      new RateLimit({ policy, perMinute, ...share })
    this.#limits = new Map(
      all
        .filter(({ signupsPerMinute }) => signupsPerMinute > 0)
        .map(({ name, signupsPerMinute }) => [
          name,
          {
            signups: limit('signups', signupsPerMinute),
            replays: limit('replays', signupsPerMinute * replaysPerSignup),
          },
        ]),
    )
  }

  /** Whether the address has used up its limit at the site. */
  isSpent(address: string, site: EdgeSite | undefined): boolean {
    return this.#limits.get(site?.name ?? '')?.signups.isSpent(address) ?? false
  }

  /** Counts signups against the limit of the client's address; undefined when the site has no limit. */
  count(
    policy: LimitedPolicy,
    signups: number,
    { site, client, requestId }: Counted,
  ): Allowance | undefined {
    const limits = this.#limits.get(site?.name ?? '')
    if (!limits) return undefined
    const { address, warning } = client
    if (warning !== undefined && !this.#wasWarned) {
      this.#wasWarned = true
      this.#warn(warning, requestId)
    }
    return address === undefined ? undefined : limits[policy].take(address, signups)
  }
}

/** Whose signups are counted, and where. */
interface Counted {
  readonly site: EdgeSite | undefined
  readonly client: ClientAddress
  readonly requestId: string
}

/** The limit of requests whose site is unknown: as many as the site with the highest limit takes. */
function strangersPerMinute({ all }: Sites): number {
  const limits = all.map(({ signupsPerMinute }) => signupsPerMinute)
  return limits.includes(0) ? 0 : Math.max(...limits)
}

/** The fields of a form as they were posted, in order. */
export type FormEntries = readonly (readonly [name: string, value: string])[]

/** A request from an adapter, with the path parameters that the router found. */
export interface Arrival {
  readonly requestId: string
  readonly request: HttpRequest
  readonly connection: Connection
  /** The named parts of the path, decoded once. */
  readonly params: Readonly<Record<string, string>>
}

/**
 * One request and what is known about its client: the argument of every handler. The client's
 * details are computed on first use, because few handlers need them.
 */
export class Exchange implements Arrival {
  readonly requestId: string
  readonly request: HttpRequest
  readonly connection: Connection
  readonly params: Readonly<Record<string, string>>
  /** The fields of a posted form until its signup is accepted, so that a refusal can show them again. */
  postedFields: FormEntries | undefined
  /** How many signups the request has; 0 until its body was read, as a request without one counts for nothing. */
  signups = 0
  /** The digest of the request's valid API key. Requests with a key are not counted. */
  apiKey: string | undefined
  /** The client's rate limit after the last count; undefined when nothing was counted. */
  allowance: Allowance | undefined
  readonly #clients: Clients
  readonly #addressed: AddressedSite
  #siteOfBody: EdgeSite | undefined
  #client: ClientAddress | undefined
  #replays = 0
  #isCounted = false

  constructor({ requestId, request, connection, params }: Arrival, clients: Clients) {
    this.requestId = requestId
    this.request = request
    this.connection = connection
    this.params = params
    this.#clients = clients
    this.#addressed = clients.sites.inUrl(request.url)
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

  /** The site of the request; undefined while it is unknown. */
  get knownSite(): EdgeSite | undefined {
    return this.#siteOfBody ?? this.#addressed.site
  }

  /** Whether the address names a site that there is not. */
  get isSiteUnknown(): boolean {
    return this.#addressed.name !== undefined && this.#addressed.site === undefined
  }

  /** Whether requests name their site. */
  get hasSites(): boolean {
    return this.#clients.sites.areNamed
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
    const { sites } = this.#clients
    const { name: addressed, site } = this.#addressed
    if (addressed !== undefined && name !== undefined && name !== addressed) {
      const message = 'The body names another site than the address does.'
      throw refuse.fields([{ field: 'site', message }])
    }
    const settled = name === undefined ? site : sites.find(name)
    if (!settled) throw refuse.fields([unknownSite(name ?? addressed)])
    this.#siteOfBody = settled
    if (!this.isOriginAllowed) throw this.refusedOrigin()
  }

  /** Whether the request's origin may use its site. An unknown site stores nothing, so anybody may. */
  get isOriginAllowed(): boolean {
    const origin = this.request.headers.get('origin')
    if (origin === null) return true
    const allowed = this.knownSite?.allowedOrigins ?? '*'
    return allowed === '*' || isOriginAllowed(origin, allowed, this.hosts)
  }

  /** The refusal of this request's origin. */
  refusedOrigin(): Refusal {
    const origin = this.request.headers.get('origin') ?? ''
    // Our embedded form first asks for `/api/config`, and must be able to read this refusal.
    const { origins } = (this.knownSite ?? this.#clients.sites.all[0]).settingNames
    return refuse.origin(webOrigin(origin), origins, this.request.method === 'GET')
  }

  /** The key by which limits count this client; undefined when no limit counts it. */
  get rateLimitKey(): string | undefined {
    return this.apiKey === undefined ? this.#clientAddress.address : undefined
  }

  /** Whether the client has used up its signups. Then there is no need to read the body. */
  get isSpent(): boolean {
    const { rateLimitKey } = this
    return rateLimitKey !== undefined && this.#clients.isSpent(rateLimitKey, this.knownSite)
  }

  /**
   * Counts signups against the limit of the client's address.
   *
   * @throws Refusal 429 when they exceed the limit. None of them is counted then.
   */
  take(count: number): void {
    this.#count('signups', count)
  }

  /**
   * Counts the signups of a refused request, unless they were counted or the fault is ours. Returns the refusal
   * that answers the request: another one when they exceed the limit.
   */
  countRefused(refusal: Refusal): Refusal {
    if (this.#isCounted || this.signups === 0 || refusal.status >= 500) return refusal
    return this.#exceeded('signups', this.signups) ?? refusal
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
    this.#count('replays', more)
    this.#replays = count
  }

  #count(policy: LimitedPolicy, count: number): void {
    const exceeded = this.#exceeded(policy, count)
    if (exceeded) throw exceeded
  }

  #exceeded(policy: LimitedPolicy, count: number): Refusal | undefined {
    this.#isCounted = true
    if (this.apiKey !== undefined) return undefined
    const { knownSite: site, requestId } = this
    const counted = { site, client: this.#clientAddress, requestId }
    const allowance = this.#clients.count(policy, count, counted)
    this.allowance = allowance
    return allowance?.isTaken === false ? refuse.tooMany(allowance, count) : undefined
  }

  get #clientAddress(): ClientAddress {
    this.#client ??= clientAddress(this.#sender)
    return this.#client
  }

  /** The visitor's own address; undefined when only a proxy's address is known. */
  get remoteAddress(): string | undefined {
    return visitorAddress(this.#sender)
  }

  /** The part of a shared resource that this client may use. */
  get share(): Share {
    return clientShare(this.#sender)
  }

  get #sender(): ClientAddressInput {
    return {
      remoteAddress: this.connection.remoteAddress,
      forwardedFor: this.request.headers.get('x-forwarded-for'),
      trustedProxies: this.#clients.trustedProxies,
    }
  }

  /** The hosts that the request was sent to, limited to our own. */
  get hosts(): readonly string[] {
    const hosts = requestHosts(this.request.headers, this.#isProxyTrusted)
    return listedHosts(hosts, this.#clients.allowedHosts)
  }

  /** The origin under which the visitor sees us. */
  get ownOrigin(): string {
    const { hosts } = this
    const known = hosts.length > 0 ? hosts : (this.#clients.allowedHosts ?? hosts)
    return ownOrigin(this.request, known, this.#isProxyTrusted)
  }

  get #isProxyTrusted(): boolean {
    return this.#clients.trustedProxies > 0
  }
}
