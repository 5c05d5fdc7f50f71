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
import { mergeFields } from '../field-mask.ts'
import { renderSheetProperties } from '../render.ts'
import { sheetProperties } from '../schema-requests.ts'
import { newSheet, resizeGrid } from '../sheet.ts'
import type { Grid, Sheet } from '../state.ts'

const defaultRowCount = 1000
const defaultColumnCount = 26
/** People have reported this limit. Google does not document it. */
const titleCharactersMax = 100

const addSheet = handler('addSheet', (batch, { properties = {} }) => {
  const sheet = newSheet(
    freeSheetId(batch, properties.sheetId),
    freeTitle(batch, properties.title),
    readGrid({
      rowCount: defaultRowCount,
      columnCount: defaultColumnCount,
      ...properties.gridProperties,
    }),
  )
  sheet.hidden = properties.hidden ?? false
  assertCellsFit(batch, sheet.grid.rowCount * sheet.grid.columnCount)
  batch.tx.assign(batch.spreadsheet, 'sheets', [...batch.spreadsheet.sheets, sheet])
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
  if (wanted.title !== sheet.title) {
    tx.assign(sheet, 'title', freeTitle(batch, wanted.title, sheet))
  }
  const hidden = wanted.hidden ?? false
  if (hidden && spreadsheet.sheets.every((other) => other === sheet || other.hidden)) {
    throw invalidArgument("You can't hide all the sheets in a document.")
  }
  tx.assign(sheet, 'hidden', hidden)
  const grid = readGrid(wanted.gridProperties ?? {})
  const cells = (size: Grid) => size.rowCount * size.columnCount
  assertCellsFit(batch, cells(grid) - cells(sheet.grid))
  resizeGrid(tx, sheet, grid)
})

export const tabRequests = [addSheet, deleteSheet, updateSheetProperties]

function freeSheetId({ spreadsheet, options }: Batch, wanted: number | null | undefined): number {
  const sheetId = wanted ?? randomId(options)
  if (spreadsheet.sheets.some((sheet) => sheet.sheetId === sheetId)) {
    throw invalidArgument(`A sheet with the id ${sheetId} already exists. Please use another id.`)
  }
  return sheetId
}

function freeTitle(
  { spreadsheet, options }: Batch,
  title: string | null | undefined,
  except?: Sheet,
): string {
  if (!title) throw invalidArgument('The sheet name cannot be empty.')
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

/** Reads a grid. For Google, zero is the same as absent, and a grid needs at least one cell. */
function readGrid(given: sheets_v4.Schema$GridProperties): Grid {
  const rowCount = given.rowCount ?? 0
  const columnCount = given.columnCount ?? 0
  const frozenRowCount = given.frozenRowCount ?? 0
  if (rowCount < 1 || columnCount < 1) {
    throw invalidArgument('The grid must have at least one row and one column.')
  }
  if (frozenRowCount >= rowCount && frozenRowCount > 0) {
    throw invalidArgument("You can't freeze all visible rows on the sheet.")
  }
  return { rowCount, columnCount, frozenRowCount }
}
