import type { ComparableJournal } from '../journal/journal.ts'
import { JournalUnavailable } from '../journal/unavailable.ts'
import type { Health } from '../ops/health.ts'
import { createDelivery, type DeliveryOptions, type DeliveryOverrides } from './delivery.ts'
import { followNote, readDeliveryNote } from './delivery-note.ts'
import { Leaseholder } from './leaseholder.ts'
import { realWorld } from './world.ts'

export interface DeliveringOptions extends Omit<DeliveryOptions, 'delivers'> {
  readonly journal: ComparableJournal
  readonly health: Health
}

/**
 * Delivers while this instance holds the lease, with a new writer in each term. Looks on at other times:
 * then `health` tells what the writer of another instance meets.
 */
export function createDelivering(
  options: DeliveringOptions,
  parts: DeliveryOverrides = {},
): Leaseholder {
  const { journal, health, events } = options
  const { clock } = { ...realWorld, ...parts }
  const holder: Leaseholder = new Leaseholder({
    lease: journal.lease,
    clock,
    events,
    newWriter: () => createDelivery({ ...options, delivers: () => holder.holds }, parts).writer,
    lookOn,
  })
  return holder

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
