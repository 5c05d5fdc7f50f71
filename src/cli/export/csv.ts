import { columns, toRow } from '../../signup/row.ts'
import { csvRecord } from '../../spreadsheet/csv.ts'
import type { Sink } from '../terminal/output.ts'
import type { ExportFormat } from './format.ts'

/** RFC 4180 in UTF-8, as the files of the local workbook: no program takes a cell for a formula. */
export function csvFormat(sink: Sink): ExportFormat {
  let lead = line(columns)
  return {
    async write(page) {
      const rows = page.map(({ signup }) => line(toRow(signup, signup.sheetTab)))
      await sink.write(lead + rows.join(''))
      lead = ''
    },
    async finish() {
      if (lead !== '') await sink.write(lead)
    },
  }
}

function line(cells: readonly string[]): string {
  return `${csvRecord(cells)}\r\n`
}
