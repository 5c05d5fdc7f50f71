import { describe, expect, test } from 'vitest'
import { columns } from '../../signup/row.ts'
import { ourHeader, readHeader } from '../header.ts'
import { csvRecord, delimiters } from '../csv.ts'
import { firstRecord, readHeaderRow } from './header-row.ts'

const ours = { header: ourHeader, delimiter: ',' }
const none = { header: readHeader([]), delimiter: ',' }

describe('the header row of a file', () => {
  test.each(delimiters)('is found under the delimiter %j', (delimiter) => {
    const line = csvRecord(columns, delimiter)
    expect(readHeaderRow(`${line}\r\n1,2`)).toEqual({ header: ourHeader, delimiter })
    const names = ['Name', 'E, mail', 'Email']
    expect(readHeaderRow(`${csvRecord(names, delimiter)}\nx`)).toEqual({
      header: readHeader(names),
      delimiter,
    })
  })

  test.each([
    ['with the bytes of a byte order mark', `\xef\xbb\xbf${columns.join(',')}\n`, ours],
    ['with all cells in quotes', `"${columns.join('","')}"\r\n`, ours],
    ['without a line end', columns.join(','), ours],
    [
      'with a line end in a cell',
      '"Your\r\n""name""",Email',
      namesAre(['Your\r\n"name"', 'Email']),
    ],
    ['with an empty cell first', ',Email', namesAre(['', 'Email'])],
    [
      'of ours under commas, with Email under semicolons',
      'Email;Email',
      namesAre(['Email', 'Email'], ';'),
    ],
  ])('is read %s', (_, head, found) => {
    expect(readHeaderRow(head)).toEqual(found)
  })

  test.each([
    ['is empty', ''],
    ['begins with an empty line', '\r\nEmail,Name'],
    ['has a row of data', 'ada@example.com,2026-11-20'],
    ['has Email only in the second line', 'Guests\nEmail,Name'],
    ['has a quote that is not closed', '"Email,Name'],
  ])('is missing when the file %s', (_, head) => {
    expect(readHeaderRow(head)).toEqual(none)
  })
})

function namesAre(names: string[], delimiter = ',') {
  return { header: readHeader(names), delimiter }
}

test.each([
  ['at a line end', 'Email,"Notes"\r\nx,y', true],
  ['with the file', 'Email,"Notes"', true],
  ['behind a line end in quotes', '"Your\nname",Email\nx', true],
  ['nowhere, with a text behind a quoted cell', 'Email,"Notes" ,Rating\nx,y,z', false],
  ['nowhere, with a quote that is not closed', 'Email,"Notes\nrow,"x"\n', false],
])('the first record of a file ends %s', (_, head, isWhole) => {
  expect(firstRecord(head, ',').isWhole).toBe(isWhole)
})
