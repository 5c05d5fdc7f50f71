import { describe, expect, test } from 'vitest'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { createWorkbookWorld } from '../../harness/workbook-world.ts'
import { cellKey } from '../../src/spreadsheet/csv.ts'
import type { RowReader, RowsEnd, Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { columns } from '../../src/signup/row.ts'
import { makeBatch, testSignal } from './spreadsheet-contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)

/** As `readAll`, with calls that fail made again. */
function readAllAgain(reader: RowReader) {
  const next: RowReader['next'] = async (signal) => {
    const part = await reader.next(signal)
    return part.kind === 'retryable' ? next(signal) : part
  }
  return readAll({ ...reader, next })
}

/** All rows by tab, as `address moment`. */
async function readAll(
  reader: RowReader,
): Promise<{ rows: Record<string, string[]>; end: RowsEnd }> {
  const rows: Record<string, string[]> = {}
  for (;;) {
    const part = await reader.next(testSignal)
    if (part.kind === 'end') return { rows, end: part }
    if (part.kind !== 'rows') throw new Error(JSON.stringify(part))
    const texts = part.rows.map(({ email, at }) => `${cellKey(email)} ${at ?? 'no time'}`)
    rows[part.tab] = [...(rows[part.tab] ?? []), ...texts]
  }
}

async function readRows(spreadsheet: Spreadsheet): Promise<Record<string, string[]>> {
  await using reader = spreadsheet.rowReader()
  return (await readAll(reader)).rows
}

const signups = makeSignups(3).map((signup, at) => ({ ...signup, receivedAt: noon + at }))
const expected = signups.map(({ email, receivedAt }) => `${email} ${receivedAt}`)

describe.each([
  ['Google Sheets', () => createGoogleWorld()],
  ['the workbook', () => createWorkbookWorld()],
])('reading the rows of %s back', (_, createWorld) => {
  test('gives what was written, to the millisecond, also addresses that begin like a formula', async () => {
    await using world = await createWorld()
    const spreadsheet = world.connect()
    await spreadsheet.open(testSignal)
    const odd = ['+ada@example.com', "'=x@example.com", 'o"neil@example.com', '-a;b@example.com']
    const more = odd.map((email, at) => makeSignup({ email, receivedAt: noon + 5 + at }))
    await spreadsheet.write(makeBatch(1, { News: signups, Beta: more }), testSignal)
    const rows = await readRows(spreadsheet)
    expect(rows).toMatchObject({
      News: expected,
      Beta: more.map(({ email, receivedAt }) => `${cellKey(email)} ${receivedAt}`),
    })
  })

  test.each([
    ['our columns in another order', ['Timestamp', 'Name', 'E mail', 'Email']],
    ['no column for the timestamp', ['Name', 'Email', 'Metadata']],
  ])('finds address and timestamp under a header with %s', async (__, header) => {
    await using world = await createWorld()
    await world.createTab('News', [header, ['', '', '', '']])
    const spreadsheet = world.connect()
    await spreadsheet.open(testSignal)
    const own = signups.map((signup) => ({ ...signup, metadata: '{"Timestamp":"mine"}' }))
    await spreadsheet.write(makeBatch(1, { News: own }), testSignal)
    expect((await readRows(spreadsheet))['News']).toEqual(expected)
  })

  test('gives rows that a person typed, and rows without a header', async () => {
    await using world = await createWorld()
    await world.createTab('News', [
      ['bob@example.com', '2026-11-20'],
      ['', '2026-11-20T12:00:00.007Z'],
      ['', 'a note'],
    ])
    const spreadsheet = world.connect()
    await spreadsheet.open(testSignal)
    expect((await readRows(spreadsheet))['News']).toEqual([
      'bob@example.com no time',
      ` ${noon + 7}`,
    ])
  })
})

describe('reading a Google Sheet', () => {
  test('takes three calls, and they see one moment, as long as all rows fit into one call', async () => {
    await using world = await createGoogleWorld()
    for (let tab = 1; tab < 15; tab++) await world.createTab(`Tab ${tab}`, [columns])
    const spreadsheet = world.connect()
    const before = world.emulator.log.counters.reads
    await using reader = spreadsheet.rowReader()
    expect((await readAll(reader)).end.isOneMoment).toBe(true)
    expect(world.emulator.log.counters.reads - before).toBe(3)
  })

  test('tells that the address is of an Excel file, and does not take it for a change of tabs', async () => {
    await using world = await createGoogleWorld()
    const body = '{"error":{"message":"It must not be an Office file."}}'
    world.emulator.faults.add({ on: 'get', answer: { status: 400, body } })
    await using reader = world.connect().rowReader()
    expect(await reader.next(testSignal)).toMatchObject({ kind: 'refused' })
  })

  test('goes on page by page in a large tab, and says that its rows are of several moments', async () => {
    await using world = await createGoogleWorld()
    const count = 45_000
    // With an indented answer, so many rows would be too large for one call.
    const domain = `${'long.'.repeat(40)}example.com`
    const rows = Array.from({ length: count }, (_, at) => [
      `person${at}@${domain}`,
      new Date(noon + at).toISOString(),
    ])
    await world.createTab('News', [columns, ...rows])
    await world.deleteTab('Sheet1')
    await using reader = world.connect().rowReader()
    const { rows: read, end } = await readAll(reader)
    expect(end.isOneMoment).toBe(false)
    // The list, the first rows, and 40,000 rows a call.
    expect(world.emulator.counters.reads).toBe(4)
    expect(read['News']).toHaveLength(count)
    expect(new Set(read['News']).size).toBe(count)
  })

  test.each([
    ['renames a tab', 'News', (handle: Handle) => handle.renameTab('News', 'Old')],
    ['deletes a tab', 'News', (handle: Handle) => handle.deleteTab('News')],
    ['inserts a column', 'News', (handle: Handle) => handle.insertColumns('News', 0)],
    [
      'swaps the names of two tabs',
      'News',
      (handle: Handle) => {
        handle.renameTab('News', 'x')
        handle.renameTab('Beta', 'News')
        handle.renameTab('x', 'Beta')
      },
    ],
  ])('notices when somebody %s between two calls', async (_, __, act) => {
    await using world = await createGoogleWorld()
    const rows = Array.from({ length: 45_000 }, () => ['ada@example.com'])
    await world.createTab('News', [columns, ...rows])
    await world.createTab('Beta', [columns, ...rows])
    await using reader = world.connect().rowReader()
    const parts = [await reader.next(testSignal)]
    while (parts.at(-1)?.kind === 'rows' && parts.length < 2)
      parts.push(await reader.next(testSignal))
    act(world.emulator.spreadsheet(world.spreadsheetId))
    while (parts.at(-1)?.kind === 'rows') parts.push(await reader.next(testSignal))
    expect(parts.at(-1)?.kind).toBe('changed')
  })

  test('does not split a tab that fits into a call of its own', async () => {
    await using world = await createGoogleWorld()
    const handle = world.emulator.spreadsheet(world.spreadsheetId)
    for (const tab of ['Beta', 'News']) {
      handle.addTab(tab, [columns])
      handle.resizeTab(tab, { rowCount: 25_000 })
    }
    await using reader = world.connect().rowReader()
    expect((await readAll(reader)).end.isOneMoment).toBe(false)
    expect(world.emulator.counters.reads).toBe(4)
  })

  test('reads 1,000 rows a call where the timestamp is in the metadata', async () => {
    await using world = await createGoogleWorld()
    const handle = world.emulator.spreadsheet(world.spreadsheetId)
    const row = ['', 'ada@example.com', `{"Timestamp":"${new Date(noon).toISOString()}"}`]
    handle.addTab('News', [['Name', 'Email', 'Metadata'], row])
    handle.deleteTab('Sheet1')
    handle.insertRows('News', 2, 1998)
    handle.resizeTab('News', { rowCount: 2000 })
    await using reader = world.connect().rowReader()
    expect((await readAll(reader)).rows['News']).toEqual([`ada@example.com ${noon}`])
    expect(world.emulator.counters.reads).toBe(4)
  })

  test('reads the rows that come below while it reads', async () => {
    await using world = await createGoogleWorld()
    const handle = world.emulator.spreadsheet(world.spreadsheetId)
    handle.resizeTab('Sheet1', { rowCount: 1 })
    handle.addTab('News', [columns])
    handle.resizeTab('News', { rowCount: 40_001 })
    handle.editCell('News', 'A40001', 'ada@example.com')
    const acts = Array.from({ length: 3 }, () => (): void => undefined)
    acts.push(() => handle.appendRows('News', [['bob@example.com'], ['eve@example.com']]))
    const gate = async () => acts.shift()?.()
    await using reader = world.connect(undefined, undefined, undefined, gate).rowReader()
    const names = (await readAll(reader)).rows['News']?.map((row) => row.split('@')[0])
    expect(names).toEqual(['ada', 'bob', 'eve'])
  })

  test.each<[string, (handle: Handle) => unknown]>([
    ['renames a tab', (handle) => handle.renameTab('News', 'Old')],
    ['deletes a tab', (handle) => handle.deleteTab('News')],
  ])(
    'begins anew, and leaves no tab out, when somebody %s right after the list',
    async (_, act) => {
      await using world = await createGoogleWorld()
      await world.createTab('News', [columns])
      const handle = world.emulator.spreadsheet(world.spreadsheetId)
      const acts = [undefined, act]
      const spreadsheet = world.connect(undefined, undefined, undefined, async () => {
        acts.shift()?.(handle)
      })
      await using reader = spreadsheet.rowReader()
      expect(await reader.next(testSignal)).toEqual({ kind: 'changed' })
      expect(Object.keys(await readRows(spreadsheet))).toHaveLength(handle.titles().length)
    },
  )

  test('does not come to its end while Google cannot read the title of a tab in a range', async () => {
    await using world = await createGoogleWorld({ model: { unreadableTitles: ['Odd'] } })
    await world.createTab('Odd', [columns])
    await using reader = world.connect().rowReader()
    expect(await reader.next(testSignal)).toEqual({ kind: 'changed' })
  })

  test.each([
    ['cannot be listed', 0],
    ['cannot be read', 1],
  ])('tells of a failing call when the spreadsheet %s, and goes on later', async (_, skip) => {
    await using world = await createGoogleWorld()
    await using reader = world.connect().rowReader()
    world.emulator.faults.add(
      { on: 'get', skip, answer: 'notShared' },
      { on: 'get', skip: skip + 1, answer: 'internal' },
    )
    expect(await reader.next(testSignal)).toMatchObject({ kind: 'refused', reason: 'permission' })
    expect((await readAllAgain(reader)).end.kind).toBe('end')
  })

  test('gives the rows of a table that begins far to the right', async () => {
    await using world = await createGoogleWorld()
    const away = Array.from({ length: 8 }, () => '')
    await world.createTab('News', [
      [...away, ...columns],
      [...away, 'ada@example.com', new Date(noon).toISOString()],
    ])
    const handle = world.emulator.spreadsheet(world.spreadsheetId)
    handle.convertToTable('News', { cells: 'I1:O2' })
    expect((await readRows(world.connect()))['News']).toEqual([`ada@example.com ${noon}`])
  })
})

type Handle = ReturnType<Awaited<ReturnType<typeof createGoogleWorld>>['emulator']['spreadsheet']>
