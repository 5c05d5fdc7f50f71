import { JournalUnavailable } from '../src/journal/contracts/errors.ts'
import type {
  AsideFailure,
  AsideMessage,
  EndpointFare,
  WebhookLog,
  WebhookMessage,
  WebhookType,
} from '../src/journal/contracts/webhook-log.ts'
import type { Signup, SignupId } from '../src/signup/signup.ts'

interface AsideRow {
  readonly position: number
  readonly type: WebhookType
  readonly tries: number
  readonly nextAt: number | undefined
  readonly reason: string
}

type Part = Pick<
  WebhookLog,
  'follow' | 'endpoint' | 'after' | 'advance' | 'due' | 'settle' | 'note'
>

/** What the journal keeps for one endpoint, in memory. Calls take no time, and fail while `isDown`. */
export class MemoryWebhookLog implements Part {
  readonly signups: Signup[] = []
  readonly aside: AsideRow[] = []
  /** How often each call changed something. */
  readonly writes = { advance: 0, settle: 0, note: 0 }
  cursor = 0
  isFollowed = true
  isDown = false
  fare: EndpointFare = {
    ...{ failingSince: undefined, haltedAt: undefined, disabledAt: undefined, reason: '' },
  }

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

  endpoint() {
    return this.#answer(() => {
      const aside = this.aside.filter((it) => it.nextAt !== undefined && it.tries > 0).length
      return this.isFollowed ? { ...this.fare, cursor: this.cursor, aside } : undefined
    })
  }

  after(_endpoint: string, position: number, max: number) {
    return this.#answer(() => {
      const messages = this.signups
        .slice(position, position + max)
        .map((_, at) => this.#message(position + at + 1, 'signup.accepted'))
      return { messages, upto: position + messages.length }
    })
  }

  advance(_endpoint: string, move: Parameters<WebhookLog['advance']>[1]) {
    return this.#answer(() => {
      if (move.from !== this.cursor) return false
      this.writes.advance += 1
      this.cursor = move.to
      for (const failure of move.aside) this.#setAside(failure)
      return true
    })
  }

  due(_endpoint: string, now: number) {
    return this.#answer(() =>
      this.aside
        .filter(({ nextAt }) => nextAt !== undefined && nextAt <= now)
        .toSorted((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0))
        .slice(0, 20)
        .map(({ position, type, tries }): AsideMessage => {
          return { ...this.#message(position, type), tries }
        }),
    )
  }

  settle(_endpoint: string, outcomes: Parameters<WebhookLog['settle']>[1]) {
    return this.#answer(() => {
      this.writes.settle += 1
      for (const outcome of outcomes) {
        const found = this.aside.findIndex(({ position }) => position === outcome.position)
        if (found >= 0) this.aside.splice(found, 1)
        if (outcome.isSent !== true) this.#setAside(outcome)
      }
    })
  }

  note(_endpoint: string, fare: EndpointFare) {
    return this.#answer(() => {
      this.writes.note += 1
      this.fare = fare
    })
  }

  #setAside({ position, type, tries, nextAt, reason }: AsideFailure): void {
    this.aside.push({ position, type, tries, nextAt, reason })
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
