import { expect, test } from 'vitest'
import { table } from './table.ts'

test('columns are as wide as their widest cell, and numbers end under each other', () => {
  const rows = [
    ['tab', 'waiting'],
    ['News', '7'],
    ['A long name', '1,200'],
  ]
  expect(table(rows, [1])).toEqual([
    'tab          waiting',
    'News               7',
    'A long name    1,200',
  ])
})
