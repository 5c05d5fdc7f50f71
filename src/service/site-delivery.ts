import type { Account, AccountShare } from '../delivery/account.ts'
import type { BatchAllowance } from '../delivery/batch-allowance.ts'
import { followNote, noteDelivery } from '../delivery/delivery-note.ts'
import { Leaseholder, type LeaseholderOptions } from '../delivery/leaseholder.ts'
import { Writer } from '../delivery/writer.ts'
import { readDeliveryNote, readMailNote } from '../journal/contracts/delivery-log.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { WatchTimes } from '../alerts/watch.ts'
import { comparisonOf } from '../operations/compare.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import { followWebhook } from '../ops/webhook-events.ts'
import { endpointKeyOf } from '../outbox/webhook/endpoint.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type MessageOptions, startMessages } from './site-messages.ts'
import { accountOf, connectSpreadsheet, type Destination } from './spreadsheets.ts'
import { realWorld, type World } from './world.ts'

export interface WriterOptions extends Destination {
  /** Whether to end the frozen batch and to remove rows only. */
  readonly removesOnly?: boolean
  /** What the site gets of its account; when it is left out, it has the account for itself. */
  readonly share?: AccountShare | undefined
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
  const { journal, events, removesOnly = false } = options
  const { clock, random } = world
  const { share = soleAccount(options, clock)?.join() } = options
  const spreadsheet = wrap(connectSpreadsheet({ ...options, share }, world))
  return new Writer({
    journal: journal.delivery,
    erasure: journal.erasure,
    removesOnly,
    arrivals: () => comparisonOf(journal.compared),
    events,
    clock,
    random,
    spreadsheet,
    allowance: spreadsheet.profile.hasQuota && share ? share.allowance : endless,
    lookEveryMs,
  })
}

/** The account of a site that shares it with none; undefined for the local workbook. */
function soleAccount(
  { spreadsheet, journal }: Pick<WriterOptions, 'spreadsheet' | 'journal'>,
  clock: World['clock'],
): Account | undefined {
  return spreadsheet.kind === 'google' ? accountOf(spreadsheet, journal, clock, 1) : undefined
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
  /** As in `LeaseholderOptions`. */
  readonly replaced?: LeaseholderOptions['replaced']
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
  const { journal, health, events, removesOnly = false, replaced } = options
  const world = { ...realWorld, ...parts }
  const { clock } = world
  const delivers = () => holder.holds
  const share = (options.account ?? soleAccount(options, clock))?.join(delivers)
  const noting = removesOnly
    ? undefined
    : noteDelivery(events, health, journal.delivery, clock, delivers)
  const holder: Leaseholder = new Leaseholder({
    lease: journal.lease,
    clock,
    events,
    newWriter,
    lookOn: () => unlessUnavailable(lookOn()).catch((it: unknown) => events.deliveryFailed(it)),
    replaced,
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
        sending =
          messages && startMessages(messages, { journal, health, events, world, delivers, times })
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
    for (const { url } of options.messages?.endpoints ?? []) {
      const key = endpointKeyOf(url)
      const record = await journal.webhooks.endpoint(key)
      if (record && !holder.holds) followWebhook(health, key, new URL(url).host, record)
    }
    // Learns the default tab's name.
    await journal.intake.cursors([])
  }
}
