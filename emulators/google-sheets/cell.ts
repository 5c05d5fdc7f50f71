import type { sheets_v4 } from '@googleapis/sheets'
import { LimitError } from './api-error.ts'
import { mergeFields, type FieldMask } from './field-mask.ts'

/**
 * A cell as it is kept: plain text, numbers and booleans as themselves, anything with a format, a
 * note or a formula as CellData, `undefined` when empty. Hundreds of thousands of rows stay small.
 */
export type StoredCell = string | number | boolean | Readonly<sheets_v4.Schema$CellData> | undefined
export type Row = readonly StoredCell[]

/** Google's limit of one cell, in UTF-16 units. */
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

/** The cheapest form of a cell. Text over 50,000 characters is refused with Google's words. */
export function packCell(data: sheets_v4.Schema$CellData): StoredCell {
  const { userEnteredValue, userEnteredFormat, note, dataValidation, textFormatRuns } = data
  const value = packValue(userEnteredValue)
  if (typeof value === 'object' || userEnteredFormat || note || dataValidation || textFormatRuns) {
    const packed: sheets_v4.Schema$CellData = {}
    if (value !== undefined && userEnteredValue) packed.userEnteredValue = userEnteredValue
    if (userEnteredFormat) packed.userEnteredFormat = userEnteredFormat
    if (note) packed.note = note
    if (dataValidation) packed.dataValidation = dataValidation
    if (textFormatRuns) packed.textFormatRuns = textFormatRuns
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

/** A cell after a write with a field mask; fields that the mask names and `data` lacks are cleared. */
export function writeCell(
  cell: StoredCell,
  data: sheets_v4.Schema$CellData,
  mask: FieldMask,
): StoredCell {
  return packCell(mergeFields(unpackCell(cell), data, mask))
}

/** Whether the cell counts as data for the place of the next append: it has a value. */
export function hasValue(cell: StoredCell, falseIsData: boolean): boolean {
  if (cell === undefined) return false
  if (typeof cell !== 'object') return falseIsData || cell !== false
  const value = cell.userEnteredValue
  return value !== undefined && (falseIsData || value.boolValue !== false)
}

/** What a person sees in the cell. Formulas are not calculated and show as `#ERROR!`. */
export function displayText(cell: StoredCell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'object') {
    if (typeof cell.userEnteredValue?.formulaValue === 'string') return '#ERROR!'
    const plain = packValue(cell.userEnteredValue)
    if (typeof plain === 'number' && cell.userEnteredFormat?.numberFormat?.type === 'DATE') {
      return new Date(serialEpochMs + plain * dayMs).toISOString().slice(0, 10)
    }
    return typeof plain === 'object' ? '' : displayText(plain)
  }
  return typeof cell === 'boolean' ? String(cell).toUpperCase() : String(cell)
}

const dayMs = 86_400_000
/** Day 0 of spreadsheet dates: 30 December 1899. */
const serialEpochMs = Date.UTC(1899, 11, 30)

/** What typing a text into the sheet makes of it (`USER_ENTERED`); only the common cases. */
export function typedCell(typed: string): StoredCell {
  if (typed.startsWith("'")) return typed.slice(1)
  if (typed.startsWith('=') && typed.length > 1) {
    return { userEnteredValue: { formulaValue: typed } }
  }
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(typed)) return Number(typed)
  if (/^(true|false)$/i.test(typed)) return typed.toLowerCase() === 'true'
  if (/^\d{4}-\d{2}-\d{2}$/.test(typed) && !Number.isNaN(Date.parse(typed))) {
    return {
      userEnteredValue: { numberValue: (Date.parse(typed) - serialEpochMs) / dayMs },
      userEnteredFormat: { numberFormat: { type: 'DATE', pattern: 'yyyy-mm-dd' } },
    }
  }
  return typed === '' ? undefined : typed
}

/** The cell in an answer with grid data: with what was calculated from the entered parts. */
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
