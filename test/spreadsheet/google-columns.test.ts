import { describe, expect, test } from 'vitest'

import type { EmulatorOptions } from '../../emulators/google-sheets/emulator.ts'
import type { Field } from '../../src/signup/field.ts'
import { columns } from '../../src/signup/row.ts'
import type { Signup } from '../../src/signup/signup.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { makeBatch, rowsOf, testSignal } from './spreadsheet-contract.ts'

/** People change the columns of a tab in Google Sheets, or make tables. Rows still go to the right place. */

const header = [...columns]

/** A world with a tab `News`, and a function that writes to it. */
async function newsWorld(
  rows: readonly (readonly (string | boolean)[])[] = [],
  prepare: (sheet: ReturnType<GoogleWorld['emulator']['spreadsheet']>) => void = () => undefined,
  model: EmulatorOptions['model'] = {},
) {
  const world = await createGoogleWorld({ model })
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  if (rows.length > 0) sheet.addTab('News', rows)
  prepare(sheet)
  const spreadsheet = world.connect()
  await spreadsheet.open(testSignal)
  let number = 0
  return Object.assign(world, {
    sheet,
    spreadsheet,
    /** Writes a batch as the writer does, which tries again at once when the outcome asks for it. */
    async write(...signups: Signup[]) {
      number += 1
      const batch = makeBatch(number, { News: signups })
      let outcome = await spreadsheet.write(batch, testSignal)
      for (let tries = 0; 'afterMs' in outcome && outcome.afterMs === 0 && tries < 3; tries += 1) {
        outcome = await spreadsheet.write(batch, testSignal)
      }
      return outcome
    },
    calls: () => world.emulator.log.calls().length,
  })
}

const applied = { kind: 'applied' }
/** The warning that somebody had changed the tab just before rows were written to it. */
const changed = {
  kind: 'changed',
  message: expect.stringMatching(/^Somebody renamed the tab at place 2 .* just when rows/),
}

function swapNames({ sheet }: Awaited<ReturnType<typeof newsWorld>>): void {
  sheet.renameTab('News', 'for a moment')
  sheet.renameTab('Events', 'News')
  sheet.renameTab('for a moment', 'Events')
}

async function emailsIn(world: GoogleWorld, column = 0): Promise<(string | undefined)[]> {
  return ((await world.rows('News')) ?? []).map((row) => row[column])
}

describe('a person changes the columns while rows come', () => {
  test.each<[string, (world: Awaited<ReturnType<typeof newsWorld>>) => void, number]>([
    ['inserts a column in front', ({ sheet }) => sheet.insertColumns('News', 0), 1],
    [
      'renames a column',
      ({ sheet }) => {
        sheet.resizeTab('News', { columnCount: 8 })
        sheet.editCell('News', 'D1', 'Full name')
        sheet.editCell('News', 'H1', 'Name')
      },
      0,
    ],
  ])(
    'when a person %s, one batch goes by the old columns with a warning, and the next by the new ones',
    async (_, deed, email) => {
      await using world = await newsWorld()
      expect(await world.write(makeFullSignup())).toEqual(applied)
      deed(world)
      const before = world.calls()
      expect(await world.write(makeFullSignup())).toEqual(applied)
      expect(world.spreadsheet.warnings).toContainEqual(changed)
      const signup = makeFullSignup()
      expect(await world.write(signup)).toEqual(applied)
      expect(world.spreadsheet.warnings).not.toContainEqual(changed)
      expect(world.calls() - before).toBe(2)
      expect((await emailsIn(world, email)).at(-1)).toBe(signup.email)
      const names = world.sheet.rows('News')[0] ?? []
      expect(world.sheet.rows('News').at(-1)?.[names.indexOf('Name')]).toBe('Ada Lovelace')
    },
  )

  test('when a person adds a column behind ours, there is no warning', async () => {
    await using world = await newsWorld()
    await world.write(makeFullSignup())
    world.sheet.resizeTab('News', { columnCount: 8 })
    world.sheet.editCell('News', 'H1', 'Notes')
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(world.spreadsheet.warnings).toEqual([])
  })

  test('when the answer to a batch by old columns is lost, the warning comes with the next batch', async () => {
    await using world = await newsWorld()
    await world.write(makeFullSignup())
    world.sheet.insertColumns('News', 0)
    world.emulator.faults.add({ on: 'batchUpdate', apply: 'now', answer: 'drop' })
    expect(await world.write(makeFullSignup())).toMatchObject({ kind: 'unknown' })
    const again = makeBatch(2, { News: [makeFullSignup()] })
    expect(await world.spreadsheet.write(again, testSignal)).toEqual(applied)
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(world.spreadsheet.warnings).toContainEqual(changed)
  })

  test.each(['refuse', 'apply'] as const)(
    'when a person renames the tab, no row is lost or doubled, even if Google would %s a batch that asks about it',
    async (unknownRanges) => {
      await using world = await newsWorld([], undefined, { unknownRanges })
      const signups = [makeFullSignup(), makeFullSignup(), makeFullSignup()] as const
      await world.write(signups[0])
      world.sheet.renameTab('News', 'Old news')
      const second = await world.write(signups[1])
      const third = await world.write(signups[2])
      const rows = [...world.sheet.rows('Old news'), ...world.sheet.rows('News')]
      expect(rows.map(([cell]) => cell).filter((cell) => cell !== 'Email')).toEqual(
        signups.map(({ email }) => email),
      )
      expect((await emailsIn(world)).at(-1)).toBe(signups[2].email)
      const isApplied = unknownRanges === 'apply'
      expect([second, third]).toEqual([applied, applied])
      expect(world.spreadsheet.warnings).toEqual(isApplied ? [changed] : [])
      expect(await emailsIn(world)).toHaveLength(isApplied ? 2 : 3)
    },
  )
})

test('when a person swaps the names of two tabs, one batch goes to the wrong one with a warning, and the next to the right one', async () => {
  await using world = await newsWorld([header], (sheet) => sheet.addTab('Events', [header]))
  await world.write(makeFullSignup())
  const rowOfNews = await emailsIn(world)
  swapNames(world)
  const wrong = makeFullSignup()
  const right = makeFullSignup()
  expect(await world.write(wrong)).toEqual(applied)
  expect(await world.write(right)).toEqual(applied)
  expect(world.spreadsheet.warnings).toEqual([changed])
  expect(world.sheet.rows('Events').map(([email]) => email)).toEqual([...rowOfNews, wrong.email])
  expect(await emailsIn(world)).toEqual(['Email', right.email])
})

test('when another writer ended a batch whose answer was lost, the next one goes by the new names, with a warning', async () => {
  await using world = await newsWorld([header], (sheet) => sheet.addTab('Events', [header]))
  await world.write(makeFullSignup())
  swapNames(world)
  world.emulator.faults.add({ on: 'batchUpdate', apply: 'now', answer: 'drop' })
  expect(await world.write(makeFullSignup())).toMatchObject({ kind: 'unknown' })
  const right = makeFullSignup()
  expect(await world.write(right)).toEqual(applied)
  expect(world.spreadsheet.warnings).toEqual([changed])
  expect(await emailsIn(world)).toEqual(['Email', right.email])
})

test('after a batch whose answer was lost was given up, the next one costs no more calls', async () => {
  await using world = await newsWorld()
  await world.write(makeFullSignup())
  world.emulator.faults.add({ on: 'batchUpdate', answer: 'drop' })
  const lost = makeBatch(9, { News: [makeFullSignup()] })
  expect(await world.spreadsheet.write(lost, testSignal)).toMatchObject({ kind: 'unknown' })
  expect(await world.spreadsheet.abandon(lost, testSignal)).toEqual({ kind: 'abandoned' })
  const calls = world.calls()
  expect(await world.write(makeFullSignup())).toEqual(applied)
  expect(world.calls() - calls).toBe(1)
})

describe('a person makes a table of a tab', () => {
  test('a table takes rows above its footer, and above what is below', async () => {
    await using world = await newsWorld([header, ['ada@example.com'], ['Total']], (sheet) => {
      sheet.convertToTable('News', { footerRows: 1 })
      sheet.editCell('News', 'A6', 'a note')
    })
    const signups = [makeFullSignup(), makeFullSignup()]
    expect(await world.write(...signups)).toEqual(applied)
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(await emailsIn(world)).toEqual([
      ...['Email', 'ada@example.com', ...signups.map(({ email }) => email)],
      ...[expect.stringContaining('@'), 'Total', '', '', 'a note'],
    ])
  })

  test('a table with a column of checkboxes down to line 1000 takes a row at its first free line', async () => {
    const rows = Array.from({ length: 999 }, () => [...header.map(() => ''), false])
    await using world = await newsWorld([[...header, 'Done'], ...rows], (sheet) => {
      sheet.convertToTable('News')
    })
    const signup = makeFullSignup()
    expect(await world.write(signup)).toEqual(applied)
    expect((await emailsIn(world))[1]).toBe(signup.email)
    expect(world.spreadsheet.warnings).toEqual([])
  })

  test('when a table is made while rows come, one batch may go below it with a warning, and the next goes into it', async () => {
    await using world = await newsWorld()
    await world.write(makeFullSignup())
    world.sheet.convertToTable('News')
    world.sheet.editCell('News', 'A4', 'a note')
    const before = world.calls()
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(world.spreadsheet.warnings).toEqual([changed])
    const signup = makeFullSignup()
    expect(await world.write(signup)).toEqual(applied)
    expect(world.calls() - before).toBe(2)
    expect((await emailsIn(world))[2]).toBe(signup.email)
  })

  test('when a table is reverted, rows go on as before without a notice', async () => {
    await using world = await newsWorld([header, ['ada@example.com']], (sheet) => {
      sheet.convertToTable('News')
    })
    await world.write(makeFullSignup())
    world.sheet.revertTables('News')
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(await emailsIn(world)).toHaveLength(5)
  })

  test('when a table is deleted with its cells, the tab gets the header row again', async () => {
    await using world = await newsWorld([header, ['ada@example.com']], (sheet) => {
      sheet.convertToTable('News')
    })
    await world.write(makeFullSignup())
    world.sheet.revertTables('News')
    world.sheet.deleteRows('News', 1, 3)
    const signup = makeFullSignup()
    expect(await world.write(signup)).toEqual(applied)
    expect(await world.rows('News')).toEqual([
      header,
      ...rowsOf('News', makeBatch(1, { News: [signup] })),
    ])
  })

  test('a table takes cells by the names of its columns, wherever it begins', async () => {
    const rows = [
      ['Our guests'],
      [],
      ['', 'Name', 'Email', 'Metadata'],
      ['', 'Ada', 'ada@example.com', ''],
    ]
    await using world = await newsWorld(rows, (sheet) => {
      sheet.convertToTable('News', { cells: 'B3:D4' })
    })
    const signup = makeFullSignup({ metadata: '' })
    expect(await world.write(signup)).toEqual(applied)
    const before = world.calls()
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(world.calls() - before).toBe(1)
    const row = (await world.rows('News'))?.[4]
    expect(row?.slice(0, 3)).toEqual(['', 'Ada Lovelace', signup.email])
    expect(JSON.parse(row?.[3] ?? '')).toMatchObject({ Source: 'api', 'Sheet Tab': 'News' })
    world.sheet.insertRows('News', 1, 2)
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(await world.write(makeFullSignup())).toEqual(applied)
    expect(await world.rows('News')).toHaveLength(10)
  })

  test('a table beside our columns gets no rows, and of two tables the one with our columns gets them', async () => {
    await using beside = await newsWorld([[...header, '', 'Name', 'Email']], (sheet) => {
      sheet.convertToTable('News', { cells: 'I1:J1' })
    })
    const signup = makeFullSignup()
    expect(await beside.write(signup)).toEqual(applied)
    expect((await emailsIn(beside)).at(-1)).toBe(signup.email)

    const rows = [
      ['Name', 'Email', '', ...header],
      ['', 'x@example.com', '', 'ada@example.com'],
    ]
    await using two = await newsWorld(rows, (sheet) => {
      sheet.convertToTable('News', { cells: 'A1:B2' })
      sheet.convertToTable('News', { cells: 'D1:J2' })
    })
    expect(await two.write(signup)).toEqual(applied)
    expect((await two.rows('News'))?.[2]?.[3]).toBe(signup.email)
  })

  test('a table with another type for a column of ours gets text all the same', async () => {
    await using world = await newsWorld([header], (sheet) => {
      sheet.convertToTable('News', { types: { Timestamp: 'DATE', Notes: 'DOUBLE' } })
    })
    const signup = makeFullSignup()
    expect(await world.write(signup)).toEqual(applied)
    const [row] = rowsOf('News', makeBatch(1, { News: [signup] }))
    expect(world.sheet.cells('News').at(-1)).toEqual(
      row?.map((stringValue) => ({ userEnteredValue: { stringValue } })),
    )
    expect(world.spreadsheet.warnings).toEqual([])
  })
})

test('a tab whose title Google cannot read in a range gets its rows, at one call a batch after the first', async () => {
  await using world = await newsWorld([header])
  const body = JSON.stringify({ error: { message: "Unable to parse range: 'News'!A1:ZZ1" } })
  world.emulator.faults.add({ on: 'batchUpdate', answer: { status: 400, body }, times: 2 })
  expect(await world.write(makeFullSignup())).toEqual(applied)
  const before = world.calls()
  expect(await world.write(makeFullSignup())).toEqual(applied)
  expect(world.calls() - before).toBe(1)
  expect(await world.rows('News')).toHaveLength(3)
})

describe('the fields of a site', () => {
  const seats = { name: 'seats', type: 'number', required: false } as const
  const news = { name: 'news', type: 'checkbox', required: false } as const
  const company = { name: 'company', type: 'text', required: false, maxLength: 9 } as const
  const signup = () => makeFullSignup({ fields: { seats: 3, news: false, company: '=1+1' } })

  async function write(world: GoogleWorld, number: number, fields: readonly Field[]) {
    const spreadsheet = world.connectWith(fields)
    const batch = makeBatch(number, { News: [signup()] })
    const first = await spreadsheet.write(batch, testSignal)
    return first.kind === 'retryable' ? spreadsheet.write(batch, testSignal) : first
  }

  test('are cells of their type, and a text is never a formula', async () => {
    await using world = await newsWorld()
    expect(await write(world, 1, [seats, news, company])).toEqual(applied)
    const [, row = []] = world.sheet.cells('News')
    expect(row.slice(7).map((cell) => cell.userEnteredValue)).toEqual([
      { numberValue: 3 },
      { boolValue: false },
      { stringValue: '=1+1' },
    ])
  })

  test('go into Metadata while the header row is protected, and rows go on', async () => {
    await using world = await newsWorld()
    expect(await write(world, 1, [])).toEqual(applied)
    world.sheet.protectTab('News', { startRowIndex: 0, endRowIndex: 1 })
    expect(await write(world, 2, [seats, news])).toEqual(applied)
    const rows = (await world.rows('News')) ?? []
    expect(rows[0]).toEqual(header)
    expect(JSON.parse(rows[2]?.[5] ?? '')).toMatchObject({ seats: 3, news: false })
  })

  test('that are added widen a sheet that has no more columns', async () => {
    await using world = await newsWorld([header])
    world.sheet.resizeTab('News', { columnCount: 7 })
    expect(await write(world, 1, [seats, news])).toEqual(applied)
    expect((await world.rows('News'))?.map((row) => row.slice(7))).toEqual([
      ['seats', 'news'],
      ['3', 'FALSE'],
    ])
  })
})
