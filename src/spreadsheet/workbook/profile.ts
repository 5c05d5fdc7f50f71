import type { Profile } from '../spreadsheet.ts'

/** Six commas, a line end and the timestamp, and room for quotes. */
const rowBytes = 6 + 2 + 24 + 8

/** Files that are near: nothing to save up, nothing to keep others out with. */
export const workbookProfile: Profile = {
  // A batch is text in memory, and the service waits while it is put together: some 20 ms for as many rows.
  rowsMax: 5000,
  bytesMax: 4 * 1024 * 1024,
  rowBytes: ({ sheetTab }, textBytes) => rowBytes + sheetTab.length + textBytes,
  markers: { max: Infinity, idMax: 2 ** 31 - 1 },
  linger: { quietMs: 20, maxMs: 100, burstMaxMs: 100 },
  hasQuota: false,
}
