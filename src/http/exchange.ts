import type { Clock } from '../platform/clock.ts'
import type { Connection, HttpRequest } from '../platform/http-exchange.ts'
import type { Share } from '../platform/share.ts'
import { type ClientAddress, clientAddress, type ClientAddressInput } from './client-address.ts'
import { listedHosts, ownOrigin, requestHosts } from './origin.ts'
import { type LimitedPolicy, RateLimit, type Standing } from './rate-limit.ts'
import { refuse } from './refuse.ts'
import { clientShare } from './share.ts'
import { visitorAddress } from './visitor-address.ts'

export interface ReceptionOptions {
  /** The hosts that count as our own, as browsers write them; undefined: any. */
  readonly allowedHosts: readonly string[] | undefined
  /** How many proxies in front are trusted to tell the client's address. */
  readonly trustedProxies: number
  /** Per client address; 0 is no limit. */
  readonly signupsPerMinute: number
  readonly clock: Pick<Clock, 'elapsed'>
  /** Called once, with what makes the count of clients wrong. */
  readonly warn: (warning: string, requestId: string) => void
}

/** An answer is made again for less than a signup costs, and a retry should learn what became of it. */
const replaysPerSignup = 10

/** Tells visitors apart, and counts what they ask for. */
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

  /** Whether the address may send no more signups now. */
  isSpent(address: string): boolean {
    return this.#limits?.signups.isSpent(address) ?? false
  }

  /** Counts signups against a limit of the client's address; undefined where there is none. */
  count(
    policy: LimitedPolicy,
    signups: number,
    { address, warning }: ClientAddress,
    requestId: string,
  ): Standing | undefined {
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

/** A request as an adapter has it, and where the router found its path. */
export interface Arrival {
  readonly requestId: string
  readonly request: HttpRequest
  readonly connection: Connection
  /** The parts of the path that have a name, decoded once. */
  readonly params: Readonly<Record<string, string>>
}

/**
 * One request on its way to its answer: what every handler gets. What is known of the client is found
 * out when somebody asks, as few do.
 */
export class Exchange implements Arrival {
  readonly requestId: string
  readonly request: HttpRequest
  readonly connection: Connection
  readonly params: Readonly<Record<string, string>>
  /** The fields of a posted form, from when they were read until it was taken: a refusal shows them again. */
  typed: FormEntries | undefined
  /** The digest of the API key that came with it. Whoever has one is not counted. */
  apiKey: string | undefined
  /** Once signups were counted, where there is a limit. */
  standing: Standing | undefined
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

  /** By which limits tell the client from others; undefined: it is not counted by any. */
  get countedAs(): string | undefined {
    return this.apiKey === undefined ? this.#clientAddress.address : undefined
  }

  /** Whether the client has no signup left, so that its body need not be read. */
  get isSpent(): boolean {
    const { countedAs } = this
    return countedAs !== undefined && this.#reception.isSpent(countedAs)
  }

  /**
   * Counts signups against the limit of the client's address.
   * @throws Refusal 429 when they are too many; then none of them counts.
   */
  take(count: number): void {
    this.#count('signups', count)
  }

  /**
   * Counts signups that are answered again, all of this request's; those that were counted before
   * are not counted twice.
   * @throws Refusal 429 when they are too many; then none of them counts.
   */
  takeReplays(count: number): void {
    const more = count - this.#replays
    if (more <= 0) return
    this.#count('replays', more)
    this.#replays = count
  }

  #count(policy: LimitedPolicy, count: number): void {
    if (this.apiKey !== undefined) return
    const standing = this.#reception.count(policy, count, this.#clientAddress, this.requestId)
    this.standing = standing
    if (standing?.isTaken === false) throw refuse.tooMany(standing, count)
  }

  get #clientAddress(): ClientAddress {
    this.#client ??= clientAddress(this.#sender)
    return this.#client
  }

  /** The visitor's own; undefined when only a proxy's is known. */
  get remoteAddress(): string | undefined {
    return visitorAddress(this.#sender)
  }

  /** What its client may hold of what is there for all. */
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

  /** The hosts that the request was sent to, of those that count as our own. */
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
