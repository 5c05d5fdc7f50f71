import { describe, expect, test } from 'vitest'
import { columns } from '../../signup/row.ts'
import { readHeader } from '../header.ts'
import { isSamePlace, placeOf } from './place.ts'
import type { Table } from './sheets.ts'

const table: Table = {
  tableId: 't',
  row: 0,
  column: 0,
  endRow: 2,
  names: ['Email', 'Name'],
}
const withEmail = { ...table, tableId: 'named', row: 5 }
const withOurs = { ...table, tableId: 'ours', row: 9, names: columns }
const others = { ...table, tableId: 'others', row: 3, names: ['Guests'] }

describe('the place of rows', () => {
  test.each<[string, readonly Table[], readonly string[], string | undefined]>([
    ['is a table with our columns, before all else', [withEmail, withOurs], columns, 'ours'],
    ['is below our header, even if there is a table further down', [withEmail], columns, undefined],
    [
      'is below somebody’s header, even if there is a table further down',
      [withEmail],
      ['Name', 'Email'],
      undefined,
    ],
    ['is a table with Email when the first row is no header', [others, withEmail], ['x'], 'named'],
    ['is the topmost table with Email', [withEmail, { ...withEmail, tableId: 'z' }], [], 'named'],
    ['is below the data of others', [others], ['Guests'], undefined],
    ['is a table that begins in the first row', [table], ['Email', 'Name'], 't'],
    [
      'is a table that begins there further right',
      [{ ...table, column: 2 }],
      ['a', 'b', 'Email', 'Name'],
      't',
    ],
    ['is below a header left of a table', [{ ...table, column: 1 }], ['Email', 'Email'], undefined],
    [
      'is below a header right of a table, even if there is a table further down',
      [{ ...others, row: 0 }, withEmail],
      ['Guests', 'Email'],
      undefined,
    ],
    ['is a table that begins in the first row, of two tables', [table, others], ['Email'], 't'],
  ])('%s', (_, tables, firstRow, tableId) => {
    const place = placeOf(tables, firstRow)
    expect(place.table?.tableId).toBe(tableId)
    expect(place.header).toEqual(readHeader(place.table?.names ?? firstRow))
  })

  test('is the same in the same table and columns', () => {
    const email = readHeader(['Email'])
    expect(isSamePlace({ header: email }, { header: readHeader(['email', 'Notes']) })).toBe(true)
    expect(isSamePlace({ header: email }, { header: readHeader(['', 'Email']) })).toBe(false)
    expect(isSamePlace({ header: email }, { header: email, table })).toBe(false)
    expect(isSamePlace({ header: email, table }, { header: email, table: withOurs })).toBe(false)
  })
})
