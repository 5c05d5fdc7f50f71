import { type DeliveryLog, noticesFact } from '../journal/contracts/delivery-log.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Health } from '../ops/health.ts'
import { type Clock, type Random, second } from '../platform/clock.ts'
import type { HttpClient } from '../platform/http-client.ts'
import type { Millis } from '../signup/signup.ts'
import { attempt, isDue, type WaitingMessage } from './attempt.ts'
import type { Receiver } from './send.ts'
import { type NoticeBody, noticeOf } from './notice.ts'
import type { NoticeEvents } from './notice-events.ts'
import { advance, type News, type Outage, type OutageTimes, type Seen, seenIn } from './outage.ts'

export interface WatchTimes extends OutageTimes {
  /** How often to look. */
  readonly lookMs: Millis
}

export interface WatchOptions {
  /** The name of the site. */
  readonly site: string
  /** Undefined when the log is the only one to be told. */
  readonly receiver: Receiver | undefined
  readonly events: NoticeEvents
  /** What the site's own writer meets. */
  readonly health: Pick<Health, 'delivery' | 'tabs'>
  readonly journal: {
    readonly reader: Pick<Reader, 'backlog' | 'waitingSince' | 'figures'>
    readonly delivery: Pick<DeliveryLog, 'fact' | 'noteFact'>
  }
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly random: Random
  readonly http: HttpClient
  /** Whether this instance delivers. At other times it tells nothing. */
  readonly delivers: () => boolean
  readonly times?: Partial<WatchTimes> | undefined
}

/** What the journal keeps of a site's notices. */
interface Kept {
  readonly outage?: Outage | undefined
  /** Notices that nobody has received, the oldest first. */
  readonly waiting: readonly WaitingMessage[]
  /** The last try, when it failed. The reason names at most the host of the receiver. */
  readonly failed?:
    { readonly at: Millis; readonly tries: number; readonly reason: string } | undefined
}

/** @throws JournalUnavailable */
export async function readKept(journal: Pick<DeliveryLog, 'fact'>): Promise<Kept> {
  const text = await journal.fact(noticesFact)
  return text === undefined ? { waiting: [] } : (JSON.parse(text) as Kept)
}

const usualTimes: WatchTimes = {
  lookMs: 10 * second,
  toldAfterMs: 300 * second,
  calmMs: 60 * second,
}

/** The oldest notice gives way to a new one, so that a receiver that is gone fills no journal. */
const waitingMax = 20

/**
 * Tells the operator when the delivery of a site does not work, and when it works again: one line in the
 * log each time, and one message to the receiver, if there is one. Messages are sent in order, each when
 * the one before was received or given up. Beside the writer, which knows nothing of it.
 *
 * A notice is in the journal before it is told. So a restart repeats none, except that the receiver may
 * get a message again, with the same id, whose answer was lost.
 */
export class Watch implements AsyncDisposable {
  readonly #options: WatchOptions
  readonly #times: WatchTimes
  readonly #stopping = new AbortController()
  readonly #startedAt: Millis
  /** When delivery was last not seen to be well, on the elapsed clock. */
  #troubledAt: Millis
  /** What the journal last said of how long something waits, and when it first said so, on the elapsed clock. */
  #waits: { readonly since: Millis | undefined; readonly seenAt: Millis }
  readonly #running: Promise<void>

  /** Looks until it is disposed. */
  constructor(options: WatchOptions) {
    this.#options = options
    this.#times = { ...usualTimes, ...options.times }
    this.#startedAt = this.#troubledAt = options.clock.elapsed()
    this.#waits = { since: undefined, seenAt: this.#startedAt }
    this.#running = this.#run()
  }

  /** Does not wait for the receiver. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, delivers, events } = this.#options
    const { signal } = this.#stopping
    for (;;) {
      await clock.sleep(this.#times.lookMs, signal)
      if (signal.aborted) return
      try {
        if (delivers()) await this.#turn()
      } catch (error) {
        // Intake reports a failing journal.
        if (!(error instanceof JournalUnavailable)) events.noticesFailed(error)
      }
    }
  }

  async #turn(): Promise<void> {
    const { journal, receiver } = this.#options
    const before = await readKept(journal.delivery)
    const kept = await this.#look(before)
    if (receiver) await this.#send(kept, receiver)
  }

  /** Tells what is new. Returns what the journal has then. */
  async #look(before: Kept): Promise<Kept> {
    const { clock, time, receiver, events } = this.#options
    const seen = await this.#see()
    if (seen.kind !== 'well') this.#troubledAt = clock.elapsed()
    const calmForMs = clock.elapsed() - this.#troubledAt
    const { outage, news } = advance(before.outage, seen, time.now(), calmForMs, this.#times)
    const notice = news && (await this.#noticeOf(news))
    const waiting = receiver ? withNotice(before.waiting, notice) : []
    const kept = { outage, waiting, failed: receiver && before.failed }
    if (JSON.stringify(kept) === JSON.stringify(before)) return before
    if (!(await this.#keep(kept))) return before
    if (notice) events.noticeMade(notice.type, notice.data)
    return kept
  }

  async #see(): Promise<Seen> {
    const { health, journal, clock, time } = this.#options
    const since = await journal.reader.waitingSince([...health.tabs.keys()])
    if (since !== this.#waits.since) this.#waits = { since, seenAt: clock.elapsed() }
    const now = time.now()
    // A wall clock that was set back must not hide that something waits.
    const seenSince = now - (clock.elapsed() - this.#waits.seenAt)
    const waitingSince = since === undefined ? undefined : Math.min(since, seenSince)
    const seen = seenIn(health, waitingSince, now, this.#times)
    // Signups may have waited while no service ran. The writer has a moment for them.
    const isNew = clock.elapsed() - this.#startedAt < this.#times.calmMs
    return isNew && seen.kind === 'stalled' ? { kind: 'unsure' } : seen
  }

  async #noticeOf(news: News): Promise<NoticeBody> {
    const { site, time, journal } = this.#options
    const now = time.now()
    const waiting = await journal.reader.backlog()
    const { oldestWaiting: oldest } = await journal.reader.figures(now, now)
    return noticeOf(news, site, { waiting, oldest }, now)
  }

  /** Sends the oldest notice, if its time has come. */
  async #send(kept: Kept, receiver: Receiver): Promise<void> {
    const { http, random, time, events, delivers } = this.#options
    const { signal } = this.#stopping
    const [first, ...others] = kept.waiting
    if (!first || !isDue(first, time.now()) || !delivers()) return
    const result = await attempt(first, receiver, { http, random, clock: time }, signal)
    if (signal.aborted && result.kind !== 'received') return
    const waiting = result.kind === 'later' ? [result.waiting, ...others] : others
    const failed =
      result.kind === 'received'
        ? undefined
        : { at: time.now(), tries: first.tries + 1, reason: result.reason }
    if (!(await this.#keep({ ...kept, waiting, failed }))) return
    events.noticeTried(result, new URL(receiver.url).host)
  }

  /** Returns whether it was kept: not when another instance has taken over. */
  async #keep(kept: Kept): Promise<boolean> {
    const { delivers, journal } = this.#options
    if (!delivers()) return false
    await journal.delivery.noteFact(noticesFact, JSON.stringify(kept))
    return true
  }
}

function withNotice(
  waiting: readonly WaitingMessage[],
  notice: NoticeBody | undefined,
): readonly WaitingMessage[] {
  if (!notice) return waiting
  const { timestamp } = notice
  const message = { id: `msg_${crypto.randomUUID()}`, body: JSON.stringify(notice) }
  return [...waiting, { ...message, tries: 0, nextAt: Date.parse(timestamp) }].slice(-waitingMax)
}
