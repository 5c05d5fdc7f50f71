import { JournalUnavailable } from '../src/journal/contracts/errors.ts'
import {
  type EndpointFare,
  type Together,
  type WebhookLog,
  type WebhookMessage,
  type WebhookType,
  workingFare,
} from '../src/journal/contracts/webhook-log.ts'
import type { Signup, SignupId } from '../src/signup/signup.ts'

interface OwnRow {
  readonly position: number
  readonly type: WebhookType
  readonly tries: number
  readonly nextAt: number | undefined
  readonly reason: string
}

type Part = Pick<WebhookLog, 'follow' | 'endpoint' | 'next' | 'settle'>

/** What the journal keeps for one endpoint, in memory. Calls take no time, and fail while `isDown`. */
export class MemoryWebhookLog implements Part {
  readonly signups: Signup[] = []
  readonly own: OwnRow[] = []
  /** The positions of the list that were erased. */
  readonly erased = new Set<number>()
  /** How often each was called. */
  readonly calls = { endpoint: 0, next: 0, settle: 0 }
  cursor = 0
  takenAt: number | undefined
  isFollowed = true
  isDown = false
  fare: EndpointFare = workingFare
  fixedTo: number | undefined
  #enabled = 0

  /** Adds so many signups. The email of each names its position. */
  add(count: number): void {
    for (let left = count; left > 0; left--) {
      const position = this.signups.length + 1
      this.signups.push({
        ...{ id: `id-${position}` as SignupId, receivedAt: 0, email: `${position}@example.com` },
        ...{ sheetTab: 'Sheet1', source: 'api', name: '', tags: [], metadata: '', fields: {} },
      })
    }
  }

  follow(): Promise<void> {
    return this.#answer(() => void (this.isFollowed = true))
  }

  /** As `WebhookLog.enable`, but for the messages that wait. */
  enable(): void {
    this.fare = workingFare
    this.#enabled += 1
  }

  endpoint() {
    this.calls.endpoint += 1
    return this.#answer(() => {
      const dueAt = this.#waiting.map(({ nextAt }) => nextAt ?? 0).toSorted((a, b) => a - b)[0]
      const waiting = this.#waiting.filter(({ nextAt }) => nextAt !== 0).length
      const { cursor, takenAt, fixedTo } = this
      const last = this.signups.length
      const record = {
        ...this.fare,
        cursor,
        last,
        dueAt,
        waiting,
        takenAt,
        fixedTo,
        enabled: this.#enabled,
      }
      return this.isFollowed ? record : undefined
    })
  }

  next(_endpoint: string, after: number, now: number, together?: Together) {
    this.calls.next += 1
    const { most = 10, fixedTo } = together ?? {}
    return this.#answer(() => {
      const own = this.#waiting
        .filter(({ nextAt = Infinity }) => nextAt <= now && fixedTo === undefined)
        .toSorted((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0))
        .slice(0, most / 2)
      const untried = own.filter(({ nextAt }) => nextAt === 0).length
      const waiting = this.#waiting.filter(({ nextAt }) => nextAt !== 0).length
      const max = together && own.length > 0 ? 0 : Math.max(1, most - waiting - untried)
      const list = this.signups
        .slice(after, Math.min(after + max, fixedTo ?? Infinity))
        .map((_, at) => after + at + 1)
      const messages = [
        ...own.map(({ position, type, tries }) => ({ ...this.#message(position, type), tries })),
        ...list
          .filter((position) => !this.erased.has(position))
          .map((position) => this.#message(position, 'signup.accepted')),
      ]
      return { messages, upto: after + list.length }
    })
  }

  settle(_endpoint: string, settled: Parameters<WebhookLog['settle']>[1]) {
    return this.#answer(() => {
      const { from, to, outcomes, takenAt, fare = this.fare, fixedFrom, fixedTo } = settled
      if (from !== this.cursor || fixedFrom !== this.fixedTo) return false
      this.calls.settle += 1
      this.cursor = to
      this.takenAt = takenAt ?? this.takenAt
      this.fare = fare
      this.fixedTo = fixedTo
      for (const outcome of outcomes) {
        const { position, type } = outcome
        const found = this.own.findIndex((it) => it.position === position)
        if (found >= 0 && this.own[found]?.type === type) this.own.splice(found, 1)
        if (outcome.kind === 'failed') this.own.push(outcome)
      }
      return true
    })
  }

  get #waiting(): readonly OwnRow[] {
    return this.own.filter(({ nextAt }) => nextAt !== undefined)
  }

  #message(position: number, type: WebhookType): WebhookMessage {
    const signup = this.signups[position - 1]
    if (!signup) throw new Error(`There is no signup ${position}.`)
    return { position, type, signup }
  }

  async #answer<T>(work: () => T): Promise<T> {
    await Promise.resolve()
    if (this.isDown) throw new JournalUnavailable('down')
    return work()
  }
}
