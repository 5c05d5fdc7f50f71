import type { Profile } from '../spreadsheet.ts'

/** The bytes of six commas, a line end and the timestamp, with room for quotes. */
const rowBytes = 6 + 2 + 24 + 8

/** Local files: they need no quota, no markers and only a short wait. */
export const workbookProfile: Profile = {
  // The service stands still while a batch becomes text: about 20 ms for so many rows.
  rowsMax: 5000,
  bytesMax: 4 * 1024 * 1024,
  rowBytes: ({ sheetTab }, textBytes) => rowBytes + sheetTab.length + textBytes,
  markers: { max: Infinity, idMax: 2 ** 31 - 1 },
  linger: { quietMs: 20, maxMs: 100, burstMaxMs: 100 },
  hasQuota: false,
}
