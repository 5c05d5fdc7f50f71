import type {
  WebhookLog,
  WebhookMessage,
  WebhookOutcome,
} from '../../journal/contracts/webhook-log.ts'
import type { Events } from '../../ops/events.ts'
import { type Clock, hour, type Random, second, untilLook } from '../../platform/clock.ts'
import type { HttpClient } from '../../platform/http-client.ts'
import type { Millis } from '../../signup/signup.ts'
import { steadyTime, webhookPauseMs } from '../ladder.ts'
import { SendLoop } from '../send-loop.ts'
import { endpointKeyOf, webhookBody, webhookIdOf } from './endpoint.ts'
import { Fare } from './fare.ts'
import { type Received, type Receiver, sendMessage } from './send.ts'

export interface EndpointSenderOptions {
  readonly endpoint: Receiver
  /** The name of the site. */
  readonly site: string
  readonly webhooks: Pick<WebhookLog, 'endpoint' | 'next' | 'settle'>
  /** Tells of signups that this process has added. Returns what removes the listener. */
  readonly onAppend: (listener: () => void) => () => void
  /** Whether this instance holds the lease. */
  readonly delivers: () => boolean
  readonly http: HttpClient
  readonly events: Pick<
    Events,
    'webhookSent' | 'webhookDelayed' | 'webhookFailed' | 'webhookFares' | 'webhooksCrashed'
  >
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly random: Random
  /** How often to look for what other processes have added or changed. All endpoints look together. */
  readonly lookMs?: number | undefined
}

const usualLookMs = 5 * second
/** The cursor is written when nothing more waits, or after so many messages. A kill sends them twice. */
const groupMax = 50
/** It is written after so many positions, too, even if they make no message. */
const passMax = 500

/**
 * Sends the messages of a site to one endpoint, while this instance holds the lease: a window of ten at a time, in
 * the order of positions. Each is read right before it is sent, so that none has cells that are erased. A kill
 * sends some twice, with the same ids, and loses none.
 *
 * When the endpoint takes one of a window, those that fail do so for a reason of their own, and wait for their next
 * tries while others go on. When it takes none, no message is to blame: the endpoint rests, and begins again
 * where it stood.
 */
export class EndpointSender implements AsyncDisposable {
  readonly #options: EndpointSenderOptions
  readonly #key: string
  readonly #host: string
  readonly #now: () => Millis
  readonly #fare: Fare
  readonly #loop: SendLoop
  readonly #unsubscribe: () => void
  /** As the journal has it; undefined before it was read. */
  #cursor: number | undefined
  /** Up to here all messages of the list were sent, or are among the outcomes. */
  #head = 0
  /** What is to be noted before more is read. */
  #outcomes: WebhookOutcome[] = []
  /** How many messages of the list have ended since the cursor was written. */
  #ended = 0
  #takenAt: Millis | undefined
  #noted: Fare['current']
  #lookAt = 0
  #mayHaveMore = true

  /** Sends until it is disposed. */
  constructor(options: EndpointSenderOptions) {
    const { clock, delivers, events, onAppend, random, endpoint } = options
    this.#options = options
    this.#key = endpointKeyOf(endpoint.url)
    this.#host = new URL(endpoint.url).host
    this.#now = steadyTime(clock, options.time)
    this.#fare = new Fare(clock, this.#now, random)
    this.#noted = this.#fare.current
    this.#loop = new SendLoop({
      ...{ clock, crashed: events.webhooksCrashed },
      step: async () => (delivers() ? this.#step() : undefined),
      pauseMs: () => this.#pauseMs(),
    })
    this.#unsubscribe = onAppend(() => {
      this.#mayHaveMore = true
      this.#loop.wake()
    })
  }

  /** @see SendLoop.stop */
  async stop(graceMs?: number): Promise<void> {
    this.#unsubscribe()
    await this.#loop.stop(graceMs)
    if (this.#options.delivers()) await this.#loop.attempt(this.#save())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #step(): Promise<void> {
    const { webhooks, clock, events } = this.#options
    if (this.#isDue) await this.#save()
    if (clock.elapsed() >= this.#lookAt) await this.#look()
    events.webhookFares(this.#key, this.#host, this.#fare.current)
    if (this.#cursor === undefined || this.#fare.pauseMs > 0 || !this.#mayHaveMore) return
    this.#mayHaveMore = false
    const { messages, upto } = await webhooks.next(this.#key, this.#head, this.#now())
    if (this.#loop.isStopping) return
    const ends = await Promise.all(messages.map((message) => this.#send(message)))
    this.#mayHaveMore ||= messages.length > 0 || upto > this.#head
    if (this.#conclude(messages, ends)) {
      this.#head = upto
      this.#ended += messages.length
    }
    // A long way without messages leaves room for other work.
    if (messages.length === 0 && this.#mayHaveMore) await clock.sleep(1)
    if (this.#mayHaveMore || this.#isDue) this.#loop.wake()
  }

  #pauseMs(): Millis {
    const { clock, lookMs = usualLookMs } = this.#options
    const left = this.#lookAt - clock.elapsed()
    return Math.min(left > 0 ? left : lookMs, this.#fare.pauseMs || Infinity)
  }

  /** Whether there is something to write now. */
  get #isDue(): boolean {
    if (this.#outcomes.length > 0 || this.#fare.current !== this.#noted) return true
    const isGroup = this.#ended >= groupMax || (this.#ended > 0 && !this.#mayHaveMore)
    return isGroup || this.#head - (this.#cursor ?? this.#head) >= passMax
  }

  async #save(): Promise<void> {
    const [from, fare] = [this.#cursor, this.#fare.current]
    if (from === undefined) return
    const isKept = await this.#options.webhooks.settle(this.#key, {
      ...{ from, to: this.#head, outcomes: this.#outcomes, takenAt: this.#takenAt },
      fare: fare === this.#noted ? undefined : fare,
    })
    // Else somebody has moved the cursor, and what was sent from there is sent again.
    this.#cursor = isKept ? this.#head : undefined
    this.#noted = fare
    this.#outcomes = []
    this.#ended = 0
    if (!isKept) this.#lookAt = 0
  }

  /** Reads where the endpoint stands, as others may have changed that. */
  async #look(): Promise<void> {
    const { webhooks, clock, lookMs = usualLookMs } = this.#options
    this.#lookAt = clock.elapsed() + second
    const record = await webhooks.endpoint(this.#key)
    if (record?.cursor !== this.#cursor) this.#head = record?.cursor ?? 0
    this.#cursor = record?.cursor
    // It is not followed yet.
    if (!record) return
    this.#lookAt = clock.elapsed() + untilLook(clock, lookMs)
    this.#fare.follow(record)
    this.#noted = this.#fare.current
    this.#mayHaveMore ||= record.last > this.#head || (record.dueAt ?? Infinity) <= this.#now()
  }

  /** Never rejects. */
  async #send(message: WebhookMessage): Promise<Received> {
    const { endpoint, site, http, time, events } = this.#options
    try {
      const id = webhookIdOf(endpoint.url, message.signup.id, message.type)
      const body = webhookBody(message, site, time.now())
      const world = { http, clock: time }
      return await sendMessage(endpoint, { id, body }, world, this.#loop.stopping.signal)
    } catch (error) {
      events.webhooksCrashed(error)
      return { kind: 'later', reason: 'Rollcall cannot send this message' }
    }
  }

  /** What became of a window, by the ends of its messages. Returns whether the list goes on behind it. */
  #conclude(messages: readonly WebhookMessage[], ends: readonly Received[]): boolean {
    const isTaken = ends.some(({ kind }) => kind === 'sent')
    const isAnswered = isTaken || ends.some(({ kind }) => kind === 'refused')
    if (isTaken) {
      this.#takenAt = this.#now()
      this.#fare.works()
    }
    for (const [at, message] of messages.entries()) {
      const end = ends[at]
      // One that has failed before needs no other one to show that it is to blame.
      if (end) this.#note(message, end, isAnswered || isKnown(message))
    }
    const failure = ends.find((end) => end.kind !== 'sent')
    const isResting = !isTaken && !messages.every(isKnown) && !this.#isStopping
    if (failure && isResting) this.#fare.rest(failure.reason)
    return isAnswered || messages.every(({ tries }) => tries !== undefined)
  }

  /** @param isToBlame whether a failure is the message's own */
  #note(message: WebhookMessage, end: Received, isToBlame: boolean): void {
    const { events, random } = this.#options
    const { position, type, tries: before } = message
    const hasRow = before !== undefined
    if (end.kind === 'sent') {
      events.webhookSent()
      if (hasRow) this.#outcomes.push({ kind: 'sent', position, type })
      return
    }
    const { kind, reason, retryAfterMs = 0 } = end
    if (kind === 'gone') this.#fare.disable(reason)
    if (end.isOverloaded === true) this.#fare.pause(Math.min(retryAfterMs, hour))
    if (!isToBlame) return
    const isUntried = kind === 'gone' || (kind === 'later' && this.#isStopping)
    if (isUntried && hasRow) return
    const at = this.#now()
    const tries = isUntried ? 0 : (before ?? 0) + 1
    const pauseMs = kind === 'refused' ? undefined : webhookPauseMs(tries, random)
    const nextAt = isUntried ? 0 : pauseMs && at + Math.max(pauseMs, retryAfterMs)
    this.#outcomes.push({ kind: 'failed', position, type, tries, at, nextAt, reason })
    if (isUntried) return
    if (nextAt === undefined) events.webhookFailed(this.#host, tries, reason)
    else events.webhookDelayed(this.#host, tries, reason, nextAt)
  }

  get #isStopping(): boolean {
    return this.#loop.stopping.signal.aborted
  }
}

function isKnown({ tries = 0 }: WebhookMessage): boolean {
  return tries > 0
}
