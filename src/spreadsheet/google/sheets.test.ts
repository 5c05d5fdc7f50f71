import { describe, expect, test } from 'vitest'
import { fillWarnings, findSheet, readFirstRows, readSheets, type Sheet } from './sheets.ts'

const sheet: Sheet = {
  sheetId: 7,
  title: 'News',
  index: 2,
  isGrid: true,
  rowCount: 1000,
  columnCount: 26,
  tables: [],
}

describe('the sheets in an answer', () => {
  test('are read with all that Rollcall needs', () => {
    const gridProperties = { rowCount: 1000, columnCount: 26 }
    const properties = { sheetId: 7, title: 'News', index: 2, sheetType: 'GRID', gridProperties }
    const chart = { sheetId: 8, title: 'Chart', index: 3, sheetType: 'OBJECT' }
    expect(readSheets({ sheets: [{ properties }, { properties: chart }] })).toEqual([
      sheet,
      { ...sheet, ...chart, sheetType: undefined, isGrid: false, rowCount: 0, columnCount: 0 },
    ])
  })

  test('have 0 for each number that Google leaves out, and are grids without a type', () => {
    const properties = { title: 'Sheet1' }
    expect(readSheets({ sheets: [{ properties }] })).toEqual([
      { ...sheet, title: 'Sheet1', sheetId: 0, index: 0, rowCount: 0, columnCount: 0 },
    ])
  })

  test.each([[undefined], [null], [{}], [{ sheets: {} }], [{ sheets: [] }]])(
    'are none when the answer has none: %j',
    (answer) => {
      expect(readSheets(answer)).toEqual([])
    },
  )

  test('have their tables from top to bottom and from left to right', () => {
    const table = (tableId: string, startRowIndex?: number, startColumnIndex?: number) => ({
      tableId,
      range: { startRowIndex, startColumnIndex, endRowIndex: 20 },
    })
    const tables = [table('c', 5, 3), table('b', 5, 1), table('d', 9), { tableId: 'a' }]
    const [read] = readSheets({ sheets: [{ properties: {}, tables }] })
    expect(
      read?.tables.map(({ tableId, row, column, endRow }) => [tableId, row, column, endRow]),
    ).toEqual([
      ...[
        ['a', 0, 0, 0],
        ['b', 5, 1, 20],
        ['c', 5, 3, 20],
        ['d', 9, 0, 20],
      ],
    ])
  })

  test('have the columns of a table at their places', () => {
    const columnProperties = [
      { columnIndex: 3, columnName: 'Born' },
      { columnName: 'Email' },
      { columnIndex: 1, columnName: 'Name' },
    ]
    const [read] = readSheets({ sheets: [{ tables: [{ columnProperties }] }] })
    expect(read?.tables[0]?.names).toEqual(['Email', 'Name', '', 'Born'])
  })
})

describe('the first row of a sheet', () => {
  const row = (...cells: string[]) => ({
    values: cells.map((formattedValue) => (formattedValue === '' ? {} : { formattedValue })),
  })
  /** The first row of a sheet whose ranges have these data. */
  const firstOf = (...data: unknown[]) =>
    readFirstRows({ sheets: [{ properties: { sheetId: 7 }, data }] }).get(7)

  test.each<[string, readonly unknown[], readonly string[] | undefined]>([
    [
      'is its cells as people see them',
      [{ rowData: [row('Email', '', 'Name'), row('a')] }],
      ['Email', '', 'Name'],
    ],
    [
      'is the one of the range at the top',
      [{ startRow: 4, rowData: [row('x')] }, { rowData: [row('Email')] }],
      ['Email'],
    ],
    ['is empty when only cells below are filled', [{ rowData: [{}, row('', 'x')] }], []],
    ['is empty when only a range below is filled', [{ startRow: 4, rowData: [row('x')] }, {}], []],
    [
      'is unknown when all cells are empty',
      [{ rowData: [row(''), {}] }, { startRow: 4 }],
      undefined,
    ],
    ['is unknown when the sheet has no data', [], undefined],
  ])('%s', (_, data, first) => {
    expect(firstOf(...data)).toEqual(first)
  })

  test('is read of each sheet, of which the first may have the id 0', () => {
    const data = [{ rowData: [row('Email')] }]
    const sheets = [
      { properties: {}, data },
      { properties: { sheetId: 9 }, data },
    ]
    expect([...readFirstRows({ sheets }).keys()]).toEqual([0, 9])
  })
})

test('the sheet of a tab has its very name, or else one that differs in letter case alone', () => {
  const sheets = [
    { ...sheet, title: 'NEWS' },
    { ...sheet, title: 'News' },
  ]
  expect(findSheet(sheets, 'News')?.title).toBe('News')
  expect(findSheet(sheets, 'news')?.title).toBe('NEWS')
  expect(findSheet(sheets, 'New')).toBeUndefined()
})

test.each([
  [7_999_999, undefined],
  [8_000_000, / is 80 % full: 8000000 of at most 10000000 cells/],
  [9_999_999, / is 99 % full/],
])('a spreadsheet with %i cells warns that it is nearly full from 80 %% on', (cells, words) => {
  const sheets = [
    { ...sheet, rowCount: cells - 26, columnCount: 1 },
    { ...sheet, rowCount: 2, columnCount: 13 },
  ]
  const warning = words ? [{ kind: 'nearlyFull', message: expect.stringMatching(words) }] : []
  expect(fillWarnings(sheets)).toEqual(warning)
})
