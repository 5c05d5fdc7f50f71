import type {
  WebhookLog,
  WebhookMessage,
  WebhookOutcome,
} from '../../journal/contracts/webhook-log.ts'
import type { Events } from '../../ops/events.ts'
import { type Clock, hour, type Random, second, untilLook } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { steadyTime, webhookPauseMs } from '../ladder.ts'
import { SendLoop } from '../send-loop.ts'
import { Fare } from './fare.ts'
import type { Received } from './send.ts'
import type { Teller, Told } from './teller.ts'

export interface EndpointSenderOptions {
  readonly teller: Teller
  readonly webhooks: Pick<WebhookLog, 'endpoint' | 'next' | 'settle'>
  /** Tells of signups that this process has added. Returns what removes the listener. */
  readonly onAppend: (listener: () => void) => () => void
  /** Whether this instance holds the lease. */
  readonly delivers: () => boolean
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
 *
 * Where one message tells of many, a window is one message. What it tells of the list is fixed in the journal before it
 * is first sent, so that each try tells the same, and nobody of the list is in two messages or in none. Rows of their
 * own may be named again after an answer that was lost.
 */
export class EndpointSender implements AsyncDisposable {
  readonly #options: EndpointSenderOptions
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
  /** Up to where the message of many goes that is to be sent, and what the journal has of that. */
  #fixedTo: number | undefined
  #notedTo: number | undefined
  /** When the next message of many may go. The first waits, as another instance may just have sent one. */
  #freeAt: Millis
  #takenAt: Millis | undefined
  #noted: Fare['current']
  #lookAt = 0
  #mayHaveMore = true

  /** Sends until it is disposed. */
  constructor(options: EndpointSenderOptions) {
    const { clock, delivers, events, onAppend, random, teller } = options
    this.#options = options
    this.#freeAt = clock.elapsed() + (teller.together?.gapMs ?? 0)
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
    const { webhooks, clock, events, teller } = this.#options
    const { key, host, together } = teller
    if (this.#isDue) await this.#save()
    if (clock.elapsed() >= this.#lookAt) await this.#look()
    events.webhookFares(key, host, this.#fare.current)
    if (this.#cursor === undefined || this.#waitMs > 0 || !this.#mayHaveMore) return
    this.#mayHaveMore = false
    const range = together && { most: together.most, fixedTo: this.#fixedTo }
    const { messages, upto } = await webhooks.next(key, this.#head, this.#now(), range)
    if (this.#loop.isStopping) return
    const window = together ? this.#gather(messages) : messages.map((it): Told => [it])
    if (together && window.length > 0 && !(await this.#fix(upto))) return
    const ends = await Promise.all(window.map((told) => this.#send(told)))
    this.#mayHaveMore ||= messages.length > 0 || upto > this.#head
    if (this.#conclude(window, ends)) {
      this.#head = upto
      // One that tells of nobody any more has ended, too.
      this.#ended += this.#fixedTo === undefined ? messages.length : 1
      this.#fixedTo = undefined
    }
    // A long way without messages leaves room for other work.
    if (messages.length === 0 && this.#mayHaveMore) await clock.sleep(1)
    if (this.#mayHaveMore || this.#isDue) this.#loop.wake()
  }

  #pauseMs(): Millis {
    const { clock, lookMs = usualLookMs } = this.#options
    const left = this.#lookAt - clock.elapsed()
    return Math.min(left > 0 ? left : lookMs, this.#waitMs || Infinity)
  }

  /** For how long nothing is sent. */
  get #waitMs(): Millis {
    return Math.max(this.#fare.pauseMs, this.#freeAt - this.#options.clock.elapsed(), 0)
  }

  /** Whether there is something to write now. */
  get #isDue(): boolean {
    if (this.#outcomes.length > 0 || this.#fare.current !== this.#noted) return true
    const most = this.#options.teller.together ? 1 : groupMax
    const isGroup = this.#ended >= most || (this.#ended > 0 && !this.#mayHaveMore)
    return isGroup || this.#head - (this.#cursor ?? this.#head) >= passMax
  }

  async #save(fixedTo = this.#fixedTo): Promise<void> {
    const { webhooks, teller } = this.#options
    const [from, fare] = [this.#cursor, this.#fare.current]
    if (from === undefined) return
    const isKept = await webhooks.settle(teller.key, {
      ...{ from, to: this.#head, outcomes: this.#outcomes, takenAt: this.#takenAt },
      ...{ fixedFrom: this.#notedTo, fixedTo },
      fare: fare === this.#noted ? undefined : fare,
    })
    // Else somebody has moved the cursor or fixed a message, and it is sent from there.
    this.#cursor = isKept ? this.#head : undefined
    this.#fixedTo = this.#notedTo = isKept ? fixedTo : undefined
    this.#noted = fare
    this.#outcomes = []
    this.#ended = 0
    if (!isKept) this.#lookAt = 0
  }

  /** Reads where the endpoint stands, as others may have changed that. */
  async #look(): Promise<void> {
    const { webhooks, clock, lookMs = usualLookMs, teller } = this.#options
    this.#lookAt = clock.elapsed() + second
    const record = await webhooks.endpoint(teller.key)
    if (record?.cursor !== this.#cursor) this.#head = record?.cursor ?? 0
    this.#cursor = record?.cursor
    this.#fixedTo = this.#notedTo = record?.fixedTo
    // It is not followed yet.
    if (!record) return
    this.#lookAt = clock.elapsed() + untilLook(clock, lookMs)
    this.#fare.follow(record)
    this.#noted = this.#fare.current
    this.#mayHaveMore ||= record.last > this.#head || (record.dueAt ?? Infinity) <= this.#now()
  }

  /** One message about those who were accepted. Nothing tells of the others, so what has a row of theirs has ended. */
  #gather(messages: readonly WebhookMessage[]): readonly Told[] {
    const ended = messages.filter((it) => it.type === 'signup.erased' && it.tries !== undefined)
    this.#outcomes.push(...ended.map((it) => ({ ...it, kind: 'sent' }) as const))
    const [first, ...others] = messages.filter((it) => it.type === 'signup.accepted')
    return first ? [[first, ...others]] : []
  }

  /** Notes what a message tells of the list. Resolves with false when somebody has moved the cursor, or fixed another. */
  async #fix(to: number): Promise<boolean> {
    if (this.#fixedTo !== undefined || to === this.#head) return true
    await this.#save(to)
    const isKept = this.#cursor !== undefined
    if (!isKept) this.#loop.wake()
    return isKept
  }

  /** Never rejects. */
  async #send(told: Told): Promise<Received> {
    const { teller, events, clock } = this.#options
    this.#freeAt = clock.elapsed() + (teller.together?.gapMs ?? 0)
    try {
      return await teller.tell(told, this.#loop.stopping.signal)
    } catch (error) {
      events.webhooksCrashed(error)
      return { kind: 'later', reason: 'Rollcall cannot send this message' }
    }
  }

  /** What became of a window, by the ends of its messages. Returns whether the list goes on behind it. */
  #conclude(window: readonly Told[], ends: readonly Received[]): boolean {
    const isTaken = ends.some(({ kind }) => kind === 'sent')
    const isAnswered = isTaken || ends.some(({ kind }) => kind === 'refused')
    if (isTaken) {
      this.#takenAt = this.#now()
      this.#fare.works()
    }
    for (const [at, told] of window.entries()) {
      const end = ends[at]
      // One that has failed before needs no other one to show that it is to blame.
      if (end) this.#note(told, end, isAnswered || isKnown(told))
    }
    const failure = ends.find((end) => end.kind !== 'sent')
    const isResting = !isTaken && !window.every(isKnown) && !this.#isStopping
    if (failure && isResting) this.#fare.rest(failure.reason)
    return isAnswered || window.every(([{ tries }]) => tries !== undefined)
  }

  /** @param isToBlame whether a failure is the message's own */
  #note(told: Told, end: Received, isToBlame: boolean): void {
    const { events, random, teller } = this.#options
    const withRow = told.filter(({ tries }) => tries !== undefined)
    if (end.kind === 'sent') {
      events.webhookSent()
      this.#outcomes.push(...withRow.map((it) => ({ ...it, kind: 'sent' }) as const))
      return
    }
    const { kind, reason, retryAfterMs = 0 } = end
    if (kind === 'gone') this.#fare.disable(reason)
    if (end.isOverloaded === true) this.#fare.pause(Math.min(retryAfterMs, hour))
    if (!isToBlame) return
    const isUntried = kind === 'gone' || (kind === 'later' && this.#isStopping)
    if (isUntried && withRow.length > 0) return
    const at = this.#now()
    const tries = isUntried ? 0 : (told[0].tries ?? 0) + 1
    const pauseMs = kind === 'refused' ? undefined : webhookPauseMs(tries, random)
    const nextAt = isUntried ? 0 : pauseMs && at + Math.max(pauseMs, retryAfterMs)
    const failed = { kind: 'failed', tries, at, nextAt, reason } as const
    this.#outcomes.push(...told.map(({ position, type }) => ({ position, type, ...failed })))
    if (isUntried) return
    if (nextAt === undefined) events.webhookFailed(teller.host, tries, reason)
    else events.webhookDelayed(teller.host, tries, reason, nextAt)
  }

  get #isStopping(): boolean {
    return this.#loop.stopping.signal.aborted
  }
}

function isKnown([{ tries = 0 }]: Told): boolean {
  return tries > 0
}
