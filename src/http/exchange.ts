import type { Clock } from '../platform/clock.ts'
import type { Connection, HttpRequest } from '../platform/http-exchange.ts'
import type { Share } from '../platform/share.ts'
import { type ClientAddress, clientAddress, type ClientAddressInput } from './client-address.ts'
import { listedHosts, ownOrigin, requestHosts } from './origin.ts'
import { type LimitedPolicy, RateLimit, type Allowance } from './rate-limit.ts'
import { refuse } from './refuse.ts'
import { clientShare } from './share.ts'
import { visitorAddress } from './visitor-address.ts'

export interface ReceptionOptions {
  /** The hosts that count as our own, as browsers write them; undefined allows any. */
  readonly allowedHosts: readonly string[] | undefined
  /** How many proxies in front of us are trusted to tell the client's address. */
  readonly trustedProxies: number
  /** The limit for each client address; 0 means no limit. */
  readonly signupsPerMinute: number
  readonly clock: Pick<Clock, 'elapsed'>
  /** Called at most once, with the reason why clients are counted wrongly. */
  readonly warn: (warning: string, requestId: string) => void
}

/** Replays allowed for each signup: a replay costs less, and a retry should learn what became of it. */
const replaysPerSignup = 10

/** Identifies clients and counts their signups. */
export class Reception {
  readonly trustedProxies: number
  readonly allowedHosts: readonly string[] | undefined
  readonly #warn: ReceptionOptions['warn']
  readonly #limits: Readonly<Record<LimitedPolicy, RateLimit>> | undefined
  #wasWarned = false

  constructor({ trustedProxies, allowedHosts, signupsPerMinute, clock, warn }: ReceptionOptions) {
    this.allowedHosts = allowedHosts
    this.trustedProxies = trustedProxies
    this.#warn = warn
    if (signupsPerMinute === 0) return
    const limit = (policy: LimitedPolicy, perMinute: number) =>
      new RateLimit({ policy, perMinute, clock })
    this.#limits = {
      signups: limit('signups', signupsPerMinute),
      replays: limit('replays', signupsPerMinute * replaysPerSignup),
    }
  }

  /** Whether the address has used up its limit. */
  isSpent(address: string): boolean {
    return this.#limits?.signups.isSpent(address) ?? false
  }

  /** Counts signups against the limit of the client's address; undefined when there is no limit. */
  count(
    policy: LimitedPolicy,
    signups: number,
    { address, warning }: ClientAddress,
    requestId: string,
  ): Allowance | undefined {
    if (!this.#limits) return undefined
    if (warning !== undefined && !this.#wasWarned) {
      this.#wasWarned = true
      this.#warn(warning, requestId)
    }
    return address === undefined ? undefined : this.#limits[policy].take(address, signups)
  }
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
  typed: FormEntries | undefined
  /** The digest of the request's valid API key. Requests with a key are not counted. */
  apiKey: string | undefined
  /** The client's rate limit after the last count; undefined when nothing was counted. */
  allowance: Allowance | undefined
  readonly #reception: Reception
  #client: ClientAddress | undefined
  #replays = 0

  constructor({ requestId, request, connection, params }: Arrival, reception: Reception) {
    this.requestId = requestId
    this.request = request
    this.connection = connection
    this.params = params
    this.#reception = reception
  }

  /** The key by which limits count this client; undefined when no limit counts it. */
  get countedAs(): string | undefined {
    return this.apiKey === undefined ? this.#clientAddress.address : undefined
  }

  /** Whether the client has used up its signups. Then there is no need to read the body. */
  get isSpent(): boolean {
    const { countedAs } = this
    return countedAs !== undefined && this.#reception.isSpent(countedAs)
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
    if (this.apiKey !== undefined) return
    const allowance = this.#reception.count(policy, count, this.#clientAddress, this.requestId)
    this.allowance = allowance
    if (allowance?.isTaken === false) throw refuse.tooMany(allowance, count)
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
      trustedProxies: this.#reception.trustedProxies,
    }
  }

  /** The hosts that the request was sent to, limited to our own. */
  get hosts(): readonly string[] {
    const hosts = requestHosts(this.request.headers, this.#isProxyTrusted)
    return listedHosts(hosts, this.#reception.allowedHosts)
  }

  /** The origin under which the visitor sees us. */
  get ownOrigin(): string {
    const { hosts } = this
    const known = hosts.length > 0 ? hosts : (this.#reception.allowedHosts ?? hosts)
    return ownOrigin(this.request, known, this.#isProxyTrusted)
  }

  get #isProxyTrusted(): boolean {
    return this.#reception.trustedProxies > 0
  }
}
