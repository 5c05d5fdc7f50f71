import type { Finding } from '../platform/finding.ts'
import type { OwnColumn } from '../signup/row.ts'

/**
 * Looks at a spreadsheet and yields what it finds, in a fixed order. Changes nothing that a person sees,
 * and throws nothing for what the outside world may do. Runs beside the writer.
 */
export type Inspect = (expected: Expected, signal: AbortSignal) => AsyncIterable<Finding>

/** What the service expects of its spreadsheet. */
export interface Expected {
  /** The tabs that get rows, the default tab first. */
  readonly tabs: readonly string[]
  readonly own: readonly OwnColumn[]
  /** Whether a batch with this fingerprint is of the service's journal. */
  readonly isOwn: (fingerprint: string) => Promise<boolean>
}
