import type { Reader, SignupRecord } from '../journal/contracts/reader.ts'
import { iso } from '../platform/clock.ts'
import { type Cell, headingsOf, noColumns, toRow } from '../signup/row.ts'
import type { Signup } from '../signup/signup.ts'
import { csvRecord } from '../spreadsheet/csv.ts'
import { pagesOf } from './pages-of.ts'

/**
 * The signups of the list that are chosen, page by page, so that no transaction stays open, and how many were
 * read for it.
 */
export async function* exportedPages(
  reader: Pick<Reader, 'page'>,
  pageRows: number,
  isChosen: (signup: Signup) => boolean = () => true,
) {
  for await (const page of pagesOf(pageRows, (after) => reader.page(after, pageRows))) {
    yield { rows: page.filter(({ signup }) => isChosen(signup)), read: page.length }
  }
}

export interface ExportFormat {
  /** What stands above all rows. */
  readonly head: string
  readonly lines: (rows: readonly SignupRecord[]) => string
}

/** RFC 4180 in UTF-8, as the files of the local workbook: no program takes a cell for a formula. */
export function csvFormat(own = noColumns): ExportFormat {
  return {
    head: csvLine(headingsOf(own)),
    lines: (rows) =>
      rows.map(({ signup }) => csvLine(toRow(signup, signup.sheetTab, own))).join(''),
  }
}

export function csvLine(cells: readonly Cell[]): string {
  return `${csvRecord(cells)}\r\n`
}

/** One JSON object a line, with the names of the signup request. */
export const ndjsonFormat: ExportFormat = {
  head: '',
  lines: (rows) => rows.map(({ signup }) => `${JSON.stringify(toObject(signup))}\n`).join(''),
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
