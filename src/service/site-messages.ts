import { noticeEvents, noticeSenderEvents } from '../alerts/notice-events.ts'
import { startWatch, type WatchTimes } from '../alerts/watch.ts'
import { watchDelivery, watchMail, watchWebhook } from '../alerts/watched.ts'
import { readMailNote } from '../journal/contracts/delivery-log.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import type { Logger } from '../ops/log.ts'
import { type ReporterOptions, startReporter } from '../outbox/mail/reporter.ts'
import { type Consumer, Sender } from '../outbox/sender.ts'
import { EndpointSender } from '../outbox/webhook/endpoint-sender.ts'
import { endpointKeyOf } from '../outbox/webhook/endpoint.ts'
import { noticeConsumer } from '../outbox/webhook/notice-consumer.ts'
import type { Receiver } from '../outbox/webhook/send.ts'
import { hour, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { World } from './world.ts'

/** What a site sends besides its rows. */
export interface MessageOptions {
  /** The name of the site. */
  readonly site: string
  readonly log: Logger
  /** Who gets notices; when undefined, the log is the only one to be told. */
  readonly receiver: Receiver | undefined
  /** Who gets a message for each signup. */
  readonly endpoints?: readonly Receiver[] | undefined
  /** Makes what sends mails; undefined when nothing needs mail. */
  readonly mail?: (() => Consumer) | undefined
  /** What the owner is told; undefined when nobody is. */
  readonly report?: Pick<ReporterOptions, 'when' | 'location'> | undefined
}

interface Parts {
  readonly journal: Journal
  readonly health: Health
  readonly events: Pick<Events, Extract<keyof Events, 'mail' | `webhook${string}`>>
  readonly world: World
  readonly delivers: () => boolean
  readonly times?: Partial<WatchTimes> | undefined
}

/** Sends the messages of a site for one term of its lease, and watches what the operator is told of. */
export function startMessages(options: MessageOptions, parts: Parts) {
  const { site, log, receiver, endpoints = [], mail, report } = options
  const { journal, health, events, world, delivers, times } = parts
  const { clock, random, digest } = world
  const { outbox, reader } = journal
  const time = journal.time ?? clock
  const senders: (Sender | EndpointSender)[] = []
  const common = { outbox, clock, time, random, delivers }
  if (receiver) {
    const consumer = noticeConsumer(receiver, world.receiverHttp, time)
    const { host } = new URL(receiver.url)
    const senderEvents = noticeSenderEvents(log, host)
    senders.push(new Sender({ ...common, consumer, events: senderEvents, lookMs: times?.lookMs }))
  }
  if (mail) {
    void keepFailing(reader, health)
    senders.push(new Sender({ ...common, consumer: mail(), events: events.mail }))
  }
  const following = new AbortController()
  void follow(endpoints, parts, following.signal)
  for (const endpoint of endpoints) {
    const { webhooks } = journal
    const onAppend = (listener: () => void) => journal.delivery.onAppend(listener)
    const given = { ...common, endpoint, site, webhooks, onAppend, events }
    senders.push(new EndpointSender({ ...given, http: world.receiverHttp }))
  }
  const of = { site, journal, clock, time, digest, delivers }
  const watched = { health, reader, outbox, clock, time }
  const watch = startWatch({
    ...of,
    times,
    hasReceiver: receiver !== undefined,
    events: noticeEvents(log),
    watched: [
      watchDelivery(watched),
      ...(mail ? watchMail(watched) : []),
      ...endpoints.flatMap(({ url }) => watchWebhook(endpointKeyOf(url), watched)),
    ],
  })
  const reporter =
    report && startReporter({ ...of, ...report, lookMs: times?.lookMs, events: events.mail })
  return {
    /** Waits neither for a receiver nor for a mail server that hangs. */
    stop: async (graceMs: Millis): Promise<void> => {
      following.abort()
      const all = [watch, reporter].map((it) => it?.[Symbol.asyncDispose]())
      await Promise.all([...all, ...senders.map((it) => it.stop(graceMs))])
    },
  }
}

/** Keeps the endpoints in the journal, until the signal aborts. Those of an hour ago are not gone yet. */
async function follow(
  endpoints: readonly Receiver[],
  { journal, world: { clock }, events, delivers }: Parts,
  signal: AbortSignal,
): Promise<void> {
  const keys = endpoints.map(({ url }) => endpointKeyOf(url))
  while (!signal.aborted) {
    let pauseMs = second
    try {
      if (delivers()) await journal.webhooks.follow(keys, (journal.time ?? clock).now())
      if (delivers()) pauseMs = hour
    } catch (error) {
      // Intake reports a failing journal.
      if (!(error instanceof JournalUnavailable)) events.webhooksCrashed(error)
    }
    await clock.sleep(pauseMs, signal)
  }
}

/** A mail server that failed before this term still does, until it takes something. */
async function keepFailing(reader: Journal['reader'], health: Health): Promise<void> {
  // Intake reports a failing journal.
  const note = await readMailNote(reader).catch(() => undefined)
  if (note && health.mail.state === 'ok') health.mail = { state: 'failing', ...note }
}
