import type { sheets_v4 } from '@googleapis/sheets'
import { invalidArgument } from '../api-error.ts'
import {
  assertCellsFit,
  assertSheetEditable,
  handler,
  randomId,
  sheetById,
  updateMask,
  type Batch,
} from '../batch.ts'
import { below, mergeFields } from '../field-mask.ts'
import { renderSheetProperties } from '../render.ts'
import { sheetProperties } from '../schema-types.ts'
import { newSheet, resizeGrid } from '../sheet.ts'
import type { Grid, Sheet } from '../state.ts'

const defaultRowCount = 1000
const defaultColumnCount = 26
/** Widely reported, nowhere documented. */
const titleCharactersMax = 100

const addSheet = handler('addSheet', (batch, { properties = {} }) => {
  const sheet = newSheet(
    freeSheetId(batch, properties.sheetId),
    freeTitle(batch, properties.title ?? defaultTitle(batch)),
    readGrid({
      rowCount: defaultRowCount,
      columnCount: defaultColumnCount,
      ...properties.gridProperties,
    }),
  )
  sheet.hidden = properties.hidden ?? false
  assertCellsFit(batch, sheet.grid.rowCount * sheet.grid.columnCount)
  insertSheet(batch, sheet, properties.index)
  return { addSheet: { properties: renderSheetProperties(batch.spreadsheet, sheet) } }
})

const deleteSheet = handler('deleteSheet', (batch, { sheetId }) => {
  const { spreadsheet, tx } = batch
  const sheet = sheetById(batch, sheetId, 'sheet')
  const others = spreadsheet.sheets.filter((other) => other !== sheet)
  if (others.length === 0) {
    throw invalidArgument("You can't remove all the sheets in a document.")
  }
  if (others.every((other) => other.hidden)) {
    throw invalidArgument("You can't remove all the visible sheets in a document.")
  }
  assertSheetEditable(batch, sheet)
  tx.assign(spreadsheet, 'sheets', others)
})

const updateSheetProperties = handler('updateSheetProperties', (batch, request) => {
  const { spreadsheet, tx } = batch
  const given = request.properties ?? {}
  const mask = updateMask(request.fields, sheetProperties)
  const sheet = sheetById(batch, given.sheetId, 'sheet')
  assertSheetEditable(batch, sheet)
  const wanted = mergeFields(renderSheetProperties(spreadsheet, sheet), given, mask)
  const title = wanted.title ?? ''
  if (title !== sheet.title) tx.assign(sheet, 'title', freeTitle(batch, title, sheet))
  const hidden = wanted.hidden ?? false
  if (hidden && spreadsheet.sheets.every((other) => other === sheet || other.hidden)) {
    throw invalidArgument("You can't hide all the sheets in a document.")
  }
  tx.assign(sheet, 'hidden', hidden)
  const grid = readGrid(wanted.gridProperties ?? {})
  const cells = (size: Grid) => size.rowCount * size.columnCount
  assertCellsFit(batch, cells(grid) - cells(sheet.grid))
  resizeGrid(tx, sheet, grid)
  if (below(mask, 'index') !== undefined) moveSheet(batch, sheet, given.index ?? 0)
})

export const tabRequests = [addSheet, deleteSheet, updateSheetProperties]

function insertSheet(
  { spreadsheet, tx }: Batch,
  sheet: Sheet,
  index: number | null | undefined,
): void {
  const count = spreadsheet.sheets.length
  const at = Math.max(0, Math.min(index ?? count, count))
  tx.assign(spreadsheet, 'sheets', spreadsheet.sheets.toSpliced(at, 0, sheet))
}

/** The index counts the tabs as they were before the move, so a move to the right lands one less. */
function moveSheet({ spreadsheet, tx }: Batch, sheet: Sheet, index: number): void {
  const from = spreadsheet.sheets.indexOf(sheet)
  const to = index > from ? index - 1 : index
  tx.assign(spreadsheet, 'sheets', spreadsheet.sheets.toSpliced(from, 1).toSpliced(to, 0, sheet))
}

function freeSheetId({ spreadsheet, options }: Batch, wanted: number | null | undefined): number {
  const sheetId = wanted ?? randomId(options)
  if (sheetId < 0) throw invalidArgument('sheetId must not be negative.')
  if (spreadsheet.sheets.some((sheet) => sheet.sheetId === sheetId)) {
    throw invalidArgument(`A sheet with the id ${sheetId} already exists. Please use another id.`)
  }
  return sheetId
}

function freeTitle({ spreadsheet, options }: Batch, title: string, except?: Sheet): string {
  if (title === '') throw invalidArgument('The sheet name cannot be empty.')
  if (title.length > titleCharactersMax) {
    throw invalidArgument(`The sheet name cannot be longer than ${titleCharactersMax} characters.`)
  }
  const folded = (text: string) =>
    options.titles === 'case folding' ? text.toUpperCase().toLowerCase() : text.toLowerCase()
  const same = (sheet: Sheet) => folded(sheet.title) === folded(title)
  if (spreadsheet.sheets.some((sheet) => sheet !== except && same(sheet))) {
    throw invalidArgument(
      `A sheet with the name "${title}" already exists. Please enter another name.`,
    )
  }
  return title
}

function defaultTitle({ spreadsheet }: Batch): string {
  const taken = new Set(spreadsheet.sheets.map((sheet) => sheet.title.toLowerCase()))
  let number = spreadsheet.sheets.length + 1
  while (taken.has(`sheet${number}`)) number += 1
  return `Sheet${number}`
}

/** Zeros and absent values are the same to Google; a grid needs at least one cell. */
function readGrid(given: sheets_v4.Schema$GridProperties): Grid {
  const rowCount = given.rowCount ?? 0
  const columnCount = given.columnCount ?? 0
  const frozenRowCount = given.frozenRowCount ?? 0
  const frozenColumnCount = given.frozenColumnCount ?? 0
  if (rowCount < 1 || columnCount < 1) {
    throw invalidArgument('The grid must have at least one row and one column.')
  }
  if (frozenRowCount >= rowCount && frozenRowCount > 0) {
    throw invalidArgument("You can't freeze all visible rows on the sheet.")
  }
  if (frozenColumnCount >= columnCount && frozenColumnCount > 0) {
    throw invalidArgument("You can't freeze all visible columns on the sheet.")
  }
  return {
    rowCount,
    columnCount,
    ...(frozenRowCount > 0 ? { frozenRowCount } : {}),
    ...(frozenColumnCount > 0 ? { frozenColumnCount } : {}),
  }
}
