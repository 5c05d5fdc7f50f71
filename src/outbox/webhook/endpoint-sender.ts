import { JournalUnavailable } from '../../journal/contracts/errors.ts'
import type {
  AsideFailure,
  AsideMessage,
  AsideOutcome,
  EndpointFare,
  WebhookLog,
  WebhookMessage,
} from '../../journal/contracts/webhook-log.ts'
import type { Events } from '../../ops/events.ts'
import { type Clock, type Random, second } from '../../platform/clock.ts'
import type { HttpClient } from '../../platform/http-client.ts'
import type { Millis } from '../../signup/signup.ts'
import { steadyTime, webhookPauseMs } from '../ladder.ts'
import { type Endpoint, endpointKeyOf, webhookBody, webhookIdOf } from './endpoint.ts'
import { atOnceMax, Fare } from './fare.ts'
import { type Received, sendMessage } from './send.ts'

export interface EndpointSenderOptions {
  readonly endpoint: Endpoint
  /** The name of the site. */
  readonly site: string
  readonly webhooks: Pick<WebhookLog, 'endpoint' | 'after' | 'advance' | 'due' | 'settle' | 'note'>
  /** Tells of signups that this process has added. Returns what removes the listener. */
  readonly onAppend: (listener: () => void) => () => void
  readonly http: HttpClient
  readonly events: Pick<
    Events,
    'webhookSent' | 'webhookSetAside' | 'webhookFailed' | 'webhookFares' | 'webhooksCrashed'
  >
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly random: Random
  /** Whether this instance holds the lease. */
  readonly delivers: () => boolean
  /** How often to look for messages; when it is left out, every second. */
  readonly lookMs?: number | undefined
}

interface Try {
  /** How often one that was set aside was tried before; left out for the others. */
  readonly tries?: number
  /** Of one that finds out whether the endpoint works again: whether its failure counts. */
  readonly probe?: 'free' | 'counts'
}

/** How long a stop waits for what is being sent, so that fewer are sent twice. */
const stopMs = 2 * second
/** How often to look whether somebody has moved the cursor, or enabled the endpoint. */
const refreshMs = 5 * second
/** A group of messages ends with so many, or after this time. A kill sends it twice. */
const groupMax = 50
const groupMs = 200
/** The end of a try waits for others for so long, as messages that are read and sent together cost less. */
const gatherMs = 1
/** How often the cursor passes signups that make no message. */
const passMs = 10 * second
/** How far the first message whose try has not ended may be behind. */
const aheadMax = 1000
/** How many may be set aside before the endpoint counts as one that fails whole. */
const asideMax = 1000
/** In place of the usual reason, an error whose stack takes longer than reading a message. */
const woken = 'woken'
/** While others go on, so many of those that are set aside are sent at the same time. */
const againMax = 5
/** How often the next message of the list may fail as a probe before it steps aside. */
const stuckMax = 2

/**
 * Sends the messages of a site to one endpoint, while this instance holds the lease, in the order of positions
 * and up to ten at a time. Each is read right before it is sent, so that none has cells that are erased. Those
 * up to the cursor were sent or set aside; the cursor is written once for a group of messages. So a kill
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
  readonly #stopping = new AbortController()
  /** Aborts what is being sent. */
  readonly #leaving = new AbortController()
  /** Aborts when there may be something to do before the next look. */
  #wake = new AbortController()
  /** As the journal has it; undefined before it was read. */
  #cursor: number | undefined
  /** Up to here messages were read. */
  #head = 0
  /** The messages between cursor and head, in order, with what became of each. */
  #ahead = new Map<number, AsideOutcome | undefined>()
  /** The same for those that were set aside. */
  readonly #again = new Map<number, AsideOutcome | undefined>()
  readonly #flights = new Set<Promise<void>>()
  #flyingAgain = 0
  /** Whether the next message is on its way, and stays the next one when it fails. */
  #isNextFree = false
  /** How many are set aside after a failure. */
  #aside = 0
  #probes = 0
  /** The next message of the list that has failed as a probe, by the position before it, and how often. */
  #stuck = { at: -1, times: 0 }
  #ended = 0
  #savedAt = 0
  #refreshAt = 0
  #dueAt = 0
  #noted: EndpointFare | undefined
  readonly #running: Promise<void>

  /** Sends until it is disposed. */
  constructor(options: EndpointSenderOptions) {
    this.#options = options
    this.#now = steadyTime(options.clock, options.time)
    this.#key = endpointKeyOf(options.endpoint.url)
    this.#host = new URL(options.endpoint.url).host
    this.#fare = new Fare(options.clock, this.#now, options.random)
    this.#running = this.#run()
  }

  /** Gives what is being sent a moment, and does not wait for a receiver that hangs. */
  async stop(graceMs = stopMs): Promise<void> {
    this.#stopping.abort()
    this.#wake.abort(woken)
    const landed = new AbortController()
    const landing = this.#running.then(() => Promise.all(this.#flights))
    void landing.then(() => landed.abort())
    await this.#options.clock.sleep(Math.min(graceMs, stopMs), landed.signal)
    this.#leaving.abort()
    await landing
    await this.#attempt(() => this.#save())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #run(): Promise<void> {
    const { clock, delivers, onAppend, lookMs = second } = this.#options
    const { signal } = this.#stopping
    const unsubscribe = onAppend(() => this.#wake.abort(woken))
    while (!signal.aborted) {
      this.#wake = new AbortController()
      if (delivers()) await this.#attempt(() => this.#step())
      // A stop has ended this sleep before it begins.
      await clock.sleep(this.#ended > 0 ? groupMs : lookMs, this.#wake.signal)
      await clock.sleep(gatherMs, signal)
    }
    unsubscribe()
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // Intake reports a failing journal.
      if (!(error instanceof JournalUnavailable)) this.#options.events.webhooksCrashed(error)
    }
  }

  async #step(): Promise<void> {
    const sinceMs = this.#options.clock.elapsed() - this.#savedAt
    const isFull = this.#ended >= groupMax || this.#again.size > atOnceMax + againMax
    const isGroup = isFull || (this.#ended > 0 && sinceMs >= groupMs)
    if (isGroup || sinceMs >= passMs) await this.#save()
    await this.#refresh()
    if (this.#free <= 0) return
    if (this.#fare.isHalted) return this.#probe()
    await this.#sendAgain()
    if (this.#aside >= asideMax) {
      // No other may be set aside, so the next one goes alone, and stays the next one when it fails.
      if (this.#flights.size === 0) await this.#sendNext(1, { probe: 'free' })
    } else if (this.#ahead.size < aheadMax && this.#free > 0) await this.#sendNext(this.#free)
  }

  /** How many messages may be sent now. */
  get #free(): number {
    const free = this.#isNextFree ? 0 : this.#fare.atOnce - this.#flights.size
    return this.#cursor === undefined || this.#stopping.signal.aborted ? 0 : free
  }

  /** Reads how the endpoint does, from time to time when nothing is on its way. */
  async #refresh(): Promise<void> {
    const { webhooks: log, clock } = this.#options
    const isBusy = this.#ahead.size + this.#again.size + this.#ended > 0
    const isKnown = this.#cursor !== undefined
    if (isKnown && (isBusy || clock.elapsed() < this.#refreshAt)) return
    const record = await log.endpoint(this.#key)
    this.#refreshAt = clock.elapsed() + refreshMs
    if (record?.cursor !== this.#cursor) {
      this.#ahead = new Map()
      this.#head = record?.cursor ?? 0
    }
    this.#cursor = record?.cursor
    if (!record) return
    this.#aside = record.aside
    this.#fare.follow(record)
    this.#noted = record
    this.#tellFare()
  }

  /** Writes what became of the messages. */
  async #save(): Promise<void> {
    const { webhooks: log, clock, delivers } = this.#options
    this.#savedAt = clock.elapsed()
    const ended = this.#ended
    const from = this.#cursor
    const to = this.#done
    if (from !== undefined && to > from) {
      const done = [...this.#ahead].filter(([position]) => position <= to)
      const aside = done.flatMap(([, it]) => (!it || it.isSent ? [] : it))
      const isMoved = await log.advance(this.#key, { from, to, aside })
      if (isMoved) for (const [position] of done) this.#ahead.delete(position)
      else this.#ahead = new Map()
      this.#cursor = isMoved ? to : undefined
    }
    const settled = [...this.#again.values()].filter((it) => it !== undefined)
    // Another holder of the lease may have tried it, too.
    const outcomes = settled.filter((it) => it.isSent === true || delivers())
    if (outcomes.length > 0) await log.settle(this.#key, outcomes)
    for (const { position } of settled) this.#again.delete(position)
    const fare = this.#fare.current
    if (this.#noted && delivers() && timesOf(fare) !== timesOf(this.#noted)) {
      await log.note(this.#key, fare)
      this.#noted = fare
    }
    this.#ended -= ended
  }

  /** Up to here all messages were sent, or are to be set aside. */
  get #done(): number {
    for (const [position, outcome] of this.#ahead) if (!outcome) return position - 1
    return this.#head
  }

  /** Returns whether there was one to send. */
  async #sendNext(max: number, probing: Try = {}): Promise<boolean> {
    const slice = await this.#options.webhooks.after(this.#key, this.#head, max)
    // It may have been disabled meanwhile.
    if (this.#free < slice.messages.length) return false
    // There may be more behind positions that make no message.
    if (slice.messages.length < max && slice.upto > this.#head) this.#wake.abort(woken)
    this.#head = slice.upto
    for (const message of slice.messages) this.#launch(message, probing)
    return slice.messages.length > 0
  }

  /** Sends some of those that are set aside and due. */
  async #sendAgain(): Promise<void> {
    const { webhooks: log, clock } = this.#options
    const most = this.#aside >= asideMax ? this.#free : againMax - this.#flyingAgain
    const max = Math.min(most, this.#free)
    if (max <= 0 || clock.elapsed() < this.#dueAt) return
    const due = await log.due(this.#key, this.#now())
    const others = this.#sendable(due)
    if (others.length <= max) this.#dueAt = clock.elapsed() + groupMs
    for (const message of others.slice(0, Math.min(max, this.#free))) {
      this.#launch(message, { tries: message.tries })
    }
  }

  /** Leaves out those whose last try is on its way or not noted: no news of an erasure passes its signup. */
  #sendable(aside: readonly AsideMessage[]): readonly AsideMessage[] {
    return aside.filter(({ position }) => {
      const isAhead = this.#ahead.has(position) && !this.#ahead.get(position)
      return !isAhead && !this.#again.has(position)
    })
  }

  /** Sends one message: in turn the next one, and one of those that are set aside, due or not. */
  async #probe(): Promise<void> {
    const { webhooks: log } = this.#options
    const turn = this.#probes++
    const aside = await log.due(this.#key, Infinity)
    const others = this.#sendable(aside)
    const isNext = turn % 2 === 0 || others.length === 0
    // One that fails again and again, or alone, steps aside: so messages that nobody takes do not stop all.
    const { at, times } = this.#stuck
    const stepsAside = this.#head === at && times >= stuckMax && this.#aside + 1 < asideMax
    const probe = others.length === 0 || stepsAside ? 'counts' : 'free'
    if (isNext && (await this.#sendNext(1, { probe }))) return
    const other: AsideMessage | undefined = others[(turn >> 1) % others.length]
    if (other && this.#free > 0) this.#launch(other, { tries: other.tries, probe: 'free' })
  }

  #launch(message: WebhookMessage, attempt: Try): void {
    const { position } = message
    const isAgain = attempt.tries !== undefined
    const ends = isAgain ? this.#again : this.#ahead
    ends.set(position, undefined)
    if (isAgain) this.#flyingAgain += 1
    else this.#isNextFree = attempt.probe === 'free'
    const flight = this.#send(message).then((sent) => {
      const outcome = this.#conclude(message, attempt, sent)
      if (outcome) ends.set(position, outcome)
      else ends.delete(position)
      if (!outcome && ends === this.#ahead) this.#standAt(position - 1)
      if (isAgain) this.#flyingAgain -= 1
      else this.#isNextFree = false
      this.#ended += 1
      this.#flights.delete(flight)
      this.#wake.abort(woken)
    })
    this.#flights.add(flight)
  }

  /** The next message has failed as a probe, and stays the next one. */
  #standAt(at: number): void {
    this.#head = at
    this.#stuck = { at, times: this.#stuck.at === at ? this.#stuck.times + 1 : 1 }
  }

  /** Never rejects. */
  async #send(message: WebhookMessage): Promise<Received> {
    const { endpoint, site, http, time, events } = this.#options
    try {
      const id = webhookIdOf(endpoint.url, message.signup.id, message.type)
      const body = webhookBody(message, site, time.now())
      const world = { http, clock: time }
      return await sendMessage(endpoint, { id, body }, world, this.#leaving.signal)
    } catch (error) {
      events.webhooksCrashed(error)
      return { kind: 'later', reason: 'Rollcall cannot send this message' }
    }
  }

  /** Undefined when the message stays as it was. */
  #conclude(
    { position, type }: WebhookMessage,
    { tries: triesBefore, probe }: Try,
    sent: Received,
  ): AsideOutcome | undefined {
    const { events, random } = this.#options
    const wasAside = (triesBefore ?? 0) > 0
    if (sent.kind === 'sent') {
      if (wasAside) this.#aside -= 1
      this.#fare.works()
      this.#tellFare()
      events.webhookSent()
      return { position, type, isSent: true }
    }
    const at = this.#now()
    const reason = sent.reason.slice(0, 200)
    if (this.#leaving.signal.aborted) {
      if (triesBefore !== undefined) return undefined
      return { position, type, tries: 0, at, nextAt: at, reason }
    }
    const isFree = probe === 'free'
    const isLast = !wasAside && this.#aside + (isFree ? 0 : 1) >= asideMax
    this.#fare.fails({ ...sent, reason }, { isProbe: probe !== undefined, isLast })
    this.#tellFare()
    if (isFree) return undefined
    const tries = (triesBefore ?? 0) + 1
    const pauseMs = webhookPauseMs(tries, random)
    const nextAt =
      pauseMs === undefined ? undefined : at + Math.max(pauseMs, sent.retryAfterMs ?? 0)
    this.#aside += (nextAt === undefined ? 0 : 1) - (wasAside ? 1 : 0)
    if (nextAt === undefined) events.webhookFailed(this.#host, tries, reason)
    else events.webhookSetAside(this.#host, tries, reason, nextAt)
    return { position, type, tries, at, nextAt, reason } satisfies AsideFailure
  }

  #tellFare(): void {
    this.#options.events.webhookFares(this.#key, this.#host, this.#fare.current)
  }
}

function timesOf({ failingSince, haltedAt, disabledAt }: EndpointFare): string {
  return [failingSince, haltedAt, disabledAt].join()
}
