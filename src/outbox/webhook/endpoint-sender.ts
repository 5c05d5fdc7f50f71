import type { AsideOutcome, WebhookMessage } from '../../journal/contracts/webhook-log.ts'
import type { Events } from '../../ops/events.ts'
import { type Clock, type Random, second } from '../../platform/clock.ts'
import type { HttpClient } from '../../platform/http-client.ts'
import type { Millis } from '../../signup/signup.ts'
import { steadyTime, webhookPauseMs } from '../ladder.ts'
import { SendLoop } from '../send-loop.ts'
import { endpointKeyOf, webhookBody, webhookIdOf } from './endpoint.ts'
import { Fare } from './fare.ts'
import { groupMs, Progress, type ProgressOptions } from './progress.ts'
import { type Received, type Receiver, sendMessage } from './send.ts'

export interface EndpointSenderOptions extends ProgressOptions {
  readonly endpoint: Receiver
  /** The name of the site. */
  readonly site: string
  /** Tells of signups that this process has added. Returns what removes the listener. */
  readonly onAppend: (listener: () => void) => () => void
  readonly http: HttpClient
  readonly events: Pick<
    Events,
    'webhookSent' | 'webhookSetAside' | 'webhookFailed' | 'webhookFares' | 'webhooksCrashed'
  >
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly random: Random
  /** How often to look for messages; when it is left out, every second. */
  readonly lookMs?: number | undefined
}

/** One to send. One that is set aside has `tries`: how often it was tried before. */
type Next = WebhookMessage & { readonly tries?: number }

/** Of one that finds out whether the endpoint works again: whether its failure counts. */
type Probe = 'free' | 'counts' | undefined

/** The end of a try waits for others for so long, as messages that are read and sent together cost less. */
const gatherMs = 1
/** How far the first message whose try has not ended may be behind. */
const aheadMax = 1000
/** How many may be set aside before the endpoint counts as one that fails whole. */
const asideMax = 1000
/** While others go on, so many of those that are set aside are sent at the same time. */
const againMax = 5
/** How often the next message of the list may fail as a probe before it steps aside. */
const stuckMax = 2

/**
 * Sends the messages of a site to one endpoint, while this instance holds the lease, in the order of positions
 * and up to ten at a time. Each is read right before it is sent, so that none has cells that are erased. A kill
 * sends some twice, with the same ids, and loses none.
 *
 * A message that fails is set aside and waits for its own next try, while the others go on. When the endpoint
 * fails whole, one message at a time probes, and its failure does not count.
 */
export class EndpointSender implements AsyncDisposable {
  readonly #options: EndpointSenderOptions
  readonly #key: string
  readonly #host: string
  readonly #now: () => Millis
  readonly #fare: Fare
  readonly #progress: Progress
  readonly #loop: SendLoop
  readonly #unsubscribe: () => void
  /** The positions of those that were set aside before and are on their way. */
  readonly #again = new Set<number>()
  /** How many are set aside after a failure. */
  #aside = 0
  #probes = 0
  /** How often the next message of the list has failed as a probe. */
  #stuck = 0
  #dueAt = 0

  /** Sends until it is disposed. */
  constructor(options: EndpointSenderOptions) {
    this.#options = options
    this.#now = steadyTime(options.clock, options.time)
    this.#key = endpointKeyOf(options.endpoint.url)
    this.#host = new URL(options.endpoint.url).host
    this.#fare = new Fare(options.clock, this.#now, options.random)
    this.#progress = new Progress(this.#key, this.#fare, options)
    const { clock, delivers, events, onAppend, lookMs = second } = options
    this.#loop = new SendLoop({
      ...{ clock, gatherMs, crashed: events.webhooksCrashed },
      step: async () => (delivers() ? this.#step() : undefined),
      pauseMs: () => (this.#progress.hasNews ? groupMs : lookMs),
    })
    this.#unsubscribe = onAppend(() => this.#loop.wake())
  }

  /** @see SendLoop.stop */
  async stop(graceMs?: number): Promise<void> {
    this.#unsubscribe()
    await this.#loop.stop(graceMs)
    await this.#loop.attempt(this.#progress.save())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #step(): Promise<void> {
    const record = await this.#progress.update(this.#loop.sending.size > 0)
    if (record) {
      this.#aside = record.aside
      this.#tellFare()
    }
    if (this.#free <= 0) return
    if (this.#fare.isHalted) return this.#probe()
    await this.#sendAgain()
    if (this.#free <= 0 || this.#progress.ahead >= aheadMax) return
    await this.#sendNext(this.#free, this.#isFull ? 'free' : undefined)
  }

  /** Whether no other may be set aside. Then one message goes at a time, and the next one stays it when it fails. */
  get #isFull(): boolean {
    return this.#aside >= asideMax
  }

  /** How many messages may be sent now. */
  get #free(): number {
    if (!this.#progress.isKnown || this.#loop.isStopping) return 0
    return Math.min(this.#fare.atOnce, this.#isFull ? 1 : Infinity) - this.#loop.sending.size
  }

  /** Returns whether there was one to send. */
  async #sendNext(max: number, probe: Probe): Promise<boolean> {
    const { head } = this.#progress
    const { messages, upto } = await this.#options.webhooks.after(this.#key, head, max)
    // It may have been disabled meanwhile.
    if (this.#free < messages.length) return false
    this.#progress.head = upto
    // There may be more behind positions that make no message.
    if (messages.length < max && upto > head) this.#loop.wake()
    for (const message of messages) this.#launch(message, probe)
    return messages.length > 0
  }

  /** Sends some of those that are set aside and due. */
  async #sendAgain(): Promise<void> {
    const { clock } = this.#options
    const max = Math.min(againMax - this.#again.size, this.#free)
    if (max <= 0 || clock.elapsed() < this.#dueAt) return
    const due = await this.#due(this.#now())
    if (due.length <= max) this.#dueAt = clock.elapsed() + groupMs
    for (const message of due.slice(0, max)) if (this.#free > 0) this.#launch(message)
  }

  /** No news of an erasure passes its signup, which may be on its way or not noted. */
  async #due(until: Millis): Promise<readonly Next[]> {
    const due = await this.#options.webhooks.due(this.#key, until)
    const isFlying = (it: number) => this.#again.has(it) || this.#progress.isFlying(it)
    return due.filter(({ position }) => !isFlying(position))
  }

  /** Sends one message: in turn the next one, and one of those that are set aside, due or not. */
  async #probe(): Promise<void> {
    const turn = this.#probes++
    const others = await this.#due(Infinity)
    const isAlone = others.length === 0
    // One that fails again and again, or alone, steps aside: so messages that nobody takes do not stop all.
    const stepsAside = this.#stuck >= stuckMax && this.#aside + 1 < asideMax
    const probe = isAlone || stepsAside ? 'counts' : 'free'
    if ((turn % 2 === 0 || isAlone) && (await this.#sendNext(1, probe))) return
    const other = others[(turn >> 1) % others.length]
    if (other && this.#free > 0) this.#launch(other, 'free')
  }

  #launch(message: Next, probe?: Probe): void {
    const { position, tries } = message
    const end = tries === undefined ? this.#progress.begin(position) : undefined
    if (!end) this.#again.add(position)
    const sending = this.#send(message).then(async (sent) => {
      const outcome = this.#conclude(message, probe, sent)
      this.#tellFare()
      if (!end) return this.#endAgain(position, outcome)
      end(outcome)
      this.#stuck = outcome ? 0 : this.#stuck + 1
    })
    this.#loop.add(sending)
  }

  async #endAgain(position: number, outcome: AsideOutcome | undefined): Promise<void> {
    const { webhooks, delivers } = this.#options
    // Another holder of the lease may have tried it, too.
    const isNews = outcome && (outcome.isSent === true || delivers())
    if (isNews) await this.#loop.attempt(webhooks.settle(this.#key, [outcome]))
    this.#again.delete(position)
  }

  /** Never rejects. */
  async #send(message: WebhookMessage): Promise<Received> {
    const { endpoint, site, http, time, events } = this.#options
    try {
      const id = webhookIdOf(endpoint.url, message.signup.id, message.type)
      const body = webhookBody(message, site, time.now())
      const world = { http, clock: time }
      return await sendMessage(endpoint, { id, body }, world, this.#loop.leaving.signal)
    } catch (error) {
      events.webhooksCrashed(error)
      return { kind: 'later', reason: 'Rollcall cannot send this message' }
    }
  }

  /** Undefined when the message stays as it was. */
  #conclude(message: Next, probe: Probe, sent: Received): AsideOutcome | undefined {
    const { events, random } = this.#options
    const { position, type, tries: before = 0 } = message
    const wasAside = before > 0
    if (sent.kind === 'sent') {
      if (wasAside) this.#aside -= 1
      this.#fare.works()
      events.webhookSent()
      return { position, type, isSent: true }
    }
    const at = this.#now()
    const reason = sent.reason.slice(0, 200)
    if (this.#loop.leaving.signal.aborted) {
      return message.tries === undefined
        ? { position, type, tries: 0, at, nextAt: at, reason }
        : undefined
    }
    const isFree = probe === 'free'
    const isLast = !wasAside && this.#aside + (isFree ? 0 : 1) >= asideMax
    this.#fare.fails({ ...sent, reason }, { isProbe: probe !== undefined, isLast })
    if (isFree) return undefined
    const tries = before + 1
    const pauseMs = webhookPauseMs(tries, random)
    const nextAt = pauseMs && at + Math.max(pauseMs, sent.retryAfterMs ?? 0)
    this.#aside += (nextAt === undefined ? 0 : 1) - (wasAside ? 1 : 0)
    if (nextAt === undefined) events.webhookFailed(this.#host, tries, reason)
    else events.webhookSetAside(this.#host, tries, reason, nextAt)
    return { position, type, tries, at, nextAt, reason }
  }

  #tellFare(): void {
    this.#options.events.webhookFares(this.#key, this.#host, this.#fare.current)
  }
}
