import type { sheets_v4 } from '@googleapis/sheets'
import { beforeEach, describe, expect, test } from 'vitest'

import {
  isAlreadyThere,
  isStaleLayout,
  requestIndex,
} from '../../src/spreadsheet/google/batch-errors.ts'
import { markerKey } from '../../src/spreadsheet/google/markers.ts'
import { clear, connectLive } from './live-world.ts'

const live = await connectLive()

beforeEach(() => clear(live))

/** The message with which Google refuses these requests, or `accepted` with its replies. */
async function answerTo(requests: sheets_v4.Schema$Request[]): Promise<string> {
  try {
    return `accepted: ${JSON.stringify(await live.update(requests))}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function marker(metadataId: number, metadataValue = 'x'): sheets_v4.Schema$Request {
  const place = { visibility: 'DOCUMENT', location: { spreadsheet: true } }
  const developerMetadata = { metadataId, metadataKey: markerKey, metadataValue, ...place }
  return { createDeveloperMetadata: { developerMetadata } }
}

function row(sheetId: number, cells: sheets_v4.Schema$CellData[]): sheets_v4.Schema$Request {
  return { appendCells: { sheetId, rows: [{ values: cells }], fields: 'userEnteredValue' } }
}

const text = (stringValue: string) => ({ userEnteredValue: { stringValue } })
const newTab = (sheetId: number, columnCount = 7): sheets_v4.Schema$Request => ({
  addSheet: {
    properties: { sheetId, title: `tab ${sheetId}`, gridProperties: { rowCount: 5, columnCount } },
  },
})

describe('Google does what exactly-once needs', () => {
  test('a marker id that exists is refused, and so are the rows of its call', async () => {
    await live.update([marker(7), newTab(70), row(70, [text('first')])])
    const refused = await answerTo([marker(7), row(70, [text('second')])])
    expect(refused).toSatisfy((message: string) => isAlreadyThere(message, 7))
    expect(await live.values('tab 70')).toEqual([['first']])
  })

  test('a refusal names the request that caused it', async () => {
    const refused = await answerTo([marker(8), row(999_999, [text('x')])])
    expect(requestIndex(refused)).toBe(1)
  })

  test('errors about a missing sheet and a title that is taken read as our adapter expects', async () => {
    expect(await answerTo([row(999_999, [text('x')])])).toSatisfy(isStaleLayout)
    await live.update([newTab(72)])
    const again = { addSheet: { properties: { sheetId: 73, title: 'TAB 72' } } }
    expect(await answerTo([again])).toSatisfy(isStaleLayout)
  })
})

describe('Google answers as the emulator does', () => {
  test.each<[string, () => sheets_v4.Schema$Request[], RegExp]>([
    [
      'deleting a marker that does not exist',
      () => [
        {
          deleteDeveloperMetadata: {
            dataFilter: { developerMetadataLookup: { metadataId: 4711 } },
          },
        },
      ],
      /^accepted: \[\{"deleteDeveloperMetadata":\{\}\}\]$/,
    ],
    [
      'metadata beyond 30,000 characters',
      () => Array.from({ length: 16 }, (_, index) => marker(100 + index, 'x'.repeat(2000))),
      /^Invalid requests\[\d+\]\.createDeveloperMetadata: /,
    ],
    [
      'a row wider than its grid',
      () => [newTab(74, 2), row(74, ['a', 'b', 'c'].map(text))],
      /^Invalid requests\[1\]\.appendCells: .*exceeds grid limits/,
    ],
    [
      'a tab title of 101 characters',
      () => [{ addSheet: { properties: { title: 'x'.repeat(101) } } }],
      /^(?!accepted)/,
    ],
    [
      'a cell of 50,001 characters',
      () => [newTab(75), row(75, [text('x'.repeat(50_001))])],
      /more than the maximum of 50000 characters in a single cell/,
    ],
  ])('%s', async (what, requests, expected) => {
    const answer = await answerTo(requests())
    process.stdout.write(`${what}: ${answer.slice(0, 300)}\n`)
    expect(answer).toMatch(expected)
  })
})
