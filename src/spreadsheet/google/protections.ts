import { columns } from '../../signup/row.ts'
import { fieldIn, listIn, numberIn } from './answer.ts'

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
