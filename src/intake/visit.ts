import type { Logger } from '../ops/log.ts'
import type { Clock } from '../platform/clock.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import type { Connection } from '../platform/http-server.ts'
import { clientAddress } from './client-address.ts'
import { listedHosts, ownOrigin, requestHosts } from './origin.ts'
import type { FormEntries } from './pages/typed-form.ts'
import { RateLimit, type Standing } from './rate-limit.ts'
import { refuse } from './respond.ts'
import { visitorAddress } from './visitor-address.ts'

export interface ReceptionOptions {
  /** The hosts that count as our own, as browsers write them; undefined: any. */
  readonly allowedHosts: readonly string[] | undefined
  /** How many proxies in front are trusted to tell the client's address. */
  readonly trustedProxies: number
  /** Per client address; 0 is no limit. */
  readonly signupsPerMinute: number
  readonly clock: Clock
  readonly log: Logger
}

/** Tells visitors apart, and counts what they ask for. */
export class Reception {
  readonly trustedProxies: number
  readonly allowedHosts: readonly string[] | undefined
  readonly #signupsPerMinute: number
  readonly #log: Logger
  readonly #rateLimit: RateLimit
  #wasWarned = false

  constructor({ trustedProxies, allowedHosts, signupsPerMinute, clock, log }: ReceptionOptions) {
    this.allowedHosts = allowedHosts
    this.trustedProxies = trustedProxies
    this.#signupsPerMinute = signupsPerMinute
    this.#log = log
    this.#rateLimit = new RateLimit({ perMinute: signupsPerMinute, clock })
  }

  /** Counts signups against the limit of the client's address; undefined where there is none. */
  count(signups: number, visit: Visit): Standing | undefined {
    if (this.#signupsPerMinute === 0) return undefined
    const { requestId, request, connection } = visit
    const { trustedProxies } = this
    const forwardedFor = request.headers.get('x-forwarded-for')
    const { remoteAddress } = connection
    const { address, warning } = clientAddress({ remoteAddress, forwardedFor, trustedProxies })
    if (warning !== undefined && !this.#wasWarned) {
      this.#wasWarned = true
      this.#log.warn({ requestId }, warning)
    }
    return address === undefined ? undefined : this.#rateLimit.take(address, signups)
  }
}

/** What handlers know of a request besides its content. Found out when somebody asks, as few do. */
export class Visit {
  readonly requestId: string
  /** The fields of a posted form, once they were read: a refusal shows them again. */
  typed?: FormEntries
  /** Whoever has a key of ours is not counted. */
  hasApiKey = false
  /** Once signups were counted, where there is a limit. */
  standing: Standing | undefined
  readonly request: HttpRequest
  readonly connection: Connection
  readonly #reception: Reception

  constructor(
    requestId: string,
    request: HttpRequest,
    connection: Connection,
    reception: Reception,
  ) {
    this.requestId = requestId
    this.request = request
    this.connection = connection
    this.#reception = reception
  }

  /**
   * Counts signups against the limit of the client's address.
   * @throws RequestRefused 429 when they are too many; then none of them counts.
   */
  take(count: number): void {
    if (this.hasApiKey) return
    const standing = this.#reception.count(count, this)
    this.standing = standing
    if (standing?.isTaken === false) throw refuse.tooMany(standing, count)
  }

  /** The visitor's own; undefined when only a proxy's is known. */
  get remoteAddress(): string | undefined {
    const forwardedFor = this.request.headers.get('x-forwarded-for')
    const { remoteAddress } = this.connection
    const { trustedProxies } = this.#reception
    return visitorAddress({ remoteAddress, forwardedFor, trustedProxies })
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
