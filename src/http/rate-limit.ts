import type { Clock } from '../platform/clock.ts'

const windowMs = 60_000
/** Signups of one slot are forgotten together: an address needs at most 61 of them. */
const slotMs = 1_000

/** Enough for any honest minute, and at most some tens of megabytes. */
const addressesMax = 50_000

export interface RateLimitOptions {
  /** What is counted. */
  readonly policy: LimitedPolicy
  readonly perMinute: number
  readonly clock: Pick<Clock, 'elapsed'>
  /** How many addresses are remembered at a time. */
  readonly addressesMax?: number
}

/** Signups, or those that are answered again under their `Idempotency-Key`. */
export type LimitedPolicy = 'signups' | 'replays'

/** Where an address stands, after it asked. */
export interface Standing {
  readonly policy: LimitedPolicy
  /** Whether the signups fit, and were counted. */
  readonly isTaken: boolean
  readonly limit: number
  /** How many more would fit now. */
  readonly remaining: number
  /**
   * Until all that was asked for would fit; when it was taken: until the next one is forgotten. At
   * most a minute.
   */
  readonly waitMs: number
}

interface Slot {
  readonly number: number
  /** When its last signup came: all of it is forgotten a window later. */
  lastAt: number
  count: number
}

/**
 * Counts signups per client address, so that no 60 seconds hold more than `perMinute` of one.
 *
 * Memory is bounded. When it is full of addresses that are all active, a new one is let through
 * uncounted: whoever has so many addresses cannot be held by counting them, and nobody else is
 * refused, or forgotten, because of them.
 */
export class RateLimit {
  readonly #policy: LimitedPolicy
  readonly #perMinute: number
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #addressesMax: number
  /** In the order of their last signup. */
  readonly #slots = new Map<string, Slot[]>()

  constructor(options: RateLimitOptions) {
    this.#policy = options.policy
    this.#perMinute = options.perMinute
    this.#clock = options.clock
    this.#addressesMax = options.addressesMax ?? addressesMax
  }

  /** Whether not even one more would fit now. */
  isSpent(address: string): boolean {
    const now = this.#clock.elapsed()
    let used = 0
    for (const { lastAt, count } of this.#slots.get(address) ?? []) {
      if (lastAt + windowMs > now) used += count
    }
    return used >= this.#perMinute
  }

  /** Counts all of `count` or none. */
  take(address: string, count: number): Standing {
    const now = this.#clock.elapsed()
    this.#forget(now)
    const slots = (this.#slots.get(address) ?? []).filter(({ lastAt }) => lastAt + windowMs > now)
    const used = slots.reduce((sum, slot) => sum + slot.count, 0)
    const policy = this.#policy
    const limit = this.#perMinute
    if (used + count > limit) {
      const remaining = limit - used
      const waitMs = waitFor(slots, count - remaining, now)
      return { policy, isTaken: false, limit, remaining, waitMs }
    }
    if (this.#slots.has(address) || this.#slots.size < this.#addressesMax) {
      addTo(slots, count, now)
      // Deleted first, so that it moves to the end of the order.
      this.#slots.delete(address)
      this.#slots.set(address, slots)
    }
    const remaining = limit - used - count
    return { policy, isTaken: true, limit, remaining, waitMs: waitFor(slots, 1, now) }
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#slots.size
  }

  #forget(now: number): void {
    for (const [address, slots] of this.#slots) {
      const last = slots.at(-1)
      if (last && last.lastAt + windowMs > now) return
      this.#slots.delete(address)
    }
  }
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

/** How long until so many of them are forgotten; a whole window when there are not so many. */
function waitFor(slots: readonly Slot[], count: number, now: number): number {
  let forgotten = 0
  for (const slot of slots) {
    forgotten += slot.count
    if (forgotten >= count) return slot.lastAt + windowMs - now
  }
  return windowMs
}
