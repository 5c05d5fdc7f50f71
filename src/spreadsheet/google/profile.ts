import type { Signup } from '../../signup/signup.ts'
import { remember } from '../../platform/remember.ts'
import type { Profile } from '../spreadsheet.ts'

/** The bytes of `{"values":[]},` around a row, and of the timestamp in it. */
const rowBytes = 15 + 24
/** The bytes of `{"userEnteredValue":{"stringValue":""}},` around a cell's text. An empty cell is `{},`. */
const cellBytes = 41
const emptyCellBytes = 3

export const googleProfile: Profile = {
  // The number of rows keeps one call quick.
  rowsMax: 5000,
  // Google recommends at most 2 MB a call.
  bytesMax: 2 * 1024 * 1024,
  rowBytes: requestBytes,
  markers: {
    // A marker takes 60 characters, and a spreadsheet holds 30,000: docs/decisions/exactly-once.md.
    max: 300,
    idMax: 2 ** 31 - 1,
  },
  linger: { quietMs: 100, maxMs: 800, burstMaxMs: 3000 },
  hasQuota: true,
}

const bytesOfTab = remember(100, (tab) => new TextEncoder().encode(tab).byteLength)

/** The approximate bytes of a row in a request. Quotes in metadata take a little more. */
function requestBytes(
  { sheetTab, name, tags, metadata, fields }: Signup,
  textBytes: number,
): number {
  const empty = Number(name === '') + Number(tags.length === 0) + Number(metadata === '')
  const cells = (7 - empty + Object.keys(fields).length) * cellBytes + empty * emptyCellBytes
  return rowBytes + cells + bytesOfTab(sheetTab) + textBytes
}
