import type { sheets_v4 } from '@googleapis/sheets'
import { LimitError } from './api-error.ts'
import { mergeFields, type FieldMask } from './field-mask.ts'

/**
 * A cell as it is kept: plain text, numbers and booleans as themselves, anything with a format or
 * a formula as CellData, `undefined` when empty. Hundreds of thousands of rows stay small.
 */
export type StoredCell = string | number | boolean | Readonly<sheets_v4.Schema$CellData> | undefined
export type Row = readonly StoredCell[]

/** Google's limit for one cell, in UTF-16 units. */
const cellCharactersMax = 50_000

export function unpackCell(cell: StoredCell): sheets_v4.Schema$CellData {
  switch (typeof cell) {
    case 'string':
      return { userEnteredValue: { stringValue: cell } }
    case 'number':
      return { userEnteredValue: { numberValue: cell } }
    case 'boolean':
      return { userEnteredValue: { boolValue: cell } }
    default:
      return cell ?? {}
  }
}

/** The smallest form of a cell. Throws for text over 50,000 characters, as Google does. */
function packCell(data: sheets_v4.Schema$CellData): StoredCell {
  const { userEnteredValue, userEnteredFormat } = data
  const value = packValue(userEnteredValue)
  if (typeof value === 'object' || userEnteredFormat) {
    const packed: sheets_v4.Schema$CellData = {}
    if (value !== undefined && userEnteredValue) packed.userEnteredValue = userEnteredValue
    if (userEnteredFormat) packed.userEnteredFormat = userEnteredFormat
    return packed
  }
  return value
}

function packValue(value: sheets_v4.Schema$ExtendedValue | undefined) {
  if (!value) return undefined
  const { stringValue, numberValue, boolValue, formulaValue } = value
  if ((stringValue ?? formulaValue ?? '').length > cellCharactersMax) {
    const limit = `Your input contains more than the maximum of ${cellCharactersMax} characters in a single cell.`
    throw new LimitError(limit)
  }
  if (typeof formulaValue === 'string') return value
  return (stringValue === '' ? undefined : stringValue) ?? numberValue ?? boolValue ?? undefined
}

/** A cell after a write. Fields that are in the mask and not in `data` are cleared. */
export function writeCell(
  cell: StoredCell,
  data: sheets_v4.Schema$CellData,
  mask: FieldMask,
): StoredCell {
  return packCell(mergeFields(unpackCell(cell), data, mask))
}

/** Whether the cell has a value. The next append goes below it. */
export function hasValue(cell: StoredCell): boolean {
  return typeof cell === 'object' ? cell.userEnteredValue !== undefined : cell !== undefined
}

/** The text that a person sees. Formulas are not calculated and show `#ERROR!`. */
export function displayText(cell: StoredCell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'object') {
    if (typeof cell.userEnteredValue?.formulaValue === 'string') return '#ERROR!'
    const plain = packValue(cell.userEnteredValue)
    return typeof plain === 'object' ? '' : displayText(plain)
  }
  return typeof cell === 'boolean' ? String(cell).toUpperCase() : String(cell)
}

/** The cell in an answer with grid data, with the calculated fields. */
export function renderCell(cell: StoredCell): sheets_v4.Schema$CellData {
  const data = unpackCell(cell)
  const value = data.userEnteredValue
  if (!value) return { ...data, ...effectiveFormat(data) }
  const effectiveValue = value.formulaValue
    ? { errorValue: { type: 'ERROR', message: 'The emulator does not calculate formulas.' } }
    : value
  return {
    userEnteredValue: value,
    effectiveValue,
    formattedValue: displayText(cell),
    ...data,
    ...effectiveFormat(data),
  }
}

function effectiveFormat(data: sheets_v4.Schema$CellData): sheets_v4.Schema$CellData {
  return data.userEnteredFormat ? { effectiveFormat: data.userEnteredFormat } : {}
}
