import { describe, expect, test } from 'vitest'
import { findRange, rangeText } from '../../emulators/google-sheets/a1.ts'
import { parseFieldMask, selectFields } from '../../emulators/google-sheets/field-mask.ts'
import { SheetsModel } from '../../emulators/google-sheets/model.ts'
import { readMessage } from '../../emulators/google-sheets/schema.ts'
import { batchUpdateBody } from '../../emulators/google-sheets/schema-requests.ts'
import { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import { readValues } from '../../emulators/google-sheets/values.ts'

function setUp() {
  const model = new SheetsModel()
  const state = model.create({
    sheets: [
      { sheetId: 0, title: 'Sheet1' },
      { sheetId: 1, title: "Jon's Data" },
      { sheetId: 2, title: 'd09037' },
      { sheetId: 3, title: 'A1' },
    ],
    sharedWith: { 'owner@example.com': 'owner' },
  })
  const echo = (spec: string) => {
    const { sheet, box } = findRange(state, spec)
    return rangeText(sheet.title, box)
  }
  return { state, echo, handle: new SpreadsheetHandle(model, state) }
}

describe('ranges in A1 notation', () => {
  const echoes: readonly [string, string][] = [
    ['Sheet1', 'Sheet1!A1:Z1000'],
    ["'Sheet1'", 'Sheet1!A1:Z1000'],
    ['sheet1!B2', 'Sheet1!B2'],
    ['A1:A1', 'Sheet1!A1'],
    ['Sheet1!$B$2:c3', 'Sheet1!B2:C3'],
    ['Sheet1!C3:B2', 'Sheet1!B2:C3'],
    ['Sheet1!A1:AA5', 'Sheet1!A1:Z5'],
    ['Sheet1!A:B', 'Sheet1!A1:B1000'],
    ['Sheet1!2:3', 'Sheet1!A2:Z3'],
    ['Sheet1!A5:A', 'Sheet1!A5:A1000'],
    ["'Jon''s Data'!A1", "'Jon''s Data'!A1"],
    ["Jon's Data!A1:B1", "'Jon''s Data'!A1:B1"],
    ["'A1'", "'A1'!A1:Z1000"],
    ["'d09037'!A1", "'d09037'!A1"],
  ]
  for (const [spec, echoed] of echoes) {
    test(`${spec} is echoed as ${echoed}`, () => expect(setUp().echo(spec)).toBe(echoed))
  }

  test('an error about an unknown tab or a malformed range names the whole range', () => {
    const { echo } = setUp()
    for (const spec of ['X!A1', "'X'", 'Sheet1!A', 'Sheet1!A1:B2:C3', 'Sheet1!', 'Sheet1!A0']) {
      expect(() => echo(spec)).toThrow(`Unable to parse range: ${spec}`)
    }
  })

  test('a range that starts outside of the grid is refused, and a tab name that looks like a cell means the cell', () => {
    const { echo } = setUp()
    const limits = 'exceeds grid limits. Max rows: 1000, max columns: 26'
    expect(() => echo('Sheet1!AA1:AB5')).toThrow(`Range (Sheet1!AA1:AB5) ${limits}`)
    expect(() => echo('d09037')).toThrow(`Range (Sheet1!D9037) ${limits}`)
  })
})

describe('values', () => {
  test('empty cells and rows at the end are left out', () => {
    const { handle, state } = setUp()
    handle.appendRows('Sheet1', [['a', '', ''], ['', 'b'], [''], ['']])
    expect(readValues(state, 'Sheet1!A1:C9')).toEqual({
      range: 'Sheet1!A1:C9',
      majorDimension: 'ROWS',
      values: [['a'], ['', 'b']],
    })
  })

  test('numbers, checkboxes and formulas can be read as they are shown or as they are stored', () => {
    const { handle, state } = setUp()
    handle.appendRows('Sheet1', [[1, true, { formula: '=1+1' }, '007']])
    const row = (valueRenderOption: string) =>
      readValues(state, 'Sheet1!1:1', new URLSearchParams({ valueRenderOption })).values
    expect(row('FORMATTED_VALUE')).toEqual([['1', 'TRUE', '#ERROR!', '007']])
    expect(row('UNFORMATTED_VALUE')).toEqual([[1, true, '#ERROR!', '007']])
    expect(() => row('FORMULA')).toThrow('does not implement the valueRenderOption FORMULA')
  })
})

describe('field masks', () => {
  const answer = {
    id: 'x',
    sheets: [
      { properties: { sheetId: 0, title: 'A', grid: { rows: 1 } }, data: [1] },
      { properties: { sheetId: 1, title: 'B', grid: { rows: 2 } } },
    ],
  }
  test('masks with dots, slashes, groups and stars select the same fields', () => {
    const titles = { sheets: [{ properties: { title: 'A' } }, { properties: { title: 'B' } }] }
    for (const mask of [
      'sheets.properties.title',
      'sheets/properties/title',
      'sheets(properties(title))',
    ]) {
      expect(selectFields(answer, parseFieldMask(mask))).toEqual(titles)
    }
    expect(selectFields(answer, parseFieldMask('*'))).toEqual(answer)
    expect(selectFields(answer, parseFieldMask('id,sheets.properties(sheetId,grid/*)'))).toEqual({
      id: 'x',
      sheets: [
        { properties: { sheetId: 0, grid: { rows: 1 } } },
        { properties: { sheetId: 1, grid: { rows: 2 } } },
      ],
    })
    expect(selectFields(answer, parseFieldMask('id,sheets(data)'))).toEqual({
      id: 'x',
      sheets: [{ data: [1] }, {}],
    })
  })

  test('malformed masks are refused', () => {
    for (const mask of ['a(b', 'a,,b', 'a)', 'a b', ',']) {
      expect(() => parseFieldMask(mask)).toThrow('Request contains an invalid argument.')
    }
  })
})

test('errors about unknown names, wrong types and two kinds in one request name their paths', () => {
  const messageOf = (body: unknown) => {
    try {
      readMessage(batchUpdateBody, body)
    } catch (error) {
      return error instanceof Error ? error.message.split('\n') : []
    }
    return []
  }
  const range = { sheetId: '3', dimension: 'DIAGONAL', startIndex: 0.5 }
  const request = { foo: 1, deleteDimension: { range, extra: {} } }
  expect(messageOf({ requests: [request], bar: true })).toEqual([
    'Invalid JSON payload received. Unknown name "foo" at \'requests[0]\': Cannot find field.',
    'Invalid value at \'requests[0].delete_dimension.range.dimension\' (type.googleapis.com/google.apps.sheets.v4.Dimension), "DIAGONAL"',
    "Invalid value at 'requests[0].delete_dimension.range.start_index' (TYPE_INT32), 0.5",
    'Invalid JSON payload received. Unknown name "extra" at \'requests[0].delete_dimension\': Cannot find field.',
    'Invalid JSON payload received. Unknown name "bar": Cannot find field.',
  ])
  expect(messageOf({ requests: [{ deleteSheet: {}, addSheet: {} }] })).toEqual([
    "Invalid value at 'requests[0]' (oneof), oneof field 'kind' is already set. Cannot set 'addSheet'",
  ])
})
