import type { sheets_v4 } from '@googleapis/sheets'
import { invalidArgument } from './api-error.ts'
import type { Grid } from './state.ts'

/** A rectangle of cells, from 0, without its end row and column. */
export interface Box {
  readonly startRow: number
  readonly endRow: number
  readonly startColumn: number
  readonly endColumn: number
}

/** The cells of a GridRange inside the grid. Missing sides are those of the grid. */
export function boxOf(
  range: sheets_v4.Schema$GridRange,
  grid: Pick<Grid, 'rowCount' | 'columnCount'>,
): Box {
  const box = {
    startRow: range.startRowIndex ?? 0,
    endRow: Math.min(range.endRowIndex ?? grid.rowCount, grid.rowCount),
    startColumn: range.startColumnIndex ?? 0,
    endColumn: Math.min(range.endColumnIndex ?? grid.columnCount, grid.columnCount),
  }
  if (box.startRow < 0 || box.startColumn < 0) {
    throw invalidArgument('range start indexes must not be negative.')
  }
  return box
}

/** The GridRange in an answer, which leaves out a sheetId of 0, but no other zeros. */
export function renderRange(range: sheets_v4.Schema$GridRange): sheets_v4.Schema$GridRange {
  const { sheetId, ...sides } = range
  return sheetId ? { sheetId, ...sides } : sides
}

export function intersects(left: Box, right: Box): boolean {
  return (
    left.startRow < right.endRow &&
    right.startRow < left.endRow &&
    left.startColumn < right.endColumn &&
    right.startColumn < left.endColumn
  )
}

/** Inserted (`count` > 0) or deleted (`count` < 0) rows or columns. */
export interface Shift {
  readonly dimension: 'ROWS' | 'COLUMNS'
  readonly at: number
  readonly count: number
}

/** An index after a shift; `undefined` when it was deleted. */
function shiftIndex(index: number, { at, count }: Shift): number | undefined {
  if (index < at) return index
  if (count < 0 && index < at - count) return undefined
  return index + count
}

/** A range after a shift; `undefined` when all of it was deleted. */
export function shiftRange<T extends sheets_v4.Schema$GridRange>(
  range: T,
  shift: Shift,
): T | undefined {
  const [startName, endName] =
    shift.dimension === 'ROWS'
      ? (['startRowIndex', 'endRowIndex'] as const)
      : (['startColumnIndex', 'endColumnIndex'] as const)
  const start = range[startName]
  const end = range[endName]
  const shifted = { ...range }
  if (typeof start === 'number') shifted[startName] = shiftIndex(start, shift) ?? shift.at
  if (typeof end === 'number') {
    const last = shiftIndex(end - 1, shift)
    shifted[endName] = last === undefined ? shift.at : last + 1
  }
  const [newStart, newEnd] = [shifted[startName] ?? 0, shifted[endName] ?? Infinity]
  return newStart < newEnd ? shifted : undefined
}
