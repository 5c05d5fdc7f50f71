import { parameters, quoted } from './ranges.ts'
import { readSheets, type Sheet, sheetFields } from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

interface SheetList {
  readonly kind: 'listed'
  readonly sheets: readonly Sheet[]
}

/** Reads what is known of each sheet, without its cells. One call. */
export async function listSheets(
  api: SheetsApi,
  signal: AbortSignal,
): Promise<SheetList | ApiFailure> {
  const path = `?fields=${encodeURIComponent(`sheets(${sheetFields})`)}`
  const answer = await api.call({ method: 'GET', path }, signal)
  if (answer.kind !== 'ok') return answer
  return { kind: 'listed', sheets: readSheets(answer.body) ?? [] }
}

/**
 * Finds, after Google refused ranges of these sheets, those whose titles it cannot read in a range. There
 * are none when a person has just renamed, deleted or shortened a sheet. One call for each sheet, and
 * one more.
 */
export async function listUnreadable(
  api: SheetsApi,
  asked: readonly Sheet[],
  signal: AbortSignal,
): Promise<SheetList | ApiFailure> {
  const refused: Sheet[] = []
  for (const sheet of asked) {
    const fields = 'sheets.properties.sheetId'
    const path = `?fields=${fields}${parameters([`${quoted(sheet)}!A1`])}`
    const answer = await api.call({ method: 'GET', path }, signal)
    if (answer.kind === 'ok') continue
    if (answer.error?.status !== 400) return answer
    refused.push(sheet)
  }
  const now = await listSheets(api, signal)
  if (now.kind !== 'listed') return now
  const isAsBefore = ({ sheetId, title }: Sheet) =>
    now.sheets.some((sheet) => sheet.sheetId === sheetId && sheet.title === title)
  return { kind: 'listed', sheets: refused.filter(isAsBefore) }
}
