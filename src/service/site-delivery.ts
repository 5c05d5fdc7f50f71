import type { Account, BatchAllowance } from '../delivery/account.ts'
import { followNote, noteDelivery } from '../delivery/delivery-note.ts'
import { Leaseholder } from '../delivery/leaseholder.ts'
import { Writer } from '../delivery/writer.ts'
import { readDeliveryNote, readMailNote } from '../journal/contracts/delivery-log.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { WatchTimes } from '../alerts/watch.ts'
import { comparisonOf } from '../operations/compare.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import { followWebhook } from '../ops/webhook-events.ts'
import { Listeners } from '../platform/listeners.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type MessageOptions, startMessages } from './site-messages.ts'
import { connectSpreadsheet, type Destination, soleShare } from './spreadsheets.ts'
import { realWorld, type World } from './world.ts'

/** What it takes of a site to write its rows. */
export interface WriterOptions extends Destination {
  /** Whether to end the frozen batch and to remove rows only. */
  readonly removesOnly?: boolean
  /** As the writer has it. */
  readonly erased?: Listeners<undefined>
  readonly journal: Pick<Journal, 'delivery' | 'erasure' | 'callLedger' | 'time' | 'compared'>
  readonly events: Events
}

export interface DeliveryOverrides extends Partial<World> {
  /** How often an idle writer looks for signups that other processes have appended. */
  readonly lookEveryMs?: number
  /** When notices are made. */
  readonly noticeTimes?: Partial<WatchTimes>
  /** Wraps the spreadsheet, for tests with faults between it and the writer. */
  readonly wrap?: ((spreadsheet: Spreadsheet) => Spreadsheet) | undefined
}

/** Builds the writer of a site and its spreadsheet. Nothing is delivered before the writer is started. */
export function createWriter(
  options: WriterOptions,
  { wrap = (spreadsheet) => spreadsheet, lookEveryMs = 1000, ...parts }: DeliveryOverrides = {},
): Writer {
  const world = { ...realWorld, ...parts }
  const { journal, events, removesOnly = false, erased = new Listeners() } = options
  const { clock, random } = world
  const { share = soleShare(options, clock) } = options
  const spreadsheet = wrap(connectSpreadsheet({ ...options, share }, world))
  return new Writer({
    journal: journal.delivery,
    erasure: journal.erasure,
    removesOnly,
    erased,
    arrivals: () => comparisonOf(journal.compared),
    events,
    clock,
    random,
    spreadsheet,
    allowance: spreadsheet.profile.hasQuota && share ? share.allowance : endless,
    lookEveryMs,
  })
}

/** A provider without a quota takes any batch at once. */
const endless: BatchAllowance = { wait: () => 0, take: () => {} }

export interface SiteDeliveryOptions extends Omit<WriterOptions, 'share'> {
  readonly journal: Journal
  readonly health: Health
  /** The account that the site shares with others. */
  readonly account?: Account | undefined
  /** What is sent besides the rows; nothing when it is left out. */
  readonly messages?: MessageOptions | undefined
}

/**
 * Delivers while this instance holds the lease, with a new writer in each term. Looks on at other times:
 * then `health` tells what the writer of another instance meets. Its own writer notes that in the journal,
 * unless it only removes rows.
 */
export function createSiteDelivery(
  options: SiteDeliveryOptions,
  parts: DeliveryOverrides = {},
): Leaseholder {
  const { journal, health, events, removesOnly = false } = options
  const world = { ...realWorld, ...parts }
  const { clock } = world
  const delivers = () => holder.holds
  const share = options.account?.join(delivers) ?? soleShare(options, clock, delivers)
  const noting = removesOnly
    ? undefined
    : noteDelivery(events, health, journal.delivery, clock, delivers)
  const holder: Leaseholder = new Leaseholder({
    lease: journal.lease,
    clock,
    events,
    newWriter,
    lookOn: () => unlessUnavailable(lookOn()).catch((it: unknown) => events.deliveryFailed(it)),
  })
  return holder

  function newWriter(): Pick<Writer, 'start' | 'stop'> {
    const writer = createWriter({ ...options, events: noting?.events ?? events, share }, parts)
    const ended = new AbortController()
    let sending: ReturnType<typeof startMessages> | undefined
    return {
      start: () => {
        writer.start()
        void noting?.repeat(ended.signal)
        const { messages } = options
        const { noticeTimes: times } = parts
        sending = messages && startMessages(messages, { world, delivers, times })
      },
      stop: async (graceMs) => {
        await Promise.all([writer.stop(graceMs), sending?.stop(graceMs)])
        ended.abort()
      },
    }
  }

  async function lookOn(): Promise<void> {
    const note = await readDeliveryNote(journal.reader)
    const mailNote = await readMailNote(journal.reader)
    // A slow answer is from before this instance took over.
    if (!holder.holds) {
      if (note) followNote(note, health)
      if (health.mail.state !== 'off')
        health.mail = mailNote ? { state: 'failing', ...mailNote } : { state: 'ok' }
    }
    for (const { key, host } of options.messages?.site.endpoints ?? []) {
      const record = await journal.webhooks.endpoint(key)
      if (record && !holder.holds) followWebhook(health, key, host, record)
    }
  }
}
