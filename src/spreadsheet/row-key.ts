import { isRecord } from '../signup/json.ts'
import { columns } from '../signup/row.ts'
import type { Millis } from '../signup/signup.ts'
import { type Header, readHeader } from './header.ts'
import type { RowKey } from './spreadsheet.ts'

const emailIndex = columns.indexOf('Email')
const timestampIndex = columns.indexOf('Timestamp')
const metadataIndex = columns.indexOf('Metadata')

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Whether a cell has a timestamp as `toRow` writes it. */
export function isTimestamp(cell: string): boolean {
  return timestamp.test(cell)
}

/** What a row is known by; undefined for the header row, and for one without address and timestamp. */
export function rowKey(cells: readonly string[], header: Header): RowKey | undefined {
  const email = cells[header.at[emailIndex] ?? -1] ?? ''
  const at = millisOf(timeIn(cells, header))
  // A row that was emptied in place has spaces.
  const isNothing = email.trim() === '' || readHeader([email]).kind === 'named'
  return isNothing && at === undefined ? undefined : { email, at }
}

/** The columns that `rowKey` reads, from 0, for a header. */
export function keyColumns({ at }: Header): readonly number[] {
  const time = at[timestampIndex] ?? -1
  const wanted = [at[emailIndex] ?? -1, time >= 0 ? time : (at[metadataIndex] ?? -1)]
  return wanted.filter((column) => column >= 0)
}

/** A tab without a column for the timestamp has it in Metadata. */
function timeIn(cells: readonly string[], { at }: Header): string {
  const time = at[timestampIndex] ?? -1
  return time >= 0 ? (cells[time] ?? '') : homelessTime(cells[at[metadataIndex] ?? -1] ?? '')
}

/** The timestamp that `arrange` put into the metadata. A visitor's own key of that name comes before it. */
function homelessTime(metadata: string): string {
  if (!metadata.includes('"Timestamp')) return ''
  let value: unknown
  try {
    value = JSON.parse(metadata)
  } catch {
    return ''
  }
  const [, time] = Object.entries(isRecord(value) ? value : {}).findLast(([key]) =>
    /^Timestamp(?: \(signup\))*$/.test(key),
  ) ?? ['', '']
  return typeof time === 'string' ? time : ''
}

function millisOf(time: string): Millis | undefined {
  const at = isTimestamp(time) ? Date.parse(time) : NaN
  return Number.isNaN(at) ? undefined : at
}
