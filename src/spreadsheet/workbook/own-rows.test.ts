import { describe, expect, test } from 'vitest'
import { arrange, ourHeader, ourHeaderWith, readHeader } from '../header.ts'
import { cellsOf, csvRecord, delimiters } from '../csv.ts'
import { countRows, missingRows } from './own-rows.ts'

const ours = [
  ['ada@example.org', '2026-11-20T10:00:00.000Z', 'api', 'Ada, "A"', 'a, b', '{"k":"v"}', 'News'],
  ['=grace@example.org', '2026-11-20T10:00:00.000Z', 'api', '', '', '', 'News'],
  ['ada@example.org', '2026-11-20T10:00:00.001Z', 'api', '', '', '', 'News'],
]
const [ada, grace, adaAgain] = ours
const plain = { header: ourHeader, delimiter: ',', own: [] }

/** What the file with these records lacks of these rows. */
async function missingOf(
  rows: string[][],
  lines: readonly string[],
  columns: Parameters<typeof countRows>[1] = plain,
): Promise<string[][]> {
  return missingRows(rows, columns, { now: await countRows(rows, columns, lines), before: {} })
}

const missingIn = (...lines: string[]) => missingOf(ours, lines)

test('a row that a crash cut before its own columns does not count', async () => {
  const own = [{ name: 'seats', heading: 'seats' }]
  const rows = [[...(ada ?? []), 3]]
  const columns = { header: ourHeaderWith(own), delimiter: ',', own }
  expect(await countRows(rows, columns, [csvRecord(rows[0] ?? [])])).not.toEqual({})
  expect(await countRows(rows, columns, [csvRecord(ada ?? [])])).toEqual({})
})

describe('our rows in a file that a person has changed', () => {
  test('are found in any order, under any delimiter and quoting', async () => {
    for (const delimiter of [',', ';', '\t']) {
      const bare = ours.map((row) => csvRecord(row, delimiter))
      const quoted = ours.map((row) =>
        row.map((cell) => `"${cell.replace(/^=/, "'=").replaceAll('"', '""')}"`).join(delimiter),
      )
      expect(await missingIn('Email,Timestamp', ...bare.toReversed())).toEqual([])
      expect(await missingIn(...quoted)).toEqual([])
    }
  })

  test('are found when they were written under one delimiter and saved with another', async () => {
    const theirs = ours.map((row) => [...row.slice(0, -1), 'x,=1;-2\t@3'])
    const save = (line: string, from: string, to: string) =>
      cellsOf(line, from)
        .map((cell) => `"${cell.replaceAll('"', '""')}"`)
        .join(to)
    for (const from of delimiters) {
      for (const to of delimiters) {
        const lines = theirs.map((row) => save(csvRecord(row, from), from, to))
        const columns = { ...plain, delimiter: to }
        expect(await missingOf(theirs, lines, columns), from + to).toEqual([])
      }
    }
  })

  test('are found when columns were added on both sides and other cells were edited', async () => {
    const edited = ours.map(([email = '', time = '']) =>
      csvRecord(['done', email, time, 'x', 'corrected', 'x', 'x', 'News', 'a note']),
    )
    expect(await missingIn('\ufeff"broken quote,', ...edited)).toEqual([])
  })

  test('are missing in their order when they are not there', async () => {
    expect(await missingIn()).toEqual(ours)
    expect(await missingIn(csvRecord(grace ?? []))).toEqual([ada, adaAgain])
  })

  test('count as missing when a crash cut them short, with or without empty cells after them', async () => {
    const line = csvRecord(adaAgain ?? [])
    for (let length = 0; length < line.length; length += 1) {
      const cut = line.slice(0, length)
      expect(await missingIn(cut, `${cut},,,`, `${cut},,,,,,`)).toEqual(ours)
    }
  })

  test('count as missing when they were cut short behind a cell that has the name of the tab', async () => {
    const [, , cut] = ours.map((row) => row.with(3, 'News'))
    const line = csvRecord(cut ?? [])
    for (let length = line.indexOf('News') + 4; length < line.length; length += 1) {
      expect(await missingIn(line.slice(0, length))).toEqual(ours)
    }
    expect(await missingIn(line)).toEqual([ada, grace])
  })

  test('must be there as often as equal rows of the batch, besides those of earlier ones', async () => {
    const twice = [ada ?? [], ada ?? []]
    const line = csvRecord(ada ?? [])
    expect(await missingOf(twice, [line])).toEqual([ada])
    expect(await missingOf(twice, [line, line])).toEqual([])
    const [before, now] = [[line], [line, line]].map((lines) => countRows(ours, plain, lines))
    const counts = { now: (await now) ?? {}, before: (await before) ?? {} }
    expect(missingRows(twice, plain, counts)).toEqual([ada])
  })

  test('are not mistaken for the text of somebody else’s cell', async () => {
    const [email = '', time = ''] = ada ?? []
    const forged = `x,${email},${time},x,x,x,x,News`
    expect(
      await missingIn(csvRecord(['eve@example.org', time, 'api', forged, '', '', 'News'])),
    ).toEqual(ours)
  })
})

describe('our rows under somebody’s own header row', () => {
  test.each([
    [['Name', 'Email', 'Phone']],
    [['Metadata', 'Email']],
    [['Sheet Tab', 'Name', 'Email', 'Timestamp']],
    [['Timestamp', 'Email', 'Name']],
  ])('are found under %j in any order, or else are missing', async (names) => {
    const columns = { header: readHeader(names), delimiter: ';', own: [] }
    const lines = ours.map((row) => csvRecord(arrange(row, columns.header), ';'))
    const missingIn = (...found: string[]) => missingOf(ours, found, columns)
    expect(await missingIn(names.join(';'), ...lines.toReversed())).toEqual([])
    expect(await missingIn(names.join(';'), lines[1] ?? '')).toEqual([ada, adaAgain])
    // Without the delimiter of an empty cell at the end, nothing is lost.
    const [, line = ''] = lines
    const filled = line.length - (line.endsWith(';') ? 1 : 0)
    for (let length = 0; length < filled; length += 1) {
      expect(await missingIn(line.slice(0, length))).toEqual(ours)
    }
    // Without a column for the timestamp, nothing tells two rows of one address apart.
    if (names.includes('Timestamp') || names.includes('Metadata')) {
      expect(await missingIn(lines[2] ?? '')).toEqual([ada, grace])
    }
  })
})
