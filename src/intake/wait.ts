import type { Journal, SignupStatus } from '../journal/journal.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import { preferredWait } from './prefer.ts'

export interface WaitingOptions {
  readonly journal: Pick<Journal, 'onSettle'>
  readonly health: Health
  readonly clock: Clock
}

interface Visitor {
  readonly signups: readonly SignupStatus[]
  readonly tabs: readonly string[]
  /** On the elapsed clock. */
  readonly until: Millis
  readonly release: () => void
}

/** How often those who wait are looked at. They leave up to this much early, and never late. */
const tickMs = 100

/**
 * Visitors who wait until their signups are written. They share one timer, which runs while somebody
 * waits, and are woken by the journal when a batch is settled.
 */
export class Waiting {
  readonly #health: Health
  readonly #clock: Clock
  readonly #visitors = new Set<Visitor>()
  /** How far each tab is written, as far as it was told: by the tab's name as it was first used. */
  readonly #cursors = new Map<string, number>()
  readonly #unsubscribe: () => void
  readonly #stopped = new AbortController()
  #isTicking = false

  constructor({ journal, health, clock }: WaitingOptions) {
    this.#health = health
    this.#clock = clock
    this.#unsubscribe = journal.onSettle((cursors) => {
      for (const { tab, upto } of cursors) this.#cursors.set(tab, upto)
      for (const visitor of this.#visitors) {
        if (this.#areWritten(visitor.signups)) visitor.release()
      }
    })
  }

  isWritten({ writtenAt, sheetTab, position }: SignupStatus): boolean {
    return writtenAt !== undefined || position <= (this.#cursors.get(sheetTab) ?? 0)
  }

  /**
   * Resolves when all are written, and no later than `until` on the elapsed clock; at once when
   * delivery is blocked, when the visitor has left, and on `stop`.
   */
  async untilWritten(
    signups: readonly SignupStatus[],
    { until, left }: Pick<Patience, 'until' | 'left'>,
  ): Promise<void> {
    const tabs = [...new Set(signups.map(({ sheetTab }) => sheetTab))]
    if (this.#stopped.signal.aborted || left.aborted) return
    if (this.#areWritten(signups) || this.#isHopeless(tabs, until)) return
    await new Promise<void>((resolve) => {
      const visitor: Visitor = {
        signups,
        tabs,
        until,
        release: () => {
          this.#visitors.delete(visitor)
          left.removeEventListener('abort', visitor.release)
          resolve()
        },
      }
      this.#visitors.add(visitor)
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
      reason ??= blockedBy(this.#health, signup.sheetTab)
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
    while (this.#visitors.size > 0) {
      await this.#clock.sleep(tickMs, this.#stopped.signal)
      for (const visitor of this.#visitors) {
        if (this.#isHopeless(visitor.tabs, visitor.until)) visitor.release()
      }
    }
    this.#isTicking = false
  }

  #areWritten(signups: readonly SignupStatus[]): boolean {
    return signups.every((signup) => this.isWritten(signup))
  }

  /** The time is over before the next look, or a tab cannot be written. */
  #isHopeless(tabs: readonly string[], until: Millis): boolean {
    if (until < this.#clock.elapsed() + tickMs) return true
    return tabs.some((tab) => blockedBy(this.#health, tab) !== undefined)
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
  /** What keeps those that are not written from the spreadsheet until the operator mends it. */
  readonly blockedBy: string | undefined
}

function blockedBy(health: Health, tab: string): string | undefined {
  if (health.delivery.state === 'blocked') return health.delivery.error
  return health.tabs.size === 0 ? undefined : health.tabs.get(tabKey(tab))
}
