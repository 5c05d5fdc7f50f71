import { z } from 'zod'
import { ApiError } from './api-error.ts'
import type { EmulatedGoogle } from './emulator.ts'
import type { SpreadsheetHandle } from './spreadsheet-handle.ts'

const title = z.string()
/** Rows are counted from 1, columns from 0, as the methods of the handle do. */
const row = z.number().int().positive()
const column = z.number().int().nonnegative()
const size = z.number().int().positive()
const value = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.strictObject({ formula: z.string() }),
])
const rows = z.array(z.array(value))

interface Action {
  run(spreadsheet: SpreadsheetHandle, given: unknown): unknown
}

function action<T>(
  parameters: z.ZodType<T>,
  run: (spreadsheet: SpreadsheetHandle, given: T) => unknown,
): Action {
  return { run: (spreadsheet, given) => run(spreadsheet, parameters.parse(given)) }
}

/**
 * What a person does to a spreadsheet, by the name in `POST /emulator/spreadsheets/{id}/{name}`: the
 * methods of `SpreadsheetHandle`, with their parameters as a JSON array.
 */
const actions: Readonly<Record<string, Action>> = {
  renameTab: action(z.tuple([title, title]), (sheet, given) => sheet.renameTab(...given)),
  deleteTab: action(z.tuple([title]), (sheet, given) => sheet.deleteTab(...given)),
  addTab: action(z.tuple([title, rows]), (sheet, given) => sheet.addTab(...given)),
  appendRows: action(z.tuple([title, rows]), (sheet, given) => sheet.appendRows(...given)),
  editCell: action(z.tuple([title, z.string(), value]), (sheet, given) => sheet.editCell(...given)),
  sortRows: action(z.tuple([title, column]), (sheet, given) => sheet.sortRows(...given)),
  insertRows: action(z.tuple([title, row, size]), (sheet, given) => sheet.insertRows(...given)),
  deleteRows: action(z.tuple([title, row, size]), (sheet, given) => sheet.deleteRows(...given)),
  insertColumns: action(z.tuple([title, column, size]), (sheet, given) =>
    sheet.insertColumns(...given),
  ),
  convertToTable: action(z.tuple([title]), (sheet, given) => sheet.convertToTable(...given)),
  revertTables: action(z.tuple([title]), (sheet, given) => sheet.revertTables(...given)),
  protectTab: action(z.tuple([title]), (sheet, given) => sheet.protectTab(...given)),
  unprotectTab: action(z.tuple([title]), (sheet, given) => sheet.unprotectTab(...given)),
  share: action(z.tuple([z.string(), z.enum(['editor', 'viewer', 'none'])]), (sheet, given) =>
    sheet.share(...given),
  ),
  delete: action(z.tuple([]), (sheet) => sheet.delete()),
}

export function runAction(
  google: EmulatedGoogle,
  id: string,
  name: string,
  given: unknown,
): unknown {
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!found) {
    const known = Object.keys(actions).join(', ')
    throw new ApiError(404, 'NOT_FOUND', `There is no action "${name}". Known: ${known}.`)
  }
  return found.run(google.spreadsheet(id), given) ?? {}
}
