import type { Profile } from '../spreadsheet.ts'

/** The bytes of six commas, a line end and the timestamp, with room for quotes. */
const rowBytes = 6 + 2 + 24 + 8

/** Local files: they need no quota, no markers and only a short wait. */
export const workbookProfile: Profile = {
  // The service answers nobody while it makes the text of a batch, which takes about 20 ms.
  rowsMax: 5000,
  bytesMax: 4 * 1024 * 1024,
  // The names in the text of the fields take more than their commas.
  rowBytes: ({ sheetTab }, textBytes) => rowBytes + sheetTab.length + textBytes,
  markers: { max: Infinity, idMax: 2 ** 31 - 1 },
  linger: { quietMs: 20, maxMs: 100, burstMaxMs: 100 },
  hasQuota: false,
}
