import type { Clock } from '../platform/clock.ts'
import type { Client } from './client.ts'
import type { EdgeSite, Sites } from './sites.ts'

const windowMs = 60_000
/** Signups of one slot expire together. An address needs at most 61 slots. */
const slotMs = 1_000

/** More addresses than send real signups in a minute. They take some tens of megabytes at most. */
const addressesMax = 50_000

interface RateLimitOptions {
  readonly policy: LimitedPolicy
  readonly perMinute: number
  readonly clock: Pick<Clock, 'elapsed'>
  readonly addressesMax?: number
}

/** What is limited, and how many of each are allowed for each signup. */
const perSignup = {
  signups: 1,
  /** Signups that are answered again under their `Idempotency-Key`: a retry should learn what became of it. */
  replays: 10,
  /** Of the proof of work: a page fetches one for a visitor who types and may never send. */
  puzzles: 10,
  /** By the link of a mail: a provider's servers post for all of its users who leave by one click. */
  decisions: 10,
} as const

/** `signIns` are tries to sign in to the admin page. */
export type LimitedPolicy = keyof typeof perSignup | 'signIns'

/** How much of its limit an address has left, after a call of `take`. */
export interface Allowance {
  readonly policy: LimitedPolicy
  /** Whether the signups fitted and were counted. */
  readonly isTaken: boolean
  readonly limit: number
  /** How many more would fit now. */
  readonly remaining: number
  /**
   * When refused: the time until the same signups would fit. When taken: the time until the oldest
   * signup expires. At most a minute.
   */
  readonly waitMs: number
}

interface Slot {
  readonly number: number
  /** The time of the slot's last signup. The whole slot expires one window later. */
  lastAt: number
  count: number
}

/**
 * Counts signups per client address: no 60 seconds hold more than `perMinute` of one address.
 *
 * Memory is bounded. When it is full of active addresses, a new address passes uncounted. Counting
 * does not stop an attacker with so many addresses, and nobody else is refused because of them.
 */
export class RateLimit {
  readonly #options: Required<RateLimitOptions>
  /** Slots by address, ordered by the address's last signup. */
  readonly #slots = new Map<string, Slot[]>()

  constructor(options: RateLimitOptions) {
    this.#options = { addressesMax, ...options }
  }

  isSpent(address: string): boolean {
    const { perMinute, clock } = this.#options
    return countOf(this.#recent(address, clock.elapsed())) >= perMinute
  }

  /** Counts all `count` signups, or none when they do not fit. */
  take(address: string, count: number): Allowance {
    const { policy, perMinute: limit, clock, addressesMax } = this.#options
    const now = clock.elapsed()
    this.#forget(now)
    const slots = this.#recent(address, now)
    const left = limit - countOf(slots)
    if (count > left) {
      const waitMs = waitFor(slots, count - left, now)
      return { policy, isTaken: false, limit, remaining: left, waitMs }
    }
    if (this.#slots.has(address) || this.#slots.size < addressesMax) {
      addTo(slots, count, now)
      // Delete first, so that the address moves to the end of the map.
      this.#slots.delete(address)
      this.#slots.set(address, slots)
    }
    return { policy, isTaken: true, limit, remaining: left - count, waitMs: waitFor(slots, 1, now) }
  }

  get size(): number {
    return this.#slots.size
  }

  #recent(address: string, now: number): Slot[] {
    const slots = this.#slots.get(address) ?? []
    while (slots[0] && slots[0].lastAt + windowMs <= now) slots.shift()
    return slots
  }

  #forget(now: number): void {
    for (const [address, slots] of this.#slots) {
      const last = slots.at(-1)
      if (last && last.lastAt + windowMs > now) return
      this.#slots.delete(address)
    }
  }
}

function countOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { count }) => sum + count, 0)
}

function addTo(slots: Slot[], count: number, now: number): void {
  const number = Math.floor(now / slotMs)
  const last = slots.at(-1)
  if (last?.number === number) {
    last.lastAt = now
    last.count += count
  } else {
    slots.push({ number, lastAt: now, count })
  }
}

/** The time until `count` signups have expired; a whole window when there are fewer. */
function waitFor(slots: readonly Slot[], count: number, now: number): number {
  let forgotten = 0
  for (const slot of slots) {
    forgotten += slot.count
    if (forgotten >= count) return slot.lastAt + windowMs - now
  }
  return windowMs
}

export interface SiteLimitsOptions {
  readonly sites: Sites
  readonly clock: Pick<Clock, 'elapsed'>
  /** Called at most once, with the reason why clients are counted wrongly. */
  readonly warn: (warning: string, requestId: string) => void
}

export class SiteLimits {
  readonly #warn: SiteLimitsOptions['warn']
  /** By the name of the site; `''` for requests whose site is unknown. A site without a limit has none. */
  readonly #limits: ReadonlyMap<string, ReadonlyMap<LimitedPolicy, RateLimit>>
  #wasWarned = false

  constructor({ sites, clock, warn }: SiteLimitsOptions) {
    this.#warn = warn
    const all = [...sites.all, { name: '', signupsPerMinute: strangersPerMinute(sites) }]
    // All sites together remember as many addresses as one alone.
    const share = { clock, addressesMax: Math.ceil(addressesMax / sites.all.length) }
    const policies = Object.entries(perSignup) as [keyof typeof perSignup, number][]
    const limitsOf = (signupsPerMinute: number) =>
      new Map<LimitedPolicy, RateLimit>(
        policies.map(([policy, times]) => {
          const perMinute = signupsPerMinute * times
          return [policy, new RateLimit({ policy, perMinute, ...share })]
        }),
      )
    const limited = all.filter(({ signupsPerMinute }) => signupsPerMinute > 0)
    this.#limits = new Map(limited.map((it) => [it.name, limitsOf(it.signupsPerMinute)]))
  }

  isSpent({ knownSite, client: { rateLimitKey } }: Counted): boolean {
    const limits = this.#limits.get(knownSite?.name ?? '')
    return rateLimitKey !== undefined && limits?.get('signups')?.isSpent(rateLimitKey) === true
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
    return address === undefined ? undefined : limits.get(policy)?.take(address, signups)
  }
}

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
