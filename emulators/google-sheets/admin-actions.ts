import { z } from 'zod'
import { ApiError } from './api-error.ts'
import type { EmulatedGoogle } from './emulator.ts'
import type { SpreadsheetHandle } from './spreadsheet-handle.ts'

const title = z.string()
const row = z.number().int().positive()
const size = z.number().int().positive()
const value = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.object({ formula: z.string() }).strict(),
])
const rows = z.array(z.array(value))

interface Action {
  run(spreadsheet: SpreadsheetHandle, given: unknown): unknown
}

function action<T>(
  schema: z.ZodType<T>,
  run: (spreadsheet: SpreadsheetHandle, given: T) => unknown,
): Action {
  return { run: (spreadsheet, given) => run(spreadsheet, schema.parse(given)) }
}

/** What a person does to a spreadsheet, by the name in `POST /emulator/spreadsheets/{id}/{name}`. */
const actions: Readonly<Record<string, Action>> = {
  renameTab: action(z.strictObject({ title, newTitle: title }), (spreadsheet, given) =>
    spreadsheet.renameTab(given.title, given.newTitle),
  ),
  deleteTab: action(z.strictObject({ title }), (spreadsheet, given) =>
    spreadsheet.deleteTab(given.title),
  ),
  addTab: action(
    z.strictObject({ title, rows: rows.optional(), sheetId: z.number().int().optional() }),
    (spreadsheet, given) => ({
      sheetId: spreadsheet.addTab(given.title, given.rows, given.sheetId),
    }),
  ),
  appendRows: action(z.strictObject({ title, rows }), (spreadsheet, given) =>
    spreadsheet.appendRows(given.title, given.rows),
  ),
  editCell: action(z.strictObject({ title, cell: z.string(), value }), (spreadsheet, given) =>
    spreadsheet.editCell(given.title, given.cell, given.value),
  ),
  sortRows: action(
    z.strictObject({
      title,
      column: z.number().int().nonnegative(),
      firstRow: row.default(2),
      descending: z.boolean().default(false),
    }),
    (spreadsheet, given) => spreadsheet.sortRows(given.title, given.column, given),
  ),
  insertRows: action(
    z.strictObject({ title, above: row, count: size.default(1) }),
    (spreadsheet, given) => spreadsheet.insertRows(given.title, given.above, given.count),
  ),
  deleteRows: action(
    z.strictObject({ title, from: row, count: size.default(1) }),
    (spreadsheet, given) => spreadsheet.deleteRows(given.title, given.from, given.count),
  ),
  insertColumns: action(
    z.strictObject({ title, before: z.number().int().nonnegative(), count: size.default(1) }),
    (spreadsheet, given) => spreadsheet.insertColumns(given.title, given.before, given.count),
  ),
  convertToTable: action(
    z.strictObject({
      title,
      cells: z.string().optional(),
      types: z.record(z.string(), z.string()).default({}),
      footerRows: z.number().int().nonnegative().default(0),
    }),
    (spreadsheet, { title: tab, cells, ...given }) =>
      spreadsheet.convertToTable(tab, cells === undefined ? given : { ...given, cells }),
  ),
  revertTables: action(z.strictObject({ title }), (spreadsheet, given) =>
    spreadsheet.revertTables(given.title),
  ),
  protectTab: action(
    z.strictObject({ title, editors: z.array(z.string()).default([]) }),
    (spreadsheet, given) => spreadsheet.protectTab(given.title, given.editors),
  ),
  unprotectTab: action(z.strictObject({ title }), (spreadsheet, given) =>
    spreadsheet.unprotectTab(given.title),
  ),
  share: action(
    z.strictObject({ email: z.string(), role: z.enum(['editor', 'viewer', 'none']) }),
    (spreadsheet, given) => spreadsheet.share(given.email, given.role),
  ),
  resizeTab: action(
    z.union([
      z.strictObject({ title, rowCount: size, columnCount: size }),
      z.strictObject({ title, rowCount: size }),
      z.strictObject({ title, columnCount: size }),
    ]),
    (spreadsheet, { title: tab, ...grid }) => spreadsheet.resizeTab(tab, grid),
  ),
  delete: action(z.strictObject({}), (spreadsheet) => spreadsheet.delete()),
  copy: action(z.strictObject({ id: z.string().optional() }), (spreadsheet, given) => ({
    id: spreadsheet.copy(given.id).id,
  })),
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
