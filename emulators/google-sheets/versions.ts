import type { Sheet, SpreadsheetState, StoredMetadata } from './state.ts'

/** The tabs and the developer metadata of a spreadsheet at one moment. Who may use it is no part of it. */
export interface Version {
  readonly sheets: readonly Sheet[]
  readonly metadata: ReadonlyMap<number, StoredMetadata>
}

/** Takes a version. Later changes of the spreadsheet do not change it. */
export function versionOf({ sheets, metadata }: SpreadsheetState): Version {
  return { sheets: sheets.map(copyOf), metadata: new Map(metadata) }
}

/**
 * Restores a version, as a person does from the version history. Google does not document whether
 * developer metadata goes back, too, so the caller chooses that.
 */
export function restoreVersion(
  state: SpreadsheetState,
  { sheets, metadata }: Version,
  withMetadata: boolean,
): void {
  state.sheets = sheets.map(copyOf)
  if (!withMetadata) return
  state.metadata.clear()
  for (const [id, stored] of metadata) state.metadata.set(id, stored)
}

function copyOf(sheet: Sheet): Sheet {
  return { ...sheet, rows: [...sheet.rows] }
}
