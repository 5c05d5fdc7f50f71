import { describe, expect, test } from 'vitest'
import { findRange, rangeText } from '../../emulators/google-sheets/a1.ts'
import { parseFieldMask, selectFields } from '../../emulators/google-sheets/field-mask.ts'
import { SheetsModel } from '../../emulators/google-sheets/model.ts'
import { readMessage } from '../../emulators/google-sheets/schema.ts'
import { batchUpdateBody } from '../../emulators/google-sheets/schema-requests.ts'

function echoOf(spec: string): string {
  const titles = ['Sheet1', "Jon's Data", 'd09037', 'A1', 'true']
  const sheets = titles.map((title, sheetId) => ({ sheetId, title }))
  const { sheet, box } = findRange(new SheetsModel().create({ sheets }), spec)
  return rangeText(sheet.title, box)
}

describe('ranges in A1 notation', () => {
  test.each([
    ["'Sheet1'", 'Sheet1!A1:Z1000'],
    ["'Sheet1'!A1:B2", 'Sheet1!A1:B2'],
    ["'sheet1'!B2", 'Sheet1!B2'],
    ["'Sheet1'!A1:AA5", 'Sheet1!A1:Z5'],
    ["'Sheet1'!A5:C", 'Sheet1!A5:C1000'],
    ["'Jon''s Data'!A1", "'Jon''s Data'!A1"],
    ["'A1'!B2", "'A1'!B2"],
    ["'d09037'!A1", "'d09037'!A1"],
    ["'true'!A1", "'true'!A1"],
  ])('%s is echoed as %s', (spec, echoed) => {
    expect(echoOf(spec)).toBe(echoed)
  })

  test.each([
    "'X'!A1",
    "'X'",
    'Sheet1',
    "'Sheet1'!A",
    "'Sheet1'!A1:",
    "'Sheet1'!A1:B2:C3",
    "'Sheet1'!A0",
  ])('an error about an unknown tab or a malformed range names the whole range: %s', (spec) => {
    expect(() => echoOf(spec)).toThrow(`Unable to parse range: ${spec}`)
  })

  test('a range that starts outside of the grid is refused', () => {
    expect(() => echoOf("'Sheet1'!AA1:AB5")).toThrow(
      'Range (Sheet1!AA1:AB5) exceeds grid limits. Max rows: 1000, max columns: 26',
    )
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
