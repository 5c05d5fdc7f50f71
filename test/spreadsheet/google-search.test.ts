import { describe, expect, test } from 'vitest'

import { createGoogleWorld } from '../../harness/google-world.ts'
import { testSignal } from './spreadsheet-contract.ts'

/** Which rows of a Google Sheet are found to be removed, and how many calls that takes. */

describe('the search for rows', () => {
  const at = Date.UTC(2026, 10, 20, 12)
  const target = { email: 'ada@example.com', receivedAt: at }
  const time = new Date(at).toISOString()

  /** What is found in a tab with these rows, of which the last one is the last of the tab. */
  async function searched(
    rows: readonly (readonly string[])[],
    { columnCount = 26, rowCount = rows.length } = {},
  ) {
    await using google = await createGoogleWorld()
    const handle = google.emulator.spreadsheet(google.spreadsheetId)
    handle.addTab('News', rows)
    if (rowCount > rows.length) handle.insertRows('News', 2, rowCount - rows.length)
    handle.resizeTab('News', { rowCount, columnCount })
    handle.deleteTab('Sheet1')
    const { reads } = google.emulator.counters
    const result = await google.connect().remove([target], testSignal)
    if (result.kind !== 'removed') expect.fail(result.message)
    const { standing } = result
    const left = handle.rows('News').flat()
    return { standing, left, calls: google.emulator.counters.reads - reads }
  }

  test.each<[string, readonly string[], object]>([
    ['in other letters and with spaces', [' ADA@Example.com ', ` ${time} `], { standing: [1] }],
    ['with the time in its metadata', [target.email, `{"Timestamp":"${time}"}`], { standing: [1] }],
    ['in columns that people have moved', ['x', time, 'y', target.email], { standing: [1] }],
    ['with another time', [target.email, '2026-11-20'], { standing: [0] }],
    ['with a time that is a part of a text', [target.email, `at ${time}`], { standing: [0] }],
    ['as a part of a text', [`${target.email}.au`, time], { standing: [0] }],
  ])('finds a row %s, or tells that it is another', async (_, row, found) => {
    const result = await searched([['a'], row, ['z']])
    expect(result).toMatchObject(found)
    expect(result.left).toEqual(result.standing[0] === 1 ? ['a', 'z'] : ['a', ...row, 'z'])
  })

  const ours = [target.email, time]
  test.each<[string, readonly string[][], { columnCount: number; rowCount: number }, number]>([
    ['26,000 cells', [['Guests'], ours], { columnCount: 26, rowCount: 1000 }, 2],
    ['more cells', [['Guests'], ours], { columnCount: 26, rowCount: 1001 }, 3],
    ['few columns', [['Guests'], ours], { columnCount: 7, rowCount: 3714 }, 2],
    ['one row more', [['Guests'], ours], { columnCount: 7, rowCount: 3715 }, 3],
    ['other data', [['Guests'], ours], { columnCount: 26, rowCount: 2001 }, 4],
    [
      'a header row, of which only a few columns are read',
      [
        ['x', 'Email', 'Timestamp'],
        ['x', ...ours],
      ],
      { columnCount: 26, rowCount: 51_000 },
      3,
    ],
    [
      'a header row, and one row more',
      [
        ['x', 'Email', 'Timestamp'],
        ['x', ...ours],
      ],
      { columnCount: 26, rowCount: 51_001 },
      4,
    ],
    [
      'a header row with columns far apart, the time first',
      [
        ['Timestamp', 'x', 'y', 'Email'],
        [time, 'x', 'y', target.email],
      ],
      { columnCount: 26, rowCount: 7500 },
      3,
    ],
    [
      'a header row without a timestamp',
      [
        ['x', 'Email', 'Metadata'],
        ['x', target.email, `{"Timestamp":"${time}"}`],
      ],
      { columnCount: 26, rowCount: 51_000 },
      3,
    ],
  ])('finds the last row of a tab with %s, in few calls', async (_, rows, size, calls) => {
    expect(await searched(rows, size)).toMatchObject({ standing: [1], calls })
  })

  test('counts a row far below a header row that names no time', async () => {
    const rows = [
      ['Name', 'Email'],
      ['Ada', target.email],
    ]
    expect(await searched(rows, { columnCount: 26, rowCount: 2000 })).toMatchObject({
      ...{ standing: [0], calls: 3 },
    })
  })

  test.each([
    [19, 2],
    [20, 3],
  ])('of %i short tabs and one more takes %i calls', async (count, calls) => {
    await using google = await createGoogleWorld()
    const handle = google.emulator.spreadsheet(google.spreadsheetId)
    for (let tab = 0; tab < count; tab++) {
      handle.addTab(`${tab}`, [['Email'], ours])
      handle.resizeTab(`${tab}`, { rowCount: 10 })
    }
    handle.resizeTab('Sheet1', { rowCount: 10 })
    const spreadsheet = google.connect()
    const result = await spreadsheet.remove([target], testSignal)
    expect(result).toMatchObject({ standing: [count] })
    expect(google.emulator.counters.reads).toBe(calls)
  })

  test('is made again when somebody renames a tab meanwhile, and fails as its calls do', async () => {
    await using google = await createGoogleWorld()
    const handle = google.emulator.spreadsheet(google.spreadsheetId)
    const acts = [undefined, () => handle.renameTab('Sheet1', 'News')]
    const gate = async () => acts.shift()?.()
    const spreadsheet = google.connect(undefined, undefined, undefined, gate)
    expect(await spreadsheet.remove([target], testSignal)).toEqual({
      ...{ kind: 'retryable', afterMs: 0 },
      message: expect.stringMatching(/^Unable to parse range: …: a tab was changed just now/),
    })
    for (const skip of [0, 1]) {
      google.emulator.faults.add({ on: 'get', skip, answer: 'drop' })
      expect(await spreadsheet.remove([target], testSignal)).toMatchObject({ kind: 'retryable' })
      google.emulator.faults.add({ on: 'get', skip, answer: 'notShared' })
      expect(await spreadsheet.remove([target], testSignal)).toMatchObject({ kind: 'refused' })
    }
    expect(google.emulator.counters.writes).toBe(0)
  })
})
