import type { AsideOutcome, WebhookLog } from '../../journal/contracts/webhook-log.ts'
import { type Clock, second } from '../../platform/clock.ts'
import type { Fare } from './fare.ts'

export interface ProgressOptions {
  readonly webhooks: Pick<WebhookLog, 'endpoint' | 'after' | 'advance' | 'due' | 'settle' | 'note'>
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Whether this instance holds the lease. */
  readonly delivers: () => boolean
}

/** A group of messages ends with so many, or after this time. A kill sends it twice. */
const groupMax = 50
export const groupMs = 200
/** How often the cursor passes signups that make no message. */
const passMs = 10 * second
/** How often to look whether somebody has moved the cursor, or enabled the endpoint. */
const refreshMs = 5 * second

/**
 * How far an endpoint is in the list. All messages up to the cursor were sent or set aside, and those up to the
 * head were read. The cursor, and how the endpoint fares, are written once for a group of messages.
 */
export class Progress {
  readonly #key: string
  readonly #fare: Fare
  readonly #options: ProgressOptions
  /** Up to here messages were read. */
  head = 0
  /** As the journal has it; undefined before it was read. */
  #cursor: number | undefined
  /** The messages between cursor and head, in order, with what became of each. */
  #ahead = new Map<number, AsideOutcome | undefined>()
  #ended = 0
  #savedAt = 0
  #refreshAt = 0
  #noted: Fare['current']

  /** @param key of the endpoint */
  constructor(key: string, fare: Fare, options: ProgressOptions) {
    this.#key = key
    this.#fare = fare
    this.#noted = fare.current
    this.#options = options
  }

  get isKnown(): boolean {
    return this.#cursor !== undefined
  }

  /** How many messages are between cursor and head. */
  get ahead(): number {
    return this.#ahead.size
  }

  /** Whether something is to be written. */
  get hasNews(): boolean {
    return this.#ended > 0 || this.#fare.current !== this.#noted
  }

  isFlying(position: number): boolean {
    return this.#ahead.has(position) && !this.#ahead.get(position)
  }

  /** Returns what to call when the try has ended. Without an outcome, the message stays the next one. */
  begin(position: number): (outcome: AsideOutcome | undefined) => void {
    const ahead = this.#ahead
    ahead.set(position, undefined)
    return (outcome) => {
      this.#ended += 1
      if (outcome) return void ahead.set(position, outcome)
      ahead.delete(position)
      this.head = position - 1
    }
  }

  /** Writes a group that is complete. Returns what the journal says when it reads that, between messages. */
  async update(isSending: boolean) {
    const now = this.#options.clock.elapsed()
    const sinceMs = now - this.#savedAt
    const isGroup = this.#ended >= groupMax || (this.hasNews && sinceMs >= groupMs)
    if (isGroup || sinceMs >= passMs) await this.save()
    if (this.isKnown && (isSending || this.hasNews || now < this.#refreshAt)) return undefined
    const record = await this.#options.webhooks.endpoint(this.#key)
    this.#refreshAt = now + refreshMs
    if (record?.cursor !== this.#cursor) {
      this.#ahead = new Map()
      this.head = record?.cursor ?? 0
    }
    this.#cursor = record?.cursor
    if (record) this.#fare.follow(record)
    this.#noted = this.#fare.current
    return record
  }

  async save(): Promise<void> {
    const { webhooks: log, clock, delivers } = this.#options
    this.#savedAt = clock.elapsed()
    const ended = this.#ended
    await this.#advance()
    const { current } = this.#fare
    if (current !== this.#noted && delivers()) await log.note(this.#key, current)
    this.#noted = current
    this.#ended -= ended
  }

  async #advance(): Promise<void> {
    const from = this.#cursor
    const all = [...this.#ahead]
    const flying = all.find(([, outcome]) => !outcome)
    const to = flying ? flying[0] - 1 : this.head
    if (from === undefined || to <= from) return
    const done = all.filter(([position]) => position <= to)
    const aside = done.flatMap(([, it]) => (!it || it.isSent ? [] : it))
    const isMoved = await this.#options.webhooks.advance(this.#key, { from, to, aside })
    if (isMoved) for (const [position] of done) this.#ahead.delete(position)
    else this.#ahead = new Map()
    this.#cursor = isMoved ? to : undefined
  }
}
