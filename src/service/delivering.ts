import type { ComparableJournal } from '../journal/journal.ts'
import { JournalUnavailable } from '../journal/unavailable.ts'
import type { Health } from '../ops/health.ts'
import { createDelivery, type DeliveryOptions, type DeliveryOverrides } from './delivery.ts'
import { followNote } from './delivery-note.ts'
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
    lookOn: () => lookOn(journal, health),
  })
  return holder
}

async function lookOn(
  { intake, reader }: Pick<ComparableJournal, 'intake' | 'reader'>,
  health: Health,
): Promise<void> {
  try {
    await followNote(reader, health)
    // Learns the default tab's name.
    await intake.cursors([])
  } catch (error) {
    // Intake reports a failing journal.
    if (!(error instanceof JournalUnavailable)) throw error
  }
}
