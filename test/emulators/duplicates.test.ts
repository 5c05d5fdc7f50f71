import { describe, expect, test } from 'vitest'

import { SheetsModel } from '../../emulators/google-sheets/model.ts'
import { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import type { ModelOptions } from '../../emulators/google-sheets/state.ts'

const owner = { email: 'owner@example.com', project: 'one' }
const rows = [
  ['a', '1', 'first'],
  ['A', '1', 'letter case does not count'],
  ['a', '2', 'other'],
  ['a', '1', 'again'],
  ['z', '9', 'below the range'],
]

function removeDuplicates(removedDuplicates: ModelOptions['removedDuplicates']) {
  const model = new SheetsModel({ removedDuplicates })
  const state = model.create({ sharedWith: { [owner.email]: 'owner' } })
  const handle = new SpreadsheetHandle(model, state)
  handle.appendRows('Sheet1', rows)
  const comparisonColumns = [{ sheetId: 0, dimension: 'COLUMNS', startIndex: 0, endIndex: 2 }]
  const remove = () =>
    model.batchUpdate(state, owner, [
      { deleteDuplicates: { range: { startRowIndex: 0, endRowIndex: 4 }, comparisonColumns } },
    ])
  return { first: remove(), second: remove(), left: handle.rows('Sheet1') }
}

describe('rows that repeat an earlier one are removed, and the answer counts them', () => {
  const done = [{ deleteDuplicates: { duplicatesRemovedCount: 2 } }]

  test('with the cells below shifted up in the range', () => {
    const { first, left } = removeDuplicates('shift cells up')
    expect(first).toEqual(done)
    expect(left).toEqual([rows[0], rows[2], [], [], rows[4]])
  })

  test('with fewer rows in the sheet', () => {
    const { first, second, left } = removeDuplicates('delete rows')
    expect(first).toEqual(done)
    expect(second).toEqual([{ deleteDuplicates: {} }])
    expect(left).toEqual([rows[0], rows[2], rows[4]])
  })
})
