import type { sheets_v4 } from '@googleapis/sheets'
import { invalidArgument, LimitError, protectedCell } from './api-error.ts'
import { parseFieldMask, type FieldMask } from './field-mask.ts'
import { boxOf, intersects, type Box } from './grid-range.ts'
import type { Kind } from './schema.ts'
import type { Caller, ModelOptions, Protection, Sheet, SpreadsheetState } from './state.ts'
import type { Transaction } from './transaction.ts'

/** The context of a request in a batch. */
export interface Batch {
  readonly spreadsheet: SpreadsheetState
  readonly tx: Transaction
  readonly caller: Caller
  readonly options: ModelOptions
}

export interface RequestHandler {
  readonly kind: string
  run(batch: Batch, request: sheets_v4.Schema$Request): sheets_v4.Schema$Response
}

/** Makes the handler of one kind of request. */
export function handler<K extends keyof sheets_v4.Schema$Request>(
  kind: K,
  run: (
    batch: Batch,
    request: NonNullable<sheets_v4.Schema$Request[K]>,
  ) => sheets_v4.Schema$Response | undefined,
): RequestHandler {
  return {
    kind,
    run(batch, request) {
      const inner = request[kind]
      if (!inner) throw invalidArgument('No request set.')
      return run(batch, inner) ?? {}
    },
  }
}

/** Finds a sheet. Google's errors say "grid" for requests about cells and "sheet" for those about tabs. */
export function sheetById(
  { spreadsheet }: Pick<Batch, 'spreadsheet'>,
  sheetId: number | null | undefined,
  noun: 'grid' | 'sheet' = 'grid',
): Sheet {
  const sheet = spreadsheet.sheets.find((candidate) => candidate.sheetId === (sheetId ?? 0))
  if (!sheet) throw invalidArgument(`No ${noun} with id: ${sheetId ?? 0}`)
  return sheet
}

/** Parses the mask of an update. Throws when it is empty or has an unknown field. */
export function updateMask(fields: string | null | undefined, of: Kind<unknown>): FieldMask {
  if (!fields) {
    throw invalidArgument(
      "At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)",
    )
  }
  const mask = parseFieldMask(fields)
  assertKnownFields(mask, of)
  return mask
}

function assertKnownFields(mask: FieldMask, of: Kind<unknown>): void {
  if (mask === 'all') return
  for (const [name, inner] of mask) {
    const field = of.field(name)
    if (!field) throw invalidArgument(`Invalid field: ${name}`)
    assertKnownFields(inner, field)
  }
}

/** Throws when the caller may not change these cells. */
export function assertEditable({ caller, spreadsheet }: Batch, sheet: Sheet, box: Box): void {
  for (const protection of sheet.protections) {
    const isInside = intersects(boxOf(protection.range, unbounded), box)
    if (isInside && !mayEdit(protection, spreadsheet, caller)) throw protectedCell()
  }
}

/** Throws when the caller may not change the tab itself, because all of it is protected. */
export function assertSheetEditable({ caller, spreadsheet }: Batch, sheet: Sheet): void {
  for (const protection of sheet.protections) {
    const { startRow, endRow, startColumn, endColumn } = boxOf(protection.range, unbounded)
    const isWhole = startRow + startColumn === 0 && endRow === Infinity && endColumn === Infinity
    if (isWhole && !mayEdit(protection, spreadsheet, caller)) throw protectedCell()
  }
}

const unbounded = { rowCount: Infinity, columnCount: Infinity }

export function mayEdit(
  { users }: Protection,
  { sharedWith }: SpreadsheetState,
  { email }: Caller,
): boolean {
  return users.has(email) || sharedWith.get(email) === 'owner'
}

/** Throws when so many more cells would exceed the limit of the spreadsheet. */
export function assertCellsFit({ spreadsheet, options }: Batch, addedCells: number): void {
  if (addedCells <= 0) return
  const cells = spreadsheet.sheets.reduce(
    (sum, { grid }) => sum + grid.rowCount * grid.columnCount,
    0,
  )
  if (cells + addedCells > options.cellsMax) {
    throw new LimitError(
      `This action would increase the number of cells in the workbook above the limit of ${options.cellsMax} cells.`,
    )
  }
}

export function randomId(options: ModelOptions): number {
  return 1 + Math.floor(options.random() * 2_147_483_646)
}
