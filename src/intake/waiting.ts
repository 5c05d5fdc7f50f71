import { Budget, type BudgetLimits } from '../http/budget.ts'
import type { IntakeLog, SignupStatus, TabCursor } from '../journal/contracts/intake-log.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { limits } from '../signup/limits.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import { blockedWords } from '../signup/trouble.ts'
import type { SignupState } from '../signup/wire.ts'

export interface WaitingOptions {
  readonly journal: Pick<IntakeLog, 'onSettle' | 'cursors'>
  readonly health: Health
  readonly clock: Clock
  /** How many signups visitors may wait for at the same time. */
  readonly waitingMax?: BudgetLimits
}

/** A waiting request takes 10 KB. One address has room for a whole bulk request. */
const defaultWaitingMax: BudgetLimits = { max: 10_000, clientMax: limits.bulkItemsMax }

interface Waiter {
  readonly signups: readonly SignupStatus[]
  /** When the wait ends, on the elapsed clock. */
  readonly until: Millis
  readonly release: () => void
}

/** How often waiting visitors are checked. They are answered up to this much early, never late. */
const tickMs = 100
/** How many ticks pass between reads of the journal, where another process may have noted written rows. */
const ticksToLook = 5

/**
 * Lets visitors wait until their signups are written. The journal tells when a batch is settled. One
 * timer, which runs while somebody waits, ends the waits that take too long. The number of waiting
 * visitors is bounded; when it is reached, a visitor is answered at once.
 */
export class Waiting {
  readonly #options: WaitingOptions
  readonly #places: Budget
  readonly #visitors = new Set<Waiter>()
  /** The last known written position of each tab, by the tab's name as it was first used. */
  readonly #cursors = new Map<string, number>()
  readonly #unsubscribe: () => void
  readonly #stopped = new AbortController()
  #isTicking = false
  #isLooking = false

  constructor(options: WaitingOptions) {
    this.#options = options
    this.#places = new Budget(options.waitingMax ?? defaultWaitingMax)
    this.#unsubscribe = options.journal.onSettle((cursors) => this.#settle(cursors))
  }

  isWritten(signup: SignupStatus): boolean {
    if (signup.beside) return false
    return signup.writtenAt !== undefined || this.#isSettled(signup.sheetTab, signup.position)
  }

  /** The state that its visitor is told. */
  stateOf(signup: SignupStatus): SignupState {
    return signup.beside ?? (this.isWritten(signup) ? 'written' : 'accepted')
  }

  /**
   * Resolves when all signups are written, or at `until` on the elapsed clock. Resolves at once when
   * delivery is blocked, when too many visitors wait, when the visitor has left, on `stop`, and when a
   * signup is beside the list.
   *
   * @param address the client's address; undefined when the client is not counted by its address
   */
  async untilWritten(
    signups: readonly SignupStatus[],
    { until, left }: Pick<Patience, 'until' | 'left'>,
    address: string | undefined,
  ): Promise<void> {
    if (this.#stopped.signal.aborted || left.aborted || this.#isOver({ signups, until })) return
    if (signups.some(({ beside }) => beside)) return
    const count = signups.length
    if (!this.#places.take(address, count)) return
    await new Promise<void>((resolve) => {
      const visitor: Waiter = {
        signups,
        until,
        release: () => {
          this.#visitors.delete(visitor)
          this.#places.free(address, count)
          left.removeEventListener('abort', visitor.release)
          resolve()
        },
      }
      this.#visitors.add(visitor)
      left.addEventListener('abort', visitor.release)
      void this.#tick()
    })
  }

  /** The state of these signups after the wait, if there was one. */
  progressOf(signups: readonly SignupStatus[], patience: Patience | undefined) {
    let areWritten = true
    let reason: string | undefined
    for (const signup of signups) {
      if (this.isWritten(signup)) continue
      areWritten = false
      if (signup.beside) continue
      reason ??= blockedBy(this.#options.health, signup.sheetTab)
    }
    // The granted wait, when the client asked for it and all signups are written.
    const waitSeconds = areWritten ? patience?.seconds : undefined
    // In public words.
    return { areWritten, waitSeconds, blockedBy: reason }
  }

  /** Ends all waits. Later calls of `untilWritten` resolve at once. */
  stop(): void {
    this.#unsubscribe()
    this.#stopped.abort()
    for (const visitor of this.#visitors) visitor.release()
  }

  async #tick(): Promise<void> {
    if (this.#isTicking) return
    this.#isTicking = true
    for (let ticks = 1; this.#visitors.size > 0; ticks++) {
      await this.#options.clock.sleep(tickMs, this.#stopped.signal)
      if (ticks % ticksToLook === 0) void this.#look()
      this.#releaseVisitors()
    }
    this.#isTicking = false
  }

  /**
   * Reads the cursors from the journal, because other processes do not tell us what they have written. A
   * slow look delays no wait that ends, and the next look waits for it.
   */
  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const tabs = new Set(
      this.#visitors.values().flatMap(({ signups }) => signups.map(({ sheetTab }) => sheetTab)),
    )
    // Ignore a failing journal here: intake and delivery report it.
    this.#settle(await this.#options.journal.cursors([...tabs]).catch(() => []))
    this.#isLooking = false
  }

  /** Looks at all visitors, because a batch mostly has the rows of all who wait. */
  #settle(cursors: readonly TabCursor[]): void {
    // A look may have begun before a batch was settled, and end after that.
    const news = cursors.filter(({ tab, upto }) => !this.#isSettled(tab, upto))
    if (news.length === 0) return
    for (const { tab, upto } of news) this.#cursors.set(tab, upto)
    this.#releaseVisitors()
  }

  #isSettled(tab: string, position: number): boolean {
    return position <= (this.#cursors.get(tab) ?? 0)
  }

  #releaseVisitors(): void {
    for (const visitor of this.#visitors) if (this.#isOver(visitor)) visitor.release()
  }

  /** Whether to stop waiting: all is written, the time ends before the next tick, or a tab cannot be written. */
  #isOver({ signups, until }: Omit<Waiter, 'release'>): boolean {
    if (until < this.#options.clock.elapsed() + tickMs) return true
    const { health } = this.#options
    const isBlocked = (it: SignupStatus) => blockedBy(health, it.sheetTab) !== undefined
    return (
      signups.every((it) => this.isWritten(it)) ||
      signups.some((it) => !this.isWritten(it) && isBlocked(it))
    )
  }
}

/** How long a visitor wants to wait for the row. */
export interface Patience {
  readonly seconds: number
  /** When the wait ends, on the elapsed clock. */
  readonly until: Millis
  /** Aborts when the visitor has left. */
  readonly left: AbortSignal
}

const waitSecondsMax = 30

/**
 * The wait that the `wait` preference asks for (RFC 7240), counted from now; undefined when it asks for none.
 * The first `wait` counts; it is ignored unless it is a whole number of seconds.
 */
export function patienceOf(
  { headers, signal }: Pick<HttpRequest, 'headers' | 'signal'>,
  clock: Pick<Clock, 'elapsed'>,
): Patience | undefined {
  const prefer = headers.get('prefer')
  if (prefer === null) return undefined
  const wait = prefer.split(',').find((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference))
  const [, digits] = /^\s*wait\s*=\s*"?(\d+)"?\s*(?:;|$)/i.exec(wait ?? '') ?? []
  const seconds = Math.min(waitSecondsMax, Number(digits ?? 0))
  return seconds > 0
    ? { seconds, until: clock.elapsed() + seconds * 1000, left: signal }
    : undefined
}

export type Progress = ReturnType<Waiting['progressOf']>

function blockedBy(health: Health, tab: string): string | undefined {
  const { delivery, tabs } = health
  return blockedWords(delivery, tabs.size === 0 ? undefined : tabs.get(tabKey(tab)))
}
