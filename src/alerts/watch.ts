import { unlessUnavailable } from '../journal/contracts/errors.ts'
import { type DeliveryLog, noticeFailureFact } from '../journal/contracts/delivery-log.ts'
import { steadyTime, triesMax, webhookRestMs } from '../outbox/ladder.ts'
import { type Receiver, sendMessage } from '../outbox/webhook/send.ts'
import { type Clock, everySo, type Random, second } from '../platform/clock.ts'
import { sha256 } from '../platform/digest.ts'
import type { HttpClient } from '../platform/http-client.ts'
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
  /** Who is told; when it is undefined, the log is the only one. */
  readonly receiver: Receiver | undefined
  readonly http: HttpClient
  readonly events: NoticeEvents
  readonly delivery: Pick<DeliveryLog, 'fact' | 'noteFact'>
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly random: Random
  /** Whether this instance delivers. At other times it tells nothing. */
  readonly delivers: () => boolean
  readonly times?: Partial<WatchTimes> | undefined
}

/** What the journal keeps of an outage. */
interface Kept {
  readonly outage?: Outage | undefined
  /** Why, as it was seen last. */
  readonly reason?: string | undefined
  readonly notice?: WaitingNotice | undefined
}

/** A notice that is to be sent. A later one takes its place. */
interface WaitingNotice {
  readonly id: string
  readonly body: string
  readonly tries: number
  readonly nextAt: Millis
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
 * A message is noted together with its outage, and has the same id whoever sends it. So neither a crash nor a
 * restart loses or repeats a notice. It is tried for a day, as often as an endpoint of webhooks that rests.
 */
export function startWatch(options: WatchOptions): AsyncDisposable {
  const { site, watched, receiver, http, events, delivery, clock, time, delivers } = options
  const usual = { ...usualTimes, ...options.times }
  const now = steadyTime(clock, time)
  /** When each was last not seen to be well, on the elapsed clock. */
  const troubledAt = new Map(watched.map((it) => [it, clock.elapsed()]))
  const lookAtAll = async (signal: AbortSignal) => {
    for (const it of watched) {
      if (delivers()) await unlessUnavailable(look(it, signal)).catch(events.noticesFailed)
    }
  }
  return everySo(clock, usual.lookMs, lookAtAll, events.noticesFailed)

  /** Tells what is new, and what could not be told before. */
  async function look(it: Watched, signal: AbortSignal): Promise<void> {
    const { toldAfterMs = usual.toldAfterMs, fact } = it
    const times = { ...usual, toldAfterMs }
    const text = await delivery.fact(fact)
    const before = text === undefined ? {} : (JSON.parse(text) as Kept)
    const seen = await it.see(times)
    if (seen.kind !== 'well') troubledAt.set(it, clock.elapsed())
    const calmForMs = clock.elapsed() - (troubledAt.get(it) ?? 0)
    const { outage, news } = advance(before.outage, seen, time.now(), calmForMs, times)
    const reason = outage && ('reason' in seen ? seen.reason : before.reason)
    const told = news && (await noticeOfNews(it, news))
    const notice = told && receiver ? toSend(fact, told) : before.notice
    const kept: Kept = { outage, reason, notice }
    await note(fact, before, kept)
    if (told && delivers()) events.noticeMade(told)
    await note(fact, kept, { ...kept, notice: await send(kept.notice, signal) })
  }

  async function note(fact: string, before: Kept, kept: Kept): Promise<void> {
    const text = JSON.stringify(kept)
    if (text !== JSON.stringify(before) && delivers()) await delivery.noteFact(fact, text)
  }

  async function noticeOfNews({ ended, backlog }: Watched, news: News): Promise<NoticeBody> {
    const type = news.kind === 'resumed' ? ended : news.kind
    return noticeOf(type, news, site, await backlog(), time.now())
  }

  /** Sends a notice once, when it is due. Returns what is left to send. */
  async function send(
    notice: WaitingNotice | undefined,
    signal: AbortSignal,
  ): Promise<WaitingNotice | undefined> {
    if (!notice || !receiver || notice.nextAt > now() || !delivers()) return notice
    const { host } = new URL(receiver.url)
    const sent = await sendMessage(receiver, notice, { http, clock: time }, signal)
    const [at, tries] = [now(), notice.tries + 1]
    if (sent.kind === 'sent') {
      await delivery.noteFact(noticeFailureFact, '')
      events.noticeSent(host, tries)
      return undefined
    }
    if (signal.aborted) return notice
    const { reason } = sent
    await delivery.noteFact(noticeFailureFact, JSON.stringify({ at, tries, reason }))
    if (sent.kind === 'gone' || tries === triesMax) {
      events.noticeGivenUp(host, tries, reason)
      return undefined
    }
    const pauseMs = webhookRestMs(tries, options.random)
    events.noticeDelayed(host, tries, reason, at + pauseMs)
    return { ...notice, tries, nextAt: at + pauseMs }
  }
}

/** Its id is the same for all who tell of this end of this outage. */
function toSend(fact: string, notice: NoticeBody): WaitingNotice {
  const { type, data } = notice
  const hash = sha256(`${data.site} ${fact} ${type} ${data.since}`)
  const id = `msg_${hash.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')}`
  return { id, body: JSON.stringify(notice), tries: 0, nextAt: 0 }
}
