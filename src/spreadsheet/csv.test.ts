import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cellKey, cellsOf, csvRecord, delimiters, readCell } from './csv.ts'

describe('a CSV record', () => {
  test('has quotes only where it needs them', () => {
    expect(csvRecord(['plain', 'with "quotes"', 'a, b', '', ' ', "it's"])).toBe(
      `plain,"with ""quotes""","a, b",, ,it's`,
    )
  })

  test.each(['=1', '+A1', '-1', '@x', '=', '＝1', '＋49 30 12345', '－1', '＠x'])(
    '%s gets an apostrophe in front',
    (cell) => {
      expect(parse(csvRecord([cell, `a${cell}`]))).toEqual([[`'${cell}`, `a${cell}`]])
    },
  )

  test.each([
    ['x;=1', "x;'=1"],
    ['x; "=1', `x; "'=1`],
    ['{"a":"x;=1,=2"}', `{"a":"x;'=1,=2"}`],
    ['"=1"', `"'=1"`],
    ["x;'=1", "x;''=1"],
  ])('%s, which may look like a formula to another program, becomes %s', (cell, written) => {
    expect(parse(csvRecord(['a', cell]))).toEqual([['a', written]])
  })

  test.each(['{"a":[1,-2]}', 'early, -late', 'a=b; c=d', 'a - b; c', "x;'1", 'ada+x@example.org'])(
    '%s stays as it is',
    (cell) => {
      expect(parse(csvRecord(['a', cell]))).toEqual([['a', cell]])
    },
  )

  test.each([
    '+4930123456',
    '+1.555.123.4567',
    '+49(30)1234567',
    '+(49) 30 12345',
    `+${'1'.repeat(49)}`,
  ])('the phone number %s, which no program computes, stays as it is', (cell) => {
    expect(csvRecord(['a', cell], ';')).toBe(`a;${cell}`)
  })

  test.each([
    '+1-555-1234567',
    '+123456',
    '+1 -2',
    '+49/30/123',
    '+49 30 1+2',
    `+49 30 ${'1'.repeat(44)}`,
    `+49 30 ${'1'.repeat(43)}|x!A1`,
    '+',
    ' +49 30 1',
  ])('%s, which a program may compute, gets an apostrophe in front', (cell) => {
    expect(csvRecord(['a', cell])).toBe(`a,${cell.replace('+', "'+")}`)
  })

  test('a phone number that could be read with the cells behind it gets an apostrophe in front', () => {
    expect(csvRecord(['+1234567', '5*A1'])).toBe("'+1234567,5*A1")
    expect(csvRecord(['a;', '+1234567', '*A1'], '\t')).toBe(`"a;"\t'+1234567\t*A1`)
  })

  test('a phone number is read back from files that have an apostrophe in front, and from others', () => {
    const phone = '+49 30 1234567'
    expect([phone, `'${phone}`].map((cell) => readCell(cell))).toEqual([phone, phone])
    expect([phone, `'${phone}`].map((cell) => cellKey(cell))).toEqual([phone, phone])
    const quotedByVisitor = `'${phone}`
    expect(csvRecord(['a', quotedByVisitor])).toBe(`a,''${phone}`)
    expect(readCell(`''${phone}`)).toBe(quotedByVisitor)
  })

  const text = fc.oneof(
    // Phone numbers, and what is nearly one.
    fc
      .tuple(
        fc.constantFrom('+', '+123456', '+12 (3456) '),
        fc.string({ unit: fc.constantFrom(...Array.from('+12 ()-./;')) }),
      )
      .map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...Array.from('=+-@＝＋－＠",;\t\r\n\'a \u00a0\u2028')) }),
  )
  const rows = fc.array(fc.array(text, { minLength: 2, maxLength: 7 }), { minLength: 1 })

  describe.each(delimiters)('under the delimiter %j', (delimiter) => {
    /** Numbers that are side by side in a phone number, or the only one: no operator can join them. */
    const isNoFormula = (cell: string) =>
      /^\+[\d. ()-]*$/.test(cell) && (/^\+[\d.]+$/.test(cell) || /\d +[\d(]|\d\(|\) *\d/.test(cell))

    const read = (record: string, readAt: string): string[][] =>
      readAt === delimiter
        ? parse(record, { delimiter, record_delimiter: '\r\n', relax_column_count: true })
        : // At worst a program knows nothing of quotes.
          record.split(/[\r\n]/).map((line) => line.split(readAt))

    test('is read back cell by cell, and no cell begins like a formula, wherever a program splits it', () => {
      fc.assert(
        fc.property(rows, (cells) => {
          const file = cells.map((row) => csvRecord(row, delimiter)).join('\r\n')
          const back = read(file, delimiter)
          const keys = (all: string[][]) => all.map((row) => row.map(cellKey))
          expect(keys(back)).toEqual(keys(cells))
          expect(back.map((row) => row.map((it) => readCell(it, delimiter)))).toEqual(cells)
          for (const cell of delimiters.flatMap((readAt) => read(file, readAt).flat())) {
            if (!isNoFormula(cell)) expect(cell).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/)
          }
        }),
        { numRuns: 1_000 },
      )
    })
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
