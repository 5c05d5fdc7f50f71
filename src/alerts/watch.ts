import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { DeliveryLog } from '../journal/contracts/delivery-log.ts'
import type { Outbox } from '../journal/contracts/outbox.ts'
import { type Clock, second } from '../platform/clock.ts'
import type { Digest } from '../platform/digest.ts'
import type { Millis } from '../signup/signup.ts'
import type { NoticeEvents } from './notice-events.ts'
import { type Backlog, type NoticeBody, noticeOf, type NoticeType } from './notice.ts'
import { advance, type News, type Outage, type OutageTimes, type Seen } from './outage.ts'

export interface WatchTimes extends OutageTimes {
  /** How often to look. */
  readonly lookMs: Millis
}

/** What may fail, and of which the operator is told. */
export interface Watched {
  /** The name of the fact in the journal that has its outage. */
  readonly fact: string
  /** The type of the notice of its end. */
  readonly ended: NoticeType
  readonly toldAfterMs?: Millis
  see(times: OutageTimes): Promise<Seen>
  backlog(): Promise<Backlog>
}

export interface WatchOptions {
  /** The name of the site. */
  readonly site: string
  readonly watched: readonly Watched[]
  /** Whether there is a receiver. Otherwise the log is the only one to be told. */
  readonly hasReceiver: boolean
  readonly events: NoticeEvents
  readonly journal: {
    readonly delivery: Pick<DeliveryLog, 'fact' | 'noteFact'>
    readonly outbox: Pick<Outbox, 'add'>
  }
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly digest: Digest
  /** Whether this instance delivers. At other times it tells nothing. */
  readonly delivers: () => boolean
  readonly times?: Partial<WatchTimes> | undefined
}

/** What the journal keeps of an outage. */
interface Kept {
  readonly outage?: Outage | undefined
  /** Why, as it was seen last. */
  readonly reason?: string | undefined
  /** Notices that a version before this one has made. */
  readonly waiting?: readonly { readonly id: string; readonly body: string }[]
}

const usualTimes: WatchTimes = {
  lookMs: 10 * second,
  toldAfterMs: 300 * second,
  calmMs: 60 * second,
}

/**
 * Tells the operator when something of a site does not work, and when it works again: one line in the log
 * each time, and one message to the receiver, if there is one. Beside the writer and the senders, which
 * know nothing of it.
 *
 * A message has the same id whoever makes it, and is added before the outage is noted as told. So neither
 * a crash nor a restart loses or repeats a notice.
 */
export class Watch implements AsyncDisposable {
  readonly #options: WatchOptions
  readonly #times: WatchTimes
  readonly #stopping = new AbortController()
  /** When each was last not seen to be well, on the elapsed clock. */
  readonly #troubledAt = new Map<Watched, Millis>()
  readonly #running: Promise<void>

  /** Looks until it is disposed. */
  constructor(options: WatchOptions) {
    this.#options = options
    this.#times = { ...usualTimes, ...options.times }
    for (const it of options.watched) this.#troubledAt.set(it, options.clock.elapsed())
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, delivers, events, watched } = this.#options
    const { signal } = this.#stopping
    for (;;) {
      await clock.sleep(this.#times.lookMs, signal)
      if (signal.aborted) return
      for (const it of watched) {
        if (!delivers()) break
        await unlessUnavailable(this.#look(it)).catch((error: unknown) =>
          events.noticesFailed(error),
        )
      }
    }
  }

  /** Tells what is new. */
  async #look(watched: Watched): Promise<void> {
    const { site, clock, time, events, journal, delivers, hasReceiver } = this.#options
    const { toldAfterMs = this.#times.toldAfterMs, fact, ended } = watched
    const times = { ...this.#times, toldAfterMs }
    const text = await journal.delivery.fact(fact)
    const before = text === undefined ? {} : (JSON.parse(text) as Kept)
    const seen = await watched.see(times)
    if (seen.kind !== 'well') this.#troubledAt.set(watched, clock.elapsed())
    const calmForMs = clock.elapsed() - (this.#troubledAt.get(watched) ?? 0)
    const { outage, news } = advance(before.outage, seen, time.now(), calmForMs, times)
    const reason = outage && ('reason' in seen ? seen.reason : before.reason)
    const kept: Kept = { outage, reason }
    if (JSON.stringify(kept) === JSON.stringify(before)) return
    const tell = async ({ kind, ...more }: News) => {
      const type = kind === 'resumed' ? ended : kind
      return noticeOf(type, more, site, await watched.backlog(), time.now())
    }
    const notice = news && (await tell(news))
    if (!delivers()) return
    if (hasReceiver) {
      for (const { id, body } of before.waiting ?? []) await this.#add(id, body)
      if (notice) await this.#add(this.#idOf(notice), JSON.stringify(notice))
    }
    await journal.delivery.noteFact(fact, JSON.stringify(kept))
    if (notice) events.noticeMade(notice)
  }

  async #add(id: string, body: string): Promise<void> {
    const { journal, time } = this.#options
    await journal.outbox.add({ id, kind: 'notice', body, at: time.now() })
  }

  /** The same for all who tell of this end of this outage. */
  #idOf({ type, data: { since } }: NoticeBody): string {
    const hash = this.#options.digest(`${this.#options.site} ${type} ${since}`)
    return `msg_${hash.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')}`
  }
}
