import { quoted } from './ranges.ts'
import { readSheets, type Sheet, sheetFields } from './sheets.ts'
import { isAboutRange, type SheetsApi } from './sheets-api.ts'

/** Reads what is known of each sheet, without its cells, with one call. @throws ReadFailed */
export async function listSheets(api: SheetsApi, signal: AbortSignal): Promise<readonly Sheet[]> {
  return readSheets(await api.read(`sheets(${sheetFields})`, signal)) ?? []
}

/**
 * Finds, after a read of these sheets has failed, those whose titles Google cannot read in a range. There
 * are none when a person has just renamed, deleted or shortened a sheet. One call for each sheet, and
 * one more.
 *
 * @throws ReadFailed, also for the failure that is given when it was not about ranges
 */
export async function listUnreadable(
  api: SheetsApi,
  { failure, asked }: { readonly failure: unknown; readonly asked: readonly Sheet[] },
  signal: AbortSignal,
): Promise<readonly Sheet[]> {
  if (!isAboutRange(failure)) throw failure
  const refused: Sheet[] = []
  for (const sheet of asked) {
    try {
      await api.read('sheets.properties.sheetId', signal, [`${quoted(sheet)}!A1`])
    } catch (error) {
      if (!isAboutRange(error)) throw error
      refused.push(sheet)
    }
  }
  const now = await listSheets(api, signal)
  return refused.filter(({ sheetId, title }) =>
    now.some((sheet) => sheet.sheetId === sheetId && sheet.title === title),
  )
}
