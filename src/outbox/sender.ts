import { JournalUnavailable, unlessUnavailable } from '../journal/contracts/errors.ts'
import type { ClaimOrder, Message, MessageOutcome, Outbox } from '../journal/contracts/outbox.ts'
import { type Clock, type Random, second, untilLook } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { pauseMs, probePauseMs, steadyTime, triesMax } from './ladder.ts'
import { SendLoop } from './send-loop.ts'

/** What sends messages of some kinds. */
export interface Consumer extends AsyncDisposable {
  /** Which messages, and how fast. */
  readonly order: Pick<ClaimOrder, 'kinds' | 'perHour'>
  /** How many it sends at the same time. */
  readonly atOnce: number
  /** Sends a message once, in bounded time. Ends soon when the signal aborts. */
  send(message: Message, task: SendTask): Promise<Sent>
}

export interface SendTask {
  readonly signal: AbortSignal
  /** Whether the message is still to be sent: not when its person was forgotten. Asked for at the last moment. */
  isWanted(): Promise<boolean>
  /**
   * The same, and waits for the turn of the message: from then until the outcome is noted no other one is
   * handed over, so that a kill leaves at most one of which nobody knows whether it was sent.
   */
  mayHandOver(): Promise<boolean>
}

/** What became of one try. Reasons are fixed sentences, or name at most a host. */
export type Sent =
  | { readonly kind: 'sent' }
  /** To be tried again. @see Sender for `mayBeServer` */
  | { readonly kind: 'later'; readonly reason: string; readonly mayBeServer?: boolean }
  /** Nobody will ever take it. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server takes nothing at all just now. The message was not handed over. */
  | { readonly kind: 'down'; readonly reason: string }
  /** Nobody wants it, or the signal has aborted. It was not handed over. */
  | { readonly kind: 'unsent' }

export interface SenderEvents {
  sent(message: Message, tries: number): void
  delayed(message: Message, tries: number, reason: string, nextAt: Millis): void
  failed(message: Message, tries: number, reason: string): void
  /** Nothing is taken; told again when the reason changes. */
  serverFails(reason: string): void
  serverWorks(): void
  /** Our own code failed. */
  crashed(error: unknown): void
}

export interface SenderOptions {
  readonly outbox: Pick<Outbox, 'claim' | 'settle' | 'isClaimed'>
  readonly consumer: Consumer
  readonly events: SenderEvents
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly random: Random
  /** Whether this instance holds the lease. */
  readonly delivers: () => boolean
  /** How often to look for messages; when it is left out, every second. */
  readonly lookMs?: number | undefined
}

/** So many failures in a row that may be the server's count as a failure of the server. */
const failuresMax = 5
/** How many other messages probe a server, each once, before one does so again. */
const othersMax = 6
/** How many messages that stopped all others are remembered. */
const blamedMax = 100

/**
 * Sends the messages of some kinds of a site, while this instance holds the lease: claims those that are
 * due, hands each to the consumer, and notes what became of it. A message may be sent twice when the note
 * is lost, but never before it was committed.
 *
 * A message that fails waits for its own next try, by the ladder, for about a day. When the server fails,
 * no message is to blame: the try does not count, all wait, and one message at a time probes the server,
 * another one each time. When another one gets through, the failure was the message's own after all, and
 * its next one counts.
 */
export class Sender implements AsyncDisposable {
  readonly #options: SenderOptions
  /** Whom claimed messages belong to: no other sender has this name. */
  readonly #by = crypto.randomUUID()
  readonly #now: () => Millis
  /** Ends when the message that was handed over last is settled. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Whether the server has taken something since it failed last, or since the start. */
  #isTrusted = false
  #failures = 0
  #reason: string | undefined
  #pausedUntil = 0
  /** As `Claimed.pacedUntil`. */
  #pacedUntil: Millis | undefined
  /** The messages that have met the failure of the server. */
  readonly #suspects = new Set<number>()
  /** Messages that failed while others got through. */
  readonly #blamed = new Set<number>()
  readonly #loop: SendLoop

  /** Sends until it is disposed. */
  constructor(options: SenderOptions) {
    this.#options = options
    this.#now = steadyTime(options.clock, options.time)
    const { clock, events, lookMs = second } = options
    this.#loop = new SendLoop({
      ...{ clock, crashed: (error) => events.crashed(error) },
      step: () => this.#fill(),
      pauseMs: () => untilLook(clock, lookMs),
    })
  }

  /** @see SendLoop.stop */
  async stop(graceMs?: number): Promise<void> {
    await this.#loop.stop(graceMs)
    await this.#options.consumer[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Claims as many messages as can be sent right away. */
  async #fill(): Promise<void> {
    const { outbox, consumer, clock, delivers } = this.#options
    const max = (this.#isTrusted ? consumer.atOnce : 1) - this.#loop.sending.size
    if (max <= 0 || clock.elapsed() < this.#pausedUntil || !delivers()) return
    const paced = { pacedUntil: this.#pacedUntil }
    const order = { ...consumer.order, ...paced, by: this.#by, now: this.#now(), max }
    const { messages, pacedUntil } = await outbox.claim(order)
    this.#pacedUntil = pacedUntil
    for (const message of messages) this.#loop.add(this.#send(message))
  }

  /** Never rejects. */
  async #send(message: Message): Promise<void> {
    const { consumer, outbox, events } = this.#options
    const { signal } = this.#loop.stopping
    // When the journal cannot tell, the next try asks again.
    const isWanted = async () =>
      (await unlessUnavailable(outbox.isClaimed(message.number, this.#by))) === true
    const ended = Promise.withResolvers<undefined>()
    const mayHandOver = async () => {
      const before = this.#turn
      this.#turn = Promise.all([before, ended.promise])
      await before
      return !message.isUnwanted && !signal.aborted && (await isWanted())
    }
    try {
      const sent = await consumer.send(message, { signal, isWanted, mayHandOver })
      await this.#settle(message, this.#conclude(message, sent))
    } catch (error) {
      if (error instanceof JournalUnavailable) return
      events.crashed(error)
      await this.#settle(message, this.#postpone(message, 'Rollcall cannot send this message'))
    } finally {
      ended.resolve(undefined)
    }
  }

  #conclude(message: Message, sent: Sent): MessageOutcome {
    const { events, clock, random } = this.#options
    const tries = message.tries + 1
    switch (sent.kind) {
      case 'sent':
        this.#works(message)
        events.sent(message, tries)
        return { kind: 'sent', at: this.#now() }
      case 'refused':
        this.#works(message)
        return this.#giveUp(message, sent.reason)
      case 'unsent': {
        const at = this.#now()
        if (!message.isUnwanted || this.#loop.stopping.signal.aborted)
          return { kind: 'untried', nextAt: at }
        this.#works(message)
        return { kind: 'dropped', at }
      }
      case 'later': {
        if (sent.mayBeServer !== true) this.#works(message)
        else if (++this.#failures >= failuresMax) this.#fails(sent.reason)
        return this.#postpone(message, sent.reason)
      }
      case 'down': {
        if (this.#blamed.has(message.number)) return this.#postpone(message, sent.reason)
        this.#failures += 1
        this.#isTrusted = false
        addBounded(this.#suspects, message.number)
        this.#fails(sent.reason)
        const pause = probePauseMs(this.#failures, random)
        this.#pausedUntil = clock.elapsed() + pause
        // Others probe meanwhile, if there are some, so that no message at which the server hangs up stops all.
        const restMs = Math.min(this.#failures, othersMax) * pause
        return { kind: 'untried', nextAt: this.#now() + restMs + 2 * second }
      }
    }
  }

  /** The server has taken this message, or refused it for a reason of its own. */
  #works({ number }: Message): void {
    this.#suspects.delete(number)
    for (const suspect of this.#suspects) addBounded(this.#blamed, suspect)
    this.#suspects.clear()
    this.#isTrusted = true
    this.#failures = 0
    this.#reason = undefined
    this.#options.events.serverWorks()
  }

  #fails(reason: string): void {
    if (this.#reason === reason) return
    this.#reason = reason
    this.#options.events.serverFails(reason)
  }

  #postpone(message: Message, reason: string): MessageOutcome {
    const tries = message.tries + 1
    if (tries >= triesMax) return this.#giveUp(message, reason)
    const at = this.#now()
    const nextAt = at + pauseMs(tries, this.#options.random)
    this.#options.events.delayed(message, tries, reason, nextAt)
    return { kind: 'later', at, nextAt, reason }
  }

  #giveUp(message: Message, reason: string): MessageOutcome {
    this.#options.events.failed(message, message.tries + 1, reason)
    return { kind: 'failed', at: this.#now(), reason }
  }

  /** Notes the outcome, however long that takes, so that what was sent is not sent again. */
  async #settle({ number }: Message, outcome: MessageOutcome): Promise<void> {
    const { outbox, clock, delivers } = this.#options
    const isOver = !('nextAt' in outcome)
    for (;;) {
      // Another holder of the lease may have claimed it.
      if (!isOver && !delivers()) return
      try {
        await outbox.settle(number, outcome)
        return
      } catch (error) {
        if (!(error instanceof JournalUnavailable)) throw error
        if (this.#loop.stopping.signal.aborted) return
        await clock.sleep(second, this.#loop.stopping.signal)
      }
    }
  }
}

function addBounded(numbers: Set<number>, number: number): void {
  const [oldest] = numbers
  if (numbers.size >= blamedMax && oldest !== undefined) numbers.delete(oldest)
  numbers.add(number)
}
