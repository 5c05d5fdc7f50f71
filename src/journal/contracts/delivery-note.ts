import type { AsideTab, DeliveryHealth, Warning } from '../../signup/trouble.ts'
import type { Reader } from './reader.ts'

/**
 * How delivery fares, noted in the journal when it changes, so that commands and other instances can
 * tell. It is as the writer saw it last, which may not run any more.
 */
export interface DeliveryNote {
  readonly delivery: DeliveryHealth
  readonly tabs: readonly AsideTab[]
  readonly warnings: readonly Warning[]
  /** When it became so. ISO 8601. */
  readonly since: string
}

/** The name of the fact that holds the note. */
export const deliveryFact = 'delivery'

/** The last note; undefined when delivery has never run. */
export async function readDeliveryNote(
  reader: Pick<Reader, 'fact'>,
): Promise<DeliveryNote | undefined> {
  const text = await reader.fact(deliveryFact)
  return text === undefined ? undefined : (JSON.parse(text) as DeliveryNote)
}
