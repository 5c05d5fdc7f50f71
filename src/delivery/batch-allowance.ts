import type { Quota } from '../journal/contracts/call-ledger.ts'
import { type Clock, day } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/**
 * How often a batch may be sent that is not full. The first batches of a busy time go at once, about one
 * a second. Later ones are fewer and larger, so that a whole day of them takes four fifths of the day's
 * calls and leaves the rest for reads, confirmations and pruning.
 *
 * Full batches take no token: 286 of them fill a spreadsheet, so they cannot use up a day's calls.
 *
 * @param sites how many sites have the quota; the capacity is that of each, the refill that of all together
 */
export function batchBucket(quota: Quota, sites: number) {
  return {
    /** How many tokens a bucket holds. It gains one every `refillMs`. */
    capacity: Math.max(1, Math.min(15, Math.floor(quota.perDay / 10 / sites))),
    refillMs: Math.max(12_000, day / (quota.perDay * 0.8)),
  }
}

type TokenBucket = ReturnType<typeof batchBucket>

/** When a site may send a batch that is not full. */
export interface BatchAllowance {
  /** Milliseconds until the site may take a token, if nobody else takes it before; 0 when it may now. */
  wait(): Millis
  take(): void
}

interface Member {
  count: number
  readonly isHere: () => boolean
}

/**
 * The tokens of an account, divided among its sites. A token allows a batch that is not full. Each site has
 * a bucket of its own, which gains its share of the account's tokens. What a full bucket cannot hold goes to
 * any site that needs it, so a busy site beside quiet ones gets nearly all, and a quiet one always finds its
 * own.
 */
export class AccountAllowance {
  readonly #bucket: TokenBucket
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #sites: number
  readonly #members: Member[] = []
  /** A whole token at most that a full bucket could not hold. */
  #spare = 0
  #at: Millis

  /**
   * @param bucket of the whole account, but its capacity is that of each site
   * @param sites how many sites have the account, on this instance and others
   */
  constructor(bucket: TokenBucket, sites: number, clock: Pick<Clock, 'elapsed'>) {
    this.#bucket = bucket
    this.#sites = sites
    this.#clock = clock
    this.#at = clock.elapsed()
  }

  /** @param isHere whether this instance delivers for the site; otherwise another one gives its tokens away */
  join(isHere: () => boolean): BatchAllowance {
    const member: Member = { count: this.#bucket.capacity, isHere }
    this.#members.push(member)
    return {
      wait: () => this.#wait(member),
      take: () => {
        this.#refill()
        if (member.count < 1 && this.#spare >= 1) this.#spare -= 1
        else member.count -= 1
      },
    }
  }

  #wait(member: Member): Millis {
    this.#refill()
    if (member.count >= 1 || this.#spare >= 1) return 0
    const ownMs = (1 - member.count) * this.#siteRefillMs
    const full = this.#members.filter((other) => this.#gives(other)).length
    const spareMs = full === 0 ? Infinity : ((1 - this.#spare) * this.#siteRefillMs) / full
    return Math.ceil(Math.min(ownMs, spareMs))
  }

  #refill(): void {
    const now = this.#clock.elapsed()
    const gained = Math.max(0, now - this.#at) / this.#siteRefillMs
    this.#at = Math.max(this.#at, now)
    for (const member of this.#members) {
      const count = member.count + gained
      member.count = Math.min(count, this.#bucket.capacity)
      if (this.#sites > 1 && this.#gives(member)) {
        this.#spare = Math.min(1, this.#spare + count - member.count)
      }
    }
  }

  #gives(member: Member): boolean {
    return member.count === this.#bucket.capacity && member.isHere()
  }

  get #siteRefillMs(): Millis {
    return this.#bucket.refillMs * this.#sites
  }
}
