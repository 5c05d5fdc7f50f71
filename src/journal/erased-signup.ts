import type { ErasedSlice } from './contracts/erasure.ts'

/** What an engine knows of a signup that a tombstone covers. */
export interface ErasableSignup {
  readonly position: number
  /** `is_ignored`: 1 for a duplicate, and 2 for a signup that had its row when a backup was restored. */
  readonly isIgnored: number
  /** Whether the tab's cursor has passed it. */
  readonly isWritten: boolean
  /** Whether the frozen batch holds it. */
  readonly isFrozen: boolean
}

export interface ErasingOutcome {
  readonly kind: keyof Pick<ErasedSlice, 'unwritten' | 'written' | 'frozen'>
  /** Whether it is to get no row any more. */
  readonly isRowless: boolean
}

/** Whether a tombstone up to this position covers a signup. Later ones of the person are new. */
export function isCovered(position: number, upto: number | undefined): boolean {
  return upto !== undefined && position <= upto
}

/**
 * What becomes of a signup that a tombstone covers.
 *
 * @param restoredTo up to this position, a waiting signup of a restored journal may have a row, because
 *   the writer has not yet compared it with the spreadsheet
 */
export function outcomeOfErasing(
  { position, isIgnored, isWritten, isFrozen }: ErasableSignup,
  restoredTo: number,
): ErasingOutcome {
  if (isIgnored !== 0) return { kind: isIgnored === 2 ? 'written' : 'unwritten', isRowless: true }
  if (isFrozen) return { kind: 'frozen', isRowless: false }
  if (isWritten) return { kind: 'written', isRowless: false }
  return { kind: position <= restoredTo ? 'written' : 'unwritten', isRowless: true }
}
