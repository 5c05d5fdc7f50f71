import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cellsOf, csvRecord } from './csv.ts'

describe('a CSV record', () => {
  test('quotes only where it has to', () => {
    expect(csvRecord(['plain', 'with "quotes"', 'a, b', '', ' ', "it's"])).toBe(
      `plain,"with ""quotes""","a, b",, ,it's`,
    )
  })

  test.each(['=1', '+1', '-1', '@x', '=', '=cmd|"/c calc"!A1'])(
    '%s gets an apostrophe in front',
    (cell) => {
      expect(parse(csvRecord([cell, `a${cell}`]))).toEqual([[`'${cell}`, `a${cell}`]])
    },
  )

  test.each([',', ';', '\t'])('reads back cell by cell when the delimiter is %j', (delimiter) => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom(...Array.from('=+-@",;\t\r\n\'a ')) }),
    )
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 7 }), (cells) => {
        const read: string[][] = parse(csvRecord(cells, delimiter), {
          delimiter,
          record_delimiter: '\r\n',
        })
        const expected = cells.map((cell) => (/^[=+\-@]/.test(cell) ? `'${cell}` : cell))
        expect(read).toEqual([expected])
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('the cells of a line', () => {
  test.each([
    ['', ['']],
    ['a,b', ['a', 'b']],
    [',a,', ['', 'a', '']],
    ['\ufeff"a","b"', ['a', 'b']],
    ['"a, ""b""",""', ['a, "b"', '']],
    ['"a"b,"c",d"', ['"a"b', 'c', 'd"']],
    ['"a,b', ['"a', 'b']],
  ])('%j are %j', (line, cells) => {
    expect(cellsOf(line, ',')).toEqual(cells)
  })
})
