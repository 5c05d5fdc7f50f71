import { type FillOptions, fillBatch } from '../src/delivery/fill.ts'
import type { DeliveryLog } from '../src/journal/contracts/delivery-log.ts'
import type { FrozenBatch } from '../src/signup/batch.ts'

/** The highest marker id that Google takes. */
export const markerIdMax = 2 ** 31 - 1

export interface FreezeOptions extends Partial<FillOptions> {
  /** Whether the batch gets signups of this tab. By default it gets those of all tabs. */
  readonly wanted?: (tab: string) => boolean
}

/** Freezes the batch that delivery would freeze next. Resolves with undefined when no signup waits. */
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
