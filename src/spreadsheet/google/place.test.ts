import { expect, test } from 'vitest'
import { columns } from '../../signup/row.ts'
import { ourHeader } from '../header.ts'
import { placeOf } from './place.ts'
import type { Table } from './tables.ts'

const table: Table = {
  tableId: 't',
  row: 0,
  column: 0,
  names: ['Email', 'Name'],
  types: new Map(),
}

test('rows go below our header, even if there is a table further down', () => {
  expect(placeOf([{ ...table, row: 5 }], columns)).toEqual({ header: ourHeader })
})

test('rows go into a table with our columns that begins in the first row', () => {
  expect(placeOf([table], ['Email', 'Name']).table?.tableId).toBe('t')
})
