import type { SignupRecord } from '../../journal/contracts/reader.ts'
import { type Cell, headingsOf, noColumns, toRow } from '../../signup/row.ts'
import type { Signup } from '../../signup/signup.ts'
import { csvRecord } from '../../spreadsheet/csv.ts'
import type { Sink } from '../terminal/output.ts'
import { iso } from '../../platform/clock.ts'

export interface ExportFormat {
  write(page: readonly SignupRecord[]): Promise<void>
  /** Writes what belongs to the end. */
  finish(): Promise<void>
}

/** RFC 4180 in UTF-8, as the files of the local workbook: no program takes a cell for a formula. */
export function csvFormat(sink: Sink, own = noColumns): ExportFormat {
  let lead = csvLine(headingsOf(own))
  return {
    async write(page) {
      const rows = page.map(({ signup }) => csvLine(toRow(signup, signup.sheetTab, own)))
      await sink.write(lead + rows.join(''))
      lead = ''
    },
    async finish() {
      if (lead !== '') await sink.write(lead)
    },
  }
}

export function csvLine(cells: readonly Cell[]): string {
  return `${csvRecord(cells)}\r\n`
}

/** One JSON object a line, with the names of the signup request. */
export function ndjsonFormat(sink: Sink): ExportFormat {
  return {
    async write(page) {
      await sink.write(page.map(({ signup }) => `${JSON.stringify(toObject(signup))}\n`).join(''))
    },
    async finish() {},
  }
}

/** A signup with the names of the signup request. */
export function toObject(signup: Signup) {
  const { id, receivedAt, confirmedAt, email, source, name, tags, metadata, sheetTab, fields } =
    signup
  return {
    ...{ id, email, timestamp: iso(receivedAt), source },
    ...(name !== '' && { name }),
    ...(tags.length > 0 && { tags }),
    ...(metadata !== '' && { metadata: JSON.parse(metadata) as unknown }),
    sheetTab,
    ...(confirmedAt !== undefined && { confirmedAt: iso(confirmedAt) }),
    ...fields,
  }
}
