import { type Cell, headingsOf, noColumns, toRow } from '../../signup/row.ts'
import { csvRecord } from '../../spreadsheet/csv.ts'
import type { Sink } from '../terminal/output.ts'
import type { ExportFormat } from './format.ts'

/** RFC 4180 in UTF-8, as the files of the local workbook: no program takes a cell for a formula. */
export function csvFormat(sink: Sink, own = noColumns): ExportFormat {
  let lead = line(headingsOf(own))
  return {
    async write(page) {
      const rows = page.map(({ signup }) => line(toRow(signup, signup.sheetTab, own)))
      await sink.write(lead + rows.join(''))
      lead = ''
    },
    async finish() {
      if (lead !== '') await sink.write(lead)
    },
  }
}

function line(cells: readonly Cell[]): string {
  return `${csvRecord(cells)}\r\n`
}
