import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { DeliveryLog } from '../journal/contracts/delivery-log.ts'
import type { Outbox } from '../journal/contracts/outbox.ts'
import { type Clock, everySo, second } from '../platform/clock.ts'
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
  readonly see: (times: OutageTimes) => Promise<Seen>
  readonly backlog: () => Promise<Backlog>
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
export function startWatch(options: WatchOptions): AsyncDisposable {
  const { site, watched, hasReceiver, events, journal, clock, time, digest, delivers } = options
  const usual = { ...usualTimes, ...options.times }
  /** When each was last not seen to be well, on the elapsed clock. */
  const troubledAt = new Map(watched.map((it) => [it, clock.elapsed()]))
  const lookAtAll = async () => {
    for (const it of watched) {
      if (delivers()) await unlessUnavailable(look(it)).catch(events.noticesFailed)
    }
  }
  return everySo(clock, usual.lookMs, lookAtAll, events.noticesFailed)

  /** Tells what is new. */
  async function look(it: Watched): Promise<void> {
    const { toldAfterMs = usual.toldAfterMs, fact } = it
    const times = { ...usual, toldAfterMs }
    const text = await journal.delivery.fact(fact)
    const before = text === undefined ? {} : (JSON.parse(text) as Kept)
    const seen = await it.see(times)
    if (seen.kind !== 'well') troubledAt.set(it, clock.elapsed())
    const calmForMs = clock.elapsed() - (troubledAt.get(it) ?? 0)
    const { outage, news } = advance(before.outage, seen, time.now(), calmForMs, times)
    const reason = outage && ('reason' in seen ? seen.reason : before.reason)
    const kept: Kept = { outage, reason }
    if (JSON.stringify(kept) === JSON.stringify(before)) return
    const notice = news && (await noticeOfNews(it, news))
    if (!delivers()) return
    if (hasReceiver) {
      for (const { id, body } of before.waiting ?? []) await add(id, body)
      if (notice) await add(idOf(notice), JSON.stringify(notice))
    }
    await journal.delivery.noteFact(fact, JSON.stringify(kept))
    if (notice) events.noticeMade(notice)
  }

  async function noticeOfNews({ ended, backlog }: Watched, news: News): Promise<NoticeBody> {
    const type = news.kind === 'resumed' ? ended : news.kind
    return noticeOf(type, news, site, await backlog(), time.now())
  }

  function add(id: string, body: string): Promise<void> {
    return journal.outbox.add({ id, kind: 'notice', body, at: time.now() })
  }

  /** The same for all who tell of this end of this outage. */
  function idOf({ type, data: { since } }: NoticeBody): string {
    const hash = digest(`${site} ${type} ${since}`)
    return `msg_${hash.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')}`
  }
}
