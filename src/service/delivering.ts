import type { Account } from '../delivery/account.ts'
import type { Writer } from '../delivery/writer.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { Watch, type WatchOptions } from '../alerts/watch.ts'
import type { Health } from '../ops/health.ts'
import { createDelivery, type DeliveryOptions, type DeliveryOverrides } from './delivery.ts'
import { followNote, noteDelivery, readDeliveryNote } from './delivery-note.ts'
import { Leaseholder, type LeaseholderOptions } from '../delivery/leaseholder.ts'
import { realWorld } from './world.ts'

export interface DeliveringOptions extends Omit<DeliveryOptions, 'delivers' | 'share'> {
  readonly journal: Journal
  readonly health: Health
  /** The account that the site shares with others. */
  readonly account?: Account | undefined
  /** Whom to tell when delivery does not work; nobody when it is left out. */
  readonly notices?: Pick<WatchOptions, 'site' | 'receiver' | 'events'>
  /** As in `LeaseholderOptions`. */
  readonly replaced?: LeaseholderOptions['replaced']
}

/**
 * Delivers while this instance holds the lease, with a new writer in each term. Looks on at other times:
 * then `health` tells what the writer of another instance meets. Its own writer notes that in the journal,
 * unless it only removes rows.
 */
export function createDelivering(
  options: DeliveringOptions,
  parts: DeliveryOverrides = {},
): Leaseholder {
  const { journal, health, events, removesOnly = false, replaced, account } = options
  const world = { ...realWorld, ...parts }
  const { clock } = world
  const delivers = () => holder.holds
  const share = account?.join(delivers)
  const noting = removesOnly
    ? undefined
    : noteDelivery(events, health, journal.delivery, clock, delivers)
  const holder: Leaseholder = new Leaseholder({
    lease: journal.lease,
    clock,
    events,
    newWriter,
    lookOn,
    replaced,
  })
  return holder

  function newWriter(): Pick<Writer, 'start' | 'stop'> {
    const { writer } = createDelivery(
      { ...options, events: noting?.events ?? events, delivers, share },
      parts,
    )
    const ended = new AbortController()
    let watch: Watch | undefined
    return {
      start: () => {
        writer.start()
        void noting?.repeat(ended.signal)
        watch = options.notices && watchFor(options.notices)
      },
      stop: async (graceMs) => {
        await Promise.all([writer.stop(graceMs), watch?.[Symbol.asyncDispose]()])
        ended.abort()
      },
    }
  }

  function watchFor(notices: NonNullable<DeliveringOptions['notices']>): Watch {
    const time = journal.time ?? clock
    const { noticeTimes: times } = parts
    const http = world.receiverHttp
    return new Watch({ ...world, ...notices, http, health, journal, time, delivers, times })
  }

  async function lookOn(): Promise<void> {
    try {
      const note = await readDeliveryNote(journal.reader)
      // A slow answer is from before this instance took over.
      if (note && !holder.holds) followNote(note, health)
      // Learns the default tab's name.
      await journal.intake.cursors([])
    } catch (error) {
      // Intake reports a failing journal.
      if (!(error instanceof JournalUnavailable)) events.deliveryFailed(error)
    }
  }
}
