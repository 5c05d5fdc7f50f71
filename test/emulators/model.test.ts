import type { sheets_v4 } from '@googleapis/sheets'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../emulators/google-sheets/api-error.ts'
import { SheetsModel } from '../../emulators/google-sheets/model.ts'
import { renderSpreadsheet } from '../../emulators/google-sheets/render.ts'
import { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import type { ModelOptions } from '../../emulators/google-sheets/state.ts'

const robot = { email: 'robot@example.com', project: 'one' }
type Request = sheets_v4.Schema$Request

function setUp(options: Partial<ModelOptions> = {}) {
  const model = new SheetsModel(options)
  const state = model.create({
    id: 'sheet-under-test',
    sharedWith: {
      [robot.email]: 'editor',
      'owner@example.com': 'owner',
    },
  })
  const handle = new SpreadsheetHandle(model, state)
  const apply = (...requests: Request[]) => model.batchUpdate(state, robot, requests)
  /** The message of the error that a batch is refused with. */
  const refused = (...requests: Request[]): string => {
    try {
      apply(...requests)
    } catch (error) {
      if (error instanceof ApiError) return error.message
      throw error
    }
    throw new Error('The batch was expected to be refused.')
  }
  const everything = () =>
    JSON.stringify(renderSpreadsheet(state, { caller: robot, includeGridData: true }))
  return { model, state, handle, apply, refused, everything }
}

function append(sheetId: number, ...rows: readonly (readonly string[])[]): Request {
  return {
    appendCells: {
      sheetId,
      fields: 'userEnteredValue',
      rows: rows.map((row) => ({
        values: row.map((stringValue) => ({ userEnteredValue: { stringValue } })),
      })),
    },
  }
}

function marker(metadataId: number, metadataValue = 'v', visibility = 'DOCUMENT'): Request {
  const location = { spreadsheet: true }
  const metadataKey = 'marker'
  return {
    createDeveloperMetadata: {
      developerMetadata: { metadataId, metadataKey, metadataValue, visibility, location },
    },
  }
}

function addSheet(title: string, properties: sheets_v4.Schema$SheetProperties = {}): Request {
  return { addSheet: { properties: { title, ...properties } } }
}

function deleteMarker(metadataId: number): Request {
  return { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId } } } }
}

describe('a batch is all or nothing', () => {
  test('an invalid last request undoes all requests before it', () => {
    const { apply, refused, everything, handle } = setUp()
    apply(append(0, ['a'], ['b']), marker(1), addSheet('Keep', { sheetId: 9 }))
    const before = everything()
    const message = refused(
      append(0, ['c']),
      marker(2),
      deleteMarker(1),
      addSheet('New', { sheetId: 10, gridProperties: { rowCount: 2, columnCount: 2 } }),
      append(10, ['x'], ['y'], ['z']),
      { deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 0, endIndex: 1 } } },
      { updateSheetProperties: { properties: { sheetId: 9, title: 'Other' }, fields: 'title' } },
      { deleteSheet: { sheetId: 9 } },
      append(77, ['nowhere']),
    )
    expect(message).toBe('Invalid requests[8].appendCells: No grid with id: 77')
    expect(everything()).toBe(before)
    expect(handle.rows('Sheet1')).toEqual([['a'], ['b']])
  })

  test('a batch of random requests that fails leaves no trace', () => {
    const requests = fc.oneof(
      fc.integer({ min: 1, max: 5 }).map((id) => marker(id)),
      fc.integer({ min: 1, max: 5 }).map((id) => deleteMarker(id)),
      fc.tuple(fc.integer({ min: 0, max: 3 }), fc.string()).map(([id, text]) => append(id, [text])),
      fc.integer({ min: 0, max: 3 }).map((id) => addSheet(`Tab${id}`, { sheetId: id })),
      fc.integer({ min: 0, max: 3 }).map((sheetId) => ({ deleteSheet: { sheetId } })),
      fc.tuple(fc.nat(3), fc.nat(5), fc.nat(5)).map(([sheetId, startIndex, length]): Request => ({
        insertDimension: {
          range: { sheetId, dimension: 'ROWS', startIndex, endIndex: startIndex + length },
        },
      })),
      fc.tuple(fc.nat(3), fc.nat(5), fc.nat(5)).map(([sheetId, startIndex, length]): Request => ({
        deleteDimension: {
          range: { sheetId, dimension: 'COLUMNS', startIndex, endIndex: startIndex + length },
        },
      })),
    )
    fc.assert(
      fc.property(fc.array(fc.array(requests, { minLength: 1, maxLength: 8 })), (batches) => {
        const { apply, everything } = setUp()
        for (const batch of batches) {
          const before = everything()
          try {
            apply(...batch)
          } catch (error) {
            if (!(error instanceof ApiError)) throw error
            expect(everything()).toBe(before)
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('developer metadata', () => {
  test('an id that exists is refused with a message that names it, and the whole batch with it', () => {
    const { apply, refused, handle } = setUp()
    apply(marker(7, 'first'))
    expect(refused(marker(7, 'second'), append(0, ['row']))).toBe(
      'Invalid requests[0].createDeveloperMetadata: Cannot add developer metadata with ID [7] because developer metadata with that ID already exists.',
    )
    expect(handle.rows('Sheet1')).toEqual([])
    expect(handle.metadata().map(({ metadataValue }) => metadataValue)).toEqual(['first'])
  })

  test('a spreadsheet holds 30,000 characters of keys and values', () => {
    const { apply, refused } = setUp()
    const key = 'marker'.length
    apply(marker(1, 'x'.repeat(30_000 - key)))
    expect(refused(marker(2, ''))).toMatch(/^Invalid requests\[0\]\.createDeveloperMetadata: /)
    apply(deleteMarker(1), marker(2, ''))
  })
})

describe('appending cells', () => {
  test('rows go below the last row with data, and the grid grows when it is too short', () => {
    const { apply, handle } = setUp()
    apply(addSheet('T', { sheetId: 5, gridProperties: { rowCount: 2, columnCount: 3 } }))
    apply(append(5, ['1']), append(5, ['2'], ['3']))
    expect(handle.rows('T')).toEqual([['1'], ['2'], ['3']])
    expect(handle.tab('T').gridProperties).toEqual({ rowCount: 3, columnCount: 3 })
    handle.resizeTab('T', { rowCount: 50 })
    handle.editCell('T', 'C20', 'a note far below')
    apply(append(5, ['4']))
    expect(handle.rows('T')[20]).toEqual(['4'])
    expect(handle.tab('T').gridProperties?.rowCount).toBe(50)
  })

  test('empty rows and cells with only a format do not count as data', () => {
    const { apply, handle } = setUp()
    const cell = { userEnteredFormat: { textFormat: { bold: true } } }
    const rows = Array.from({ length: 10 }, () => ({ values: [cell, cell] }))
    const start = { sheetId: 0, rowIndex: 0, columnIndex: 0 }
    apply({ updateCells: { start, rows, fields: 'userEnteredFormat.textFormat.bold' } })
    apply(append(0, [], ['']), append(0, ['first']))
    expect(handle.rows('Sheet1')).toEqual([['first']])
    expect(handle.cells('Sheet1')[0]?.[0]).toEqual({
      userEnteredValue: { stringValue: 'first' },
      ...cell,
    })
  })

  test('a row wider than the grid is refused', () => {
    const narrow = addSheet('T', { sheetId: 5, gridProperties: { rowCount: 9, columnCount: 2 } })
    expect(setUp().refused(narrow, append(5, ['1', '2', '3']))).toBe(
      'Invalid requests[1].appendCells: Range (T!A1:C1) exceeds grid limits. Max rows: 9, max columns: 2',
    )
  })

  test('messages about the limits of a cell and of the workbook have no prefix', () => {
    const { refused, apply } = setUp({ cellsMax: 26_010 })
    apply(append(0, ['x'.repeat(50_000)]))
    expect(refused(append(0, ['x'.repeat(50_001)]))).toBe(
      'Your input contains more than the maximum of 50000 characters in a single cell.',
    )
    const gridProperties = { rowCount: 2, columnCount: 5 }
    apply(addSheet('Fits', { sheetId: 5, gridProperties }))
    apply(append(5, ['1'], ['2']))
    expect(refused(append(5, ['3']))).toBe(
      'This action would increase the number of cells in the workbook above the limit of 26010 cells.',
    )
  })

  test('a protected tab refuses rows, and a protected header row does not', () => {
    const { apply, refused, handle } = setUp()
    apply(append(0, ['header']))
    handle.protectTab('Sheet1')
    expect(refused(append(0, ['row']))).toBe(
      'Invalid requests[0].appendCells: You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
    )
    handle.unprotectTab('Sheet1')
    handle.protectTab('Sheet1', { endRowIndex: 1 })
    apply(append(0, ['row']))
    expect(handle.rows('Sheet1')).toEqual([['header'], ['row']])
  })
})

describe('tabs', () => {
  test('ids and titles of tabs must be free, letter case of titles aside', () => {
    const { refused, apply } = setUp()
    expect(refused(addSheet('SHEET1'))).toBe(
      'Invalid requests[0].addSheet: A sheet with the name "SHEET1" already exists. Please enter another name.',
    )
    expect(refused(addSheet('Other', { sheetId: 0 }))).toMatch(/^Invalid requests\[0\]\.addSheet: /)
    apply({ updateSheetProperties: { properties: { title: 'sheet1' }, fields: 'title' } })
  })

  test('only properties of the grid that the field mask names change', () => {
    const { apply, handle, refused } = setUp()
    apply(addSheet('B', { sheetId: 2 }), addSheet('C', { sheetId: 3, hidden: true }))
    const properties = { sheetId: 2, title: 'ignored', gridProperties: { frozenRowCount: 1 } }
    const fields = 'gridProperties(frozenRowCount)'
    apply({ updateSheetProperties: { properties, fields } })
    expect(handle.titles()).toEqual(['Sheet1', 'B', 'C'])
    expect(handle.tab('B').gridProperties).toEqual({
      rowCount: 1000,
      columnCount: 26,
      frozenRowCount: 1,
    })
    expect(handle.tab('C').hidden).toBe(true)
    expect(refused({ updateSheetProperties: { properties, fields: 'colour' } })).toContain('colour')
    expect(refused({ deleteSheet: { sheetId: 44 } })).toBe(
      'Invalid requests[0].deleteSheet: No sheet with id: 44',
    )
  })
})
