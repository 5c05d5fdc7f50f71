import { describe, expect, test } from 'vitest'

import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { columns, ownColumns } from '../../src/signup/row.ts'
import type { Expected } from '../../src/spreadsheet/inspection.ts'
import { findingsOf, inspect } from './inspection-world.ts'

describe('an inspection of the tabs in Google Sheets', () => {
  const names = columns.join(', ')

  test.each<[string, (sheet: SpreadsheetHandle) => unknown, Partial<Expected>, string[]]>([
    [
      'a tab has its name as it is in the spreadsheet',
      (sheet) => sheet.addTab('NEWS', [[...columns], ['ada@example.com']]),
      { tabs: ['Sheet1', 'news'] },
      [
        'ok: the tab "Sheet1" is empty and gets the header row with its first signup',
        `ok: the tab "NEWS" has a column for each of ${names}`,
      ],
    ],
    [
      'a header that is not ours is a warning',
      (sheet) => sheet.addTab('News', [['Email', 'Phone']]),
      { tabs: ['Sheet1', 'News', 'Later'] },
      [
        'ok: the tab "Sheet1" is empty and gets the header row with its first signup',
        expect.stringMatching(
          /^warning: the tab "News" has a header row of its own, and no column for Timestamp/,
        ),
        'ok: the tab "Later" is made with its first signup',
      ],
    ],
    [
      'columns of the site’s own are looked for, and told when they are added or have no place',
      (sheet) => {
        sheet.addTab('There', [[...columns, 'Notes', 'Firma']])
        sheet.addTab('Old', [[...columns]])
        sheet.addTab('Theirs', [['Email', 'Metadata']])
      },
      {
        tabs: ['There', 'Old', 'Theirs'],
        own: ownColumns([{ name: 'company', label: 'Firma', type: 'url', required: false }]),
      },
      [
        `ok: the tab "There" has a column for each of ${names}, Firma`,
        `ok: the tab "Old" has a column for each of ${names}, and gets Firma with its next rows`,
        expect.stringMatching(/^warning: the tab "Theirs" .*Firma: that goes into Metadata/),
      ],
    ],
  ])('%s', async (_, prepare, expected, lines) => {
    const found = await findingsOf('tabs', (__, sheet) => prepare(sheet), { expected })
    expect(found.map(({ state, message }) => `${state}: ${message}`)).toEqual(lines)
  })

  test('a protected tab is a fault', async () => {
    await using world = await createGoogleWorld()
    world.emulator.spreadsheet(world.spreadsheetId).protectTab('Sheet1')
    expect((await inspect(world)).find(({ check }) => check === 'tabs')).toEqual({
      check: 'tabs',
      state: 'fault',
      message: `The tab is protected: the tab "Sheet1" takes no rows from ${world.email}`,
      hint:
        'Under Data > Protect sheets and ranges, remove the protection, or add ' +
        `${world.email} to those who may edit.`,
    })
  })

  test('a chart is a fault', async () => {
    const sheets = [{ properties: { sheetId: 7, title: 'Chart1', sheetType: 'OBJECT' } }]
    const answer = { status: 200, body: JSON.stringify({ sheets }) }
    const chart = ({ emulator }: GoogleWorld) => emulator.faults.add({ on: 'get', answer })
    expect(await findingsOf('tabs', chart, { expected: { tabs: ['Sheet1', 'Chart1'] } })).toEqual([
      { check: 'tabs', state: 'ok', message: 'the tab "Sheet1" is made with its first signup' },
      {
        check: 'tabs',
        state: 'fault',
        message: 'the tab "Chart1" is a chart or has no cells',
        hint: expect.stringMatching(/^Rename that tab/),
      },
    ])
  })

  test('at most twenty are looked at', async () => {
    const tabs = Array.from({ length: 30 }, (_, index) => `Tab ${index}`)
    const found = await findingsOf('tabs', () => undefined, { expected: { tabs } })
    expect(found).toHaveLength(20)
    expect(found.at(-1)?.message).toBe('the tab "Tab 19" is made with its first signup')
  })
})
