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

test('a table further down does not take the rows of our header above it', () => {
  expect(placeOf([{ ...table, row: 5 }], columns)).toEqual({ header: ourHeader })
})

test('a table that begins with the first row takes the rows of its columns', () => {
  expect(placeOf([table], ['Email', 'Name']).table?.tableId).toBe('t')
})
