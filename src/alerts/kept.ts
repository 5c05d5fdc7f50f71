import { type DeliveryLog, noticesFact } from '../journal/contracts/delivery-log.ts'
import type { Millis } from '../signup/signup.ts'
import type { WaitingMessage } from './attempt.ts'
import type { Outage } from './outage.ts'

/** What the journal keeps of a site's notices. */
export interface Kept {
  readonly outage?: Outage | undefined
  /** Notices that nobody has received, the oldest first. */
  readonly waiting: readonly WaitingMessage[]
  /** The last try, when it failed. */
  readonly failed?: FailedTry | undefined
}

export interface FailedTry {
  readonly at: Millis
  /** How often this notice was tried. */
  readonly tries: number
  /** Names at most the host of the receiver. */
  readonly reason: string
}

/** @throws JournalUnavailable */
export async function readKept(journal: Pick<DeliveryLog, 'fact'>): Promise<Kept> {
  const text = await journal.fact(noticesFact)
  return text === undefined ? { waiting: [] } : (JSON.parse(text) as Kept)
}
