import { expect, test } from 'vitest'

import { protectedSheets } from './tabs-check.ts'

const here = { range: { sheetId: 5 } }

test.each<[string, readonly object[], boolean]>([
  ['is missing', [], false],
  ['is of the whole sheet', [here], true],
  ['does not let this account edit', [{ ...here, requestingUserCanEdit: false }], true],
  ['lets this account edit', [{ ...here, requestingUserCanEdit: true }], false],
  ['only warns', [{ ...here, warningOnly: true }], false],
  ['has exceptions', [{ ...here, unprotectedRanges: [{ startRowIndex: 9 }] }], false],
  ['reaches down to the last row', [{ range: { endRowIndex: 100 } }], true],
  ['is of rows above', [{ range: { endRowIndex: 99 } }], false],
  ['is of our last column', [{ range: { startColumnIndex: 6 } }], true],
  ['is of columns behind ours', [{ range: { startColumnIndex: 7 } }], false],
  ['comes after one of the header row', [{ range: { endRowIndex: 1 } }, here], true],
])('a protection that %s', (_, protectedRanges, isClosed) => {
  const grid = { gridProperties: { rowCount: 100 } }
  const sheets = [
    { properties: { sheetId: 5, ...grid }, protectedRanges },
    { properties: { sheetId: 6, ...grid } },
  ]
  expect([...protectedSheets({ sheets })]).toEqual(isClosed ? [5] : [])
})
