import { expect, test } from 'vitest'

import { headerRanges, parameters, perCall } from './ranges.ts'
import type { Sheet } from './sheets.ts'
import type { Table } from './sheets.ts'

const sheet: Sheet = {
  ...{ sheetId: 7, title: "Ada's", index: 0, isGrid: true, rowCount: 10, columnCount: 7 },
  tables: [],
}
const table: Table = {
  ...{ tableId: 't', row: 0, endRow: 9, column: 0, names: ['Email'] },
}

/** The sizes of the groups that so many ranges of so many characters are asked in. */
function sizes(count: number, characters: number): number[] {
  const range = 'x'.repeat(characters - parameters(['']).length)
  const all = Array.from({ length: count }, (_, index) => index)
  const groups = perCall(all, () => [range])
  expect(groups.flat()).toEqual(all)
  return groups.map((group) => group.length)
}

test('a call has the ranges of at most twenty sheets', () => {
  expect(sizes(0, 50)).toEqual([])
  expect(sizes(20, 50)).toEqual([20])
  expect(sizes(41, 50)).toEqual([20, 20, 1])
})

test('the ranges of a call have at most 4,000 characters, or are of one sheet', () => {
  expect(sizes(8, 1000)).toEqual([4, 4])
  expect(sizes(8, 1001)).toEqual([3, 3, 2])
  expect(sizes(2, 5000)).toEqual([1, 1])
})

test('ranges are written into the query of a URL', () => {
  expect(parameters(['A1', "'a & b'!A1"])).toBe("&ranges=A1&ranges='a%20%26%20b'!A1")
})

test('the rows that name columns are the first one and those of the topmost four tables', () => {
  expect(headerRanges(sheet)).toEqual(["'Ada''s'!A1:ZZ1"])
  const tables = [0, 4, 9, 19, 29].map((row) => ({ ...table, row }))
  expect(headerRanges({ ...sheet, tables })).toEqual(
    [1, 5, 10, 20].map((row) => `'Ada''s'!A${row}:ZZ${row}`),
  )
})
