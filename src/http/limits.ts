import type { Clock } from '../platform/clock.ts'
import type { Client } from './client.ts'
import { addressesMax, type Allowance, type LimitedPolicy, RateLimit } from './rate-limit.ts'
import type { EdgeSite, Sites } from './sites.ts'

export interface SiteLimitsOptions {
  readonly sites: Sites
  readonly clock: Pick<Clock, 'elapsed'>
  /** Called at most once, with the reason why clients are counted wrongly. */
  readonly warn: (warning: string, requestId: string) => void
}

/** Replays allowed for each signup: a replay costs less, and a retry should learn what became of it. */
const replaysPerSignup = 10

/** The rate limits of all sites. */
export class SiteLimits {
  readonly #warn: SiteLimitsOptions['warn']
  /** By the name of the site; `''` for requests whose site is unknown. A site without a limit has none. */
  readonly #limits: ReadonlyMap<string, Readonly<Record<LimitedPolicy, RateLimit>>>
  #wasWarned = false

  constructor({ sites, clock, warn }: SiteLimitsOptions) {
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

  /** Whether the client has used up its limit at the site. */
  isSpent({ knownSite, client: { rateLimitKey } }: Counted): boolean {
    const limits = this.#limits.get(knownSite?.name ?? '')
    return rateLimitKey !== undefined && limits?.signups.isSpent(rateLimitKey) === true
  }

  /** Counts signups against the limit of the client; undefined when no limit counts it. */
  count(
    policy: LimitedPolicy,
    signups: number,
    { knownSite, client, requestId }: Counted,
  ): Allowance | undefined {
    const limits = this.#limits.get(knownSite?.name ?? '')
    if (!limits || client.apiKey !== undefined) return undefined
    const { address, warning } = client.counted
    if (warning !== undefined && !this.#wasWarned) {
      this.#wasWarned = true
      this.#warn(warning, requestId)
    }
    return address === undefined ? undefined : limits[policy].take(address, signups)
  }
}

/** The request whose signups are counted. */
interface Counted {
  readonly knownSite: EdgeSite | undefined
  readonly client: Client
  readonly requestId: string
}

/** The limit of requests whose site is unknown: as many as the site with the highest limit takes. */
function strangersPerMinute({ all }: Sites): number {
  const limits = all.map(({ signupsPerMinute }) => signupsPerMinute)
  return limits.includes(0) ? 0 : Math.max(...limits)
}
