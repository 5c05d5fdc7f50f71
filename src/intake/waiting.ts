import type { IntakeLog, SignupStatus, TabCursor } from '../journal/intake-log.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { limits } from '../signup/limits.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import { refusalWords } from '../signup/trouble.ts'
import { Places, type PlacesOptions } from '../http/places.ts'
import { preferredWait } from './prefer.ts'
import { WaitLine } from './wait-line.ts'

export interface WaitingOptions {
  readonly journal: Pick<IntakeLog, 'onSettle' | 'cursors'>
  readonly health: Health
  readonly clock: Clock
  /** How many signups may be waited for at a time. */
  readonly waitingMax?: PlacesOptions
}

/** A request that waits takes 10 KB. An address has room for a whole bulk request. */
const defaultWaitingMax: PlacesOptions = { max: 10_000, addressMax: limits.bulkItemsMax }

interface Visitor {
  /** The position up to which each tab is still to be written. */
  readonly awaited: Map<string, number>
  /** On the elapsed clock. */
  readonly until: Millis
  readonly release: () => void
}

/** How often those who wait are looked at. They leave up to this much early, and never late. */
const tickMs = 100
/** So many ticks apart they look how far their tabs are written: another process may have written them. */
const ticksToLook = 5

/**
 * Visitors who wait until their signups are written. They share one timer, which runs while somebody
 * waits, and are woken by the journal when a batch is settled. Their number is bounded: those who
 * find no place do not wait.
 */
export class Waiting {
  readonly #journal: WaitingOptions['journal']
  readonly #health: Health
  readonly #clock: Clock
  readonly #places: Places
  readonly #visitors = new Set<Visitor>()
  /** The same visitors by the tabs that they wait for. */
  readonly #lines = new Map<string, WaitLine<Visitor>>()
  /** How far each tab is written, as far as it was told: by the tab's name as it was first used. */
  readonly #cursors = new Map<string, number>()
  readonly #unsubscribe: () => void
  readonly #stopped = new AbortController()
  #isTicking = false

  constructor({ journal, health, clock, waitingMax = defaultWaitingMax }: WaitingOptions) {
    this.#health = health
    this.#clock = clock
    this.#places = new Places(waitingMax)
    this.#journal = journal
    this.#unsubscribe = journal.onSettle((cursors) => this.#settle(cursors))
  }

  isWritten(signup: SignupStatus): boolean {
    return (
      signup.writtenAt !== undefined || signup.position <= (this.#cursors.get(tabOf(signup)) ?? 0)
    )
  }

  /**
   * Resolves when all are written, and no later than `until` on the elapsed clock; at once when
   * delivery is blocked, when too many wait, when the visitor has left, and on `stop`.
   *
   * @param address of the client; undefined when it is not told apart from others
   */
  async untilWritten(
    signups: readonly SignupStatus[],
    { until, left }: Pick<Patience, 'until' | 'left'>,
    address: string | undefined,
  ): Promise<void> {
    if (this.#stopped.signal.aborted || left.aborted) return
    const awaited = this.#awaitedOf(signups)
    if (awaited.size === 0 || this.#isHopeless(awaited, until)) return
    const count = signups.length
    if (!this.#places.take(address, count)) return
    await new Promise<void>((resolve) => {
      const visitor: Visitor = {
        awaited,
        until,
        release: () => {
          this.#leave(visitor)
          this.#places.free(address, count)
          left.removeEventListener('abort', visitor.release)
          resolve()
        },
      }
      this.#join(visitor)
      left.addEventListener('abort', visitor.release)
      void this.#tick()
    })
  }

  /** How far these signups have come, of visitors who have waited as long as they would. */
  progressOf(signups: readonly SignupStatus[], patience: Patience | undefined): Progress {
    let areWritten = true
    let reason: string | undefined
    for (const signup of signups) {
      if (this.isWritten(signup)) continue
      areWritten = false
      reason ??= blockedBy(this.#health, tabOf(signup))
    }
    const waitSeconds = areWritten ? patience?.seconds : undefined
    return { areWritten, waitSeconds, blockedBy: reason }
  }

  /** Lets everybody go, and nobody wait any more. */
  stop(): void {
    this.#unsubscribe()
    this.#stopped.abort()
    for (const visitor of this.#visitors) visitor.release()
  }

  async #tick(): Promise<void> {
    if (this.#isTicking) return
    this.#isTicking = true
    for (let ticks = 1; this.#visitors.size > 0; ticks++) {
      await this.#clock.sleep(tickMs, this.#stopped.signal)
      if (ticks % ticksToLook === 0) await this.#look()
      for (const visitor of this.#visitors) {
        if (this.#isHopeless(visitor.awaited, visitor.until)) visitor.release()
      }
    }
    this.#isTicking = false
  }

  /** What another process has written is not told to this one. */
  async #look(): Promise<void> {
    const tabs = new Set<string>()
    for (const { awaited } of this.#visitors) for (const tab of awaited.keys()) tabs.add(tab)
    // A journal that fails is told by those who cannot work without it.
    this.#settle(await this.#journal.cursors([...tabs]).catch(() => []))
  }

  #settle(cursors: readonly TabCursor[]): void {
    for (const { tab, upto } of cursors) {
      this.#cursors.set(tab, upto)
      for (const visitor of this.#lines.get(tab)?.takeUpTo(upto) ?? []) {
        visitor.awaited.delete(tab)
        if (visitor.awaited.size === 0) visitor.release()
      }
    }
  }

  #awaitedOf(signups: readonly SignupStatus[]): Visitor['awaited'] {
    const awaited = new Map<string, number>()
    for (const signup of signups) {
      if (this.isWritten(signup)) continue
      const tab = tabOf(signup)
      awaited.set(tab, Math.max(signup.position, awaited.get(tab) ?? 0))
    }
    return awaited
  }

  #join(visitor: Visitor): void {
    this.#visitors.add(visitor)
    for (const [tab, position] of visitor.awaited) {
      const line = this.#lines.get(tab) ?? new WaitLine()
      this.#lines.set(tab, line)
      line.join(visitor, position)
    }
  }

  #leave(visitor: Visitor): void {
    this.#visitors.delete(visitor)
    for (const [tab, position] of visitor.awaited) {
      this.#lines.get(tab)?.leave(visitor, position)
    }
  }

  /** The time is over before the next look, or a tab cannot be written. */
  #isHopeless(awaited: Visitor['awaited'], until: Millis): boolean {
    if (until < this.#clock.elapsed() + tickMs) return true
    for (const tab of awaited.keys()) if (blockedBy(this.#health, tab) !== undefined) return true
    return false
  }
}

/** How long a visitor would wait for the row. */
export interface Patience {
  readonly seconds: number
  /** On the elapsed clock. */
  readonly until: Millis
  /** Aborts when the visitor has left. */
  readonly left: AbortSignal
}

/** What the `Prefer` header asks for, counted from now; undefined when the visitor would not wait. */
export function patienceOf(request: HttpRequest, clock: Clock): Patience | undefined {
  const seconds = preferredWait(request.headers)
  if (seconds === undefined) return undefined
  return { seconds, until: clock.elapsed() + seconds * 1000, left: request.signal }
}

/** How far signups have come when they are answered. */
export interface Progress {
  readonly areWritten: boolean
  /** The wait that was granted: present when all are written and it was asked for. */
  readonly waitSeconds: number | undefined
  /** In public words, what keeps the others from the spreadsheet until the operator mends it. */
  readonly blockedBy: string | undefined
}

/** The tab in whose cursor the journal tells that the signup is written. */
function tabOf({ sheetTab, isTabOpen }: SignupStatus): string {
  return isTabOpen ? '' : sheetTab
}

function blockedBy(health: Health, tab: string): string | undefined {
  const { delivery, tabs } = health
  if (delivery.state === 'blocked') return refusalWords[delivery.reason]
  const aside = tabs.size === 0 ? undefined : tabs.get(tabKey(tab))
  return aside && refusalWords[aside.reason]
}
