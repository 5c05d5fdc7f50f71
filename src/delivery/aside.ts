import { type DeliveryLog, retryFact } from '../journal/contracts/delivery-log.ts'
import type { Clock } from '../platform/clock.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import { type Blocked, blockedAgain } from './attempts.ts'

/** When more tabs are set aside, each waits longer, so that their tries leave calls for other tabs. */
const longWaitsFrom = 4

/** When to try a tab again that was set aside. */
interface TabRetry extends Blocked {
  readonly retryAt: Millis
}

interface AsideTabsOptions {
  readonly journal: Pick<DeliveryLog, 'fact'>
  readonly clock: Pick<Clock, 'elapsed'>
}

/** The tabs that cannot be written for now, and when each is tried again. */
export class AsideTabs {
  readonly #options: AsideTabsOptions
  readonly #retries = new Map<string, TabRetry>()
  /** The last fact of `retryFact` that was heeded. */
  #retryAsked: string | undefined

  constructor(options: AsideTabsOptions) {
    this.#options = options
  }

  has(tab: string): boolean {
    return this.#retries.has(tabKey(tab))
  }

  /** Sets a tab aside that could not be written, for the longer the more often that was so. */
  async add(tab: string): Promise<void> {
    const { journal, clock } = this.#options
    const key = tabKey(tab)
    if (this.#retries.size === 0) this.#retryAsked = await journal.fact(retryFact)
    const { waitMs, ...again } = blockedAgain(this.#retries.get(key), clock.elapsed())
    const share = Math.max(1, this.#retries.size / longWaitsFrom)
    this.#retries.set(key, { ...again, retryAt: clock.elapsed() + waitMs * share })
  }

  /** A tab is there again. Returns whether it was set aside. */
  remove(tab: string): boolean {
    return this.#retries.delete(tabKey(tab))
  }

  /** Makes the tries of all tabs due when an operator asks for it. Returns whether that is so. */
  async heedRetry(): Promise<boolean> {
    if (this.#retries.size === 0) return false
    const asked = await this.#options.journal.fact(retryFact)
    if (asked === this.#retryAsked) return false
    this.#retryAsked = asked
    const retryAt = this.#options.clock.elapsed()
    for (const [key, retry] of this.#retries) this.#retries.set(key, { ...retry, retryAt })
    return true
  }

  /** When the first try is due. */
  get dueAt(): Millis {
    return Math.min(Infinity, ...this.#retries.values().map(({ retryAt }) => retryAt))
  }

  /** The key of a tab whose next try is due, if there is one. */
  get due(): string | undefined {
    const now = this.#options.clock.elapsed()
    return this.#retries.entries().find(([, { retryAt }]) => retryAt <= now)?.[0]
  }
}
