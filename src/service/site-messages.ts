import { noticeEvents } from '../alerts/notice-events.ts'
import { startWatch, type WatchTimes } from '../alerts/watch.ts'
import { watchDelivery, watchHeld, watchMail, watchWebhook } from '../alerts/watched.ts'
import { readMailNote } from '../journal/contracts/delivery-log.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Health } from '../ops/health.ts'
import { type ReporterOptions, startReporter } from '../outbox/mail/reporter.ts'
import { type Consumer, Sender } from '../outbox/sender.ts'
import { EndpointSender } from '../outbox/webhook/endpoint-sender.ts'
import type { Receiver } from '../outbox/webhook/send.ts'
import { type Clock, hour, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { RunningSite } from './site.ts'
import { tellerOf } from './teller.ts'
import type { World } from './world.ts'

/** What a site sends besides its rows. */
export interface MessageOptions {
  readonly site: RunningSite
  /** Who gets notices; when undefined, the log is the only one to be told. */
  readonly receiver: Receiver | undefined
  /** Makes what sends mails; undefined when nothing needs mail. */
  readonly mail?: (() => Consumer) | undefined
  /** When the owner is told how the site does; undefined when nobody is. */
  readonly reports?: ReporterOptions['when'] | undefined
}

interface Term {
  readonly world: World
  readonly delivers: () => boolean
  readonly times?: Partial<WatchTimes> | undefined
}

/** Sends the messages of a site for one term of its lease, and watches what the operator is told of. */
export function startMessages(
  { site, receiver, mail, reports: when }: MessageOptions,
  { world, delivers, times }: Term,
) {
  const { name, journal, health, events, endpoints, location, log } = site
  const { clock, random, receiverHttp: http } = world
  const { outbox, reader, webhooks, delivery } = journal
  const time = journal.time ?? clock
  const senders: (Sender | EndpointSender)[] = []
  const common = { site: name, outbox, clock, time, random, delivers, http }
  if (mail) {
    void keepFailing(reader, health)
    senders.push(new Sender({ ...common, consumer: mail(), events: events.mail }))
  }
  const following = new AbortController()
  void follow(site, clock, delivers, following.signal)
  const onAppend = (listener: () => void) => delivery.onAppend(listener)
  for (const endpoint of endpoints) {
    const teller = tellerOf(endpoint, { http, clock: time })
    senders.push(new EndpointSender({ ...common, teller, webhooks, onAppend, events }))
  }
  const watched = { health, reader, outbox, clock, time }
  const watch = startWatch({
    ...{ ...common, times, receiver, delivery },
    events: noticeEvents(log),
    watched: [
      watchDelivery(watched),
      watchHeld(watched),
      ...(mail ? watchMail(watched) : []),
      ...endpoints.flatMap(({ key }) => watchWebhook(key, watched)),
    ],
  })
  const reporter =
    when &&
    startReporter({
      ...common,
      when,
      location,
      journal,
      lookMs: times?.lookMs,
      events: events.mail,
    })
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
  { endpoints, journal, events }: RunningSite,
  clock: Clock,
  delivers: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const keys = endpoints.map(({ key }) => key)
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
