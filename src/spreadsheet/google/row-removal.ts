import type { Removed, RowToRemove } from '../spreadsheet.ts'
import { WantedRows } from '../wanted-rows.ts'
import { type FoundRow, searchRows } from './row-search.ts'
import type { Sheet, Table } from './sheets.ts'
import type { SheetsApi } from './sheets-api.ts'

/** How many rows one call removes at most. */
const rowsPerCall = 100

/**
 * Removes rows with one call, after a search. Nothing rests on where the search has seen a row: people
 * sort, insert and delete at any time, and the call may be applied late or twice. So each row is removed
 * by four requests of one atomic call:
 *
 * 1. `insertDimension` inserts an empty row where the row was seen, which moves that one down.
 * 2. `updateCells` writes the address and the timestamp into it.
 * 3. `deleteDuplicates` compares these two cells of the two rows, and removes the lower row only when
 *    they are equal. If another row is there by now, it stays. In a table it removes the table's cells.
 * 4. `deleteDimension` deletes the row that the first request has inserted.
 *
 * Google does not document whether `deleteDuplicates` leaves empty cells or removes the row of the
 * sheet. No request depends on it: rows are removed from the last one up.
 *
 * @throws ReadFailed
 */
export async function removeRows(
  api: SheetsApi,
  rows: readonly RowToRemove[],
  signal: AbortSignal,
): Promise<Removed> {
  const wanted = new WantedRows(rows)
  const search = await searchRows(api, wanted, signal)
  // A call for each tab, so that one that is protected holds no other back.
  const calls = search.sheets.flatMap((sheet) => {
    const here = search.rows.filter(({ sheetId }) => sheetId === sheet.sheetId)
    return here.length > 0 ? [JSON.stringify({ requests: requestsFor(here, sheet) })] : []
  })
  let failure: Removed['failure']
  for (const body of calls) {
    // The replies are of no use: only a new search shows that no copy is left.
    const path = ':batchUpdate?fields=spreadsheetId'
    const answer = await api.call({ method: 'POST', path, body }, signal)
    if (answer.kind !== 'ok') failure = answer
  }
  const { standing, others } = wanted
  return { kind: 'removed', standing, others, ...(failure && { failure }) }
}

/** The requests that remove these rows, from the last one up, as rows below a removed one may move. */
function requestsFor(
  found: readonly FoundRow[],
  { sheetId, rowCount, tables }: Sheet,
): readonly object[] {
  const now = found.toSorted((one, other) => other.row - one.row).slice(0, rowsPerCall)
  // Google does not delete the last row below frozen rows.
  const isShort = rowCount <= now.length + frozenRowsMax
  const growth = { appendDimension: { sheetId, dimension: 'ROWS', length: 1 } }
  return [...(isShort ? [growth] : []), ...now.flatMap((row) => removeOne(row, tables))]
}

/** More frozen rows than anybody has in a sheet that is full of rows to remove. */
const frozenRowsMax = 5

function removeOne(found: FoundRow, tables: readonly Table[]): readonly object[] {
  const { sheetId, row, cells } = found
  const lines = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + 1 }
  return [
    { insertDimension: { range: lines, inheritFromBefore: false } },
    ...cells.map(({ column, text }) => ({
      updateCells: {
        start: { sheetId, rowIndex: row, columnIndex: column },
        rows: [{ values: [{ userEnteredValue: { stringValue: text } }] }],
        fields: 'userEnteredValue',
      },
    })),
    {
      deleteDuplicates: {
        range: { sheetId, startRowIndex: row, endRowIndex: row + 2, ...columnsOf(found, tables) },
        comparisonColumns: cells.map(({ column }) => ({
          ...{ sheetId, dimension: 'COLUMNS' },
          ...{ startIndex: column, endIndex: column + 1 },
        })),
      },
    },
    { deleteDimension: { range: lines } },
  ]
}

/** The columns of the table that has the row, as cells beside it are of others. All columns without one. */
function columnsOf({ row, cells }: FoundRow, tables: readonly Table[]): object {
  const table = tables.find(
    (one) =>
      row > one.row &&
      row < one.endRow &&
      cells.every(({ column }) => column >= one.column && column < one.column + one.names.length),
  )
  if (!table) return {}
  const { column, names } = table
  return { startColumnIndex: column, endColumnIndex: column + names.length }
}
