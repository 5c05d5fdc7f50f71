import { type FillOptions, fillBatch } from '../src/delivery/fill.ts'
import type { DeliveryLog } from '../src/journal/delivery-log.ts'
import type { FrozenBatch } from '../src/signup/batch.ts'

/** Ids of markers are as long as Google takes them. */
export const markerIdMax = 2 ** 31 - 1

export interface FreezeOptions extends Partial<FillOptions> {
  /** Whether signups of this tab go into the batch: by default those of all. */
  readonly wanted?: (tab: string) => boolean
}

/** Freezes what delivery would freeze next; undefined when nothing waits. */
export async function freezeNext(
  journal: Pick<DeliveryLog, 'pending' | 'waiting' | 'freeze'>,
  { wanted = () => true, ...limits }: FreezeOptions = {},
): Promise<FrozenBatch | undefined> {
  const tabs = (await journal.pending()).filter(({ name }) => wanted(name))
  const rowBytes = (_: unknown, textBytes: number) => textBytes + 100
  const options = { rowsMax: 100, bytesMax: 1_000_000, rowBytes, ...limits }
  const { shares } = await fillBatch(journal, tabs, options)
  return shares.length === 0 ? undefined : journal.freeze(shares, markerIdMax)
}
