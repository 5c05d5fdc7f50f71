import type { Clock } from '../../platform/clock.ts'
import { columns } from '../../signup/row.ts'
import { refusalWords } from '../../signup/trouble.ts'
import { headerFinding } from '../header.ts'
import type { Expected } from '../inspection.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'
import { fieldIn, listIn, numberIn } from './answer.ts'
import type { Access } from './failure.ts'
import { callFinding } from './failure-finding.ts'
import { FirstRows } from './first-rows.ts'
import { placeOf } from './place.ts'
import { ReadFailed, type SheetsApi } from './sheets-api.ts'
import { findSheet, readSheets } from './sheets.ts'

const { ok, fault } = findingsOf('tabs')

/** Their first rows are read with at most two calls. */
const tabsMax = 20

/** Checks the tabs that get rows. @param spreadsheet a `Spreadsheet` resource with its protections */
export async function checkTabs(
  spreadsheet: unknown,
  expected: Expected,
  {
    api,
    access,
    clock,
  }: { readonly api: SheetsApi; readonly access: Access; readonly clock: Clock },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const sheets = readSheets(spreadsheet)
  const names = expected.tabs.slice(0, tabsMax)
  const tabs = names.map((name) => ({ name, sheet: findSheet(sheets, name) }))
  const existing = tabs.flatMap(({ sheet }) => (sheet?.isGrid ? [sheet] : []))
  const firstRows = new FirstRows(api, clock)
  try {
    await firstRows.look(existing, signal)
  } catch (error) {
    if (error instanceof ReadFailed) return [callFinding('tabs', error.failure)]
    throw error
  }
  const closed = protectedSheets(spreadsheet)
  return tabs.map(({ name, sheet }) => {
    const words = `the tab ${JSON.stringify(sheet?.title ?? name)}`
    if (!sheet) return ok(`${words} is made with its first signup`)
    if (!sheet.isGrid) {
      const hint = 'Rename that tab. Rollcall then makes a new tab with cells for its signups.'
      return fault(`${words} is a chart or has no cells`, hint)
    }
    if (closed.has(sheet.sheetId)) {
      return fault(
        `${refusalWords.protectedTab}: ${words} takes no rows from ${access.email}`,
        `Under Data > Protect sheets and ranges, remove the protection, or add ${access.email} to those who may edit.`,
      )
    }
    const firstRow = firstRows.get(sheet.sheetId)
    if (!firstRow) return ok(`${words} is empty and gets the header row with its first signup`)
    const { header } = placeOf(sheet.tables, firstRow, expected.own, true)
    return headerFinding(words, header, expected.own)
  })
}

/** The field mask, inside of `sheets`, for what `protectedSheets` reads. */
export const protectionFields =
  'protectedRanges(range(endRowIndex,startColumnIndex),warningOnly,unprotectedRanges(startRowIndex),requestingUserCanEdit)'

/**
 * The ids of the sheets of a `Spreadsheet` resource that get no rows from us, because a protection reaches
 * down to their last row. People may protect other rows, such as the header, and a range with exceptions
 * may let rows through.
 */
export function protectedSheets(spreadsheet: unknown): ReadonlySet<number> {
  const closed = listIn(spreadsheet, 'sheets').filter((sheet) => {
    const rowCount = numberIn(sheet, 'properties', 'gridProperties', 'rowCount')
    return listIn(sheet, 'protectedRanges').some((protection) => {
      const isOpen =
        fieldIn(protection, 'requestingUserCanEdit') === true ||
        fieldIn(protection, 'warningOnly') === true ||
        listIn(protection, 'unprotectedRanges').length > 0
      const end = Number(fieldIn(protection, 'range', 'endRowIndex') ?? Infinity)
      const column = numberIn(protection, 'range', 'startColumnIndex')
      return !isOpen && end >= rowCount && column < columns.length
    })
  })
  return new Set(closed.map((sheet) => numberIn(sheet, 'properties', 'sheetId')))
}
