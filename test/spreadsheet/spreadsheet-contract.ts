import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import { columns, toRow } from '../../src/signup/row.ts'
import { shownCell } from '../../src/spreadsheet/csv.ts'
import type { Signup } from '../../src/signup/signup.ts'
import type { Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'

/** What the suite has to know about one kind of spreadsheet. */
export interface SpreadsheetHarness {
  /** An empty spreadsheet of its own for each test. */
  createWorld(): Promise<SpreadsheetWorld>
  /** How a person reads a cell with this text, which begins with =, +, - or @. */
  readsFormulaAs(text: string): string
}

/** One spreadsheet, as the people who own it see and change it. */
export interface SpreadsheetWorld extends AsyncDisposable {
  /** A new instance, as after a restart; the suite calls its `open`. */
  connect(): Spreadsheet
  /** All rows of a tab, header included, read by other code than ours; undefined when there is no tab. */
  rows(tab: string): Promise<string[][] | undefined>
  /** A person makes a tab with these rows; with none it is empty. */
  createTab(tab: string, rows: readonly (readonly string[])[]): Promise<void>
  deleteTab(tab: string): Promise<void>
}

export const testSignal = new AbortController().signal

/** Batch `number` of one journal. */
export function makeBatch(
  number: number,
  tabs: Readonly<Record<string, readonly Signup[]>>,
): FrozenBatch {
  return {
    number,
    marker: 1000 + number,
    fingerprint: `journal-7:${number}`,
    tabs: Object.entries(tabs).map(([tab, signups]) => ({ tab, signups })),
  }
}

/** The rows that a batch adds to a tab, when no cell looks like a formula. */
export function rowsOf(tab: string, ...batches: readonly FrozenBatch[]): string[][] {
  const parts = batches.flatMap((batch) => batch.tabs.filter((part) => part.tab === tab))
  return parts.flatMap(({ signups }) => signups.map((signup) => toRow(signup, tab).map(shownCell)))
}

const header: string[] = [...columns]
const applied = { kind: 'applied' }

/** Defines the tests that every `Spreadsheet` has to pass. */
export function spreadsheetContract(name: string, harness: SpreadsheetHarness): void {
  describe(`${name} keeps the contract of a spreadsheet`, () => {
    let world: SpreadsheetWorld
    let spreadsheet: Spreadsheet

    async function restart(): Promise<void> {
      spreadsheet = world.connect()
      expect(await spreadsheet.open(testSignal)).toEqual({ kind: 'open' })
    }

    async function write(batch: FrozenBatch): Promise<void> {
      let outcome = await spreadsheet.write(batch, testSignal)
      // The writer tries again at once in this case.
      if (outcome.kind === 'retryable' && outcome.afterMs === 0) {
        outcome = await spreadsheet.write(batch, testSignal)
      }
      expect(outcome).toEqual(applied)
    }

    beforeEach(async () => {
      world = await harness.createWorld()
      await restart()
    })

    afterEach(() => world[Symbol.asyncDispose]())

    describe('tabs', () => {
      test('a missing tab is made with the header row', async () => {
        const batch = makeBatch(1, { News: [makeFullSignup()] })
        await write(batch)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })

      test('an empty tab gets the header row', async () => {
        await world.createTab('News', [])
        await restart()
        const batch = makeBatch(1, { News: [makeFullSignup()] })
        await write(batch)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })

      test('a tab with other content keeps it, and gets rows below', async () => {
        const content = [
          ['Guests', 'Table'],
          ['Grace, the first', '"7"'],
        ]
        await world.createTab('News', content)
        await restart()
        const batch = makeBatch(1, { News: [makeFullSignup(), makeFullSignup()] })
        await write(batch)
        const rows = (await world.rows('News')) ?? []
        expect(rows.slice(0, 2).map((row) => row.slice(0, 2))).toEqual(content)
        expect(rows.slice(2)).toEqual(rowsOf('News', batch))
      })

      test('below another header with a column Email, cells go by the names of the columns', async () => {
        await world.createTab('News', [
          ['Name', 'E mail', 'Phone'],
          ['Grace', 'g@example.org', '7'],
        ])
        await world.createTab('Events', [['metadata', 'Sheet  Tab', 'EMAIL', 'Tags']])
        await restart()
        const signup = makeFullSignup()
        await write(makeBatch(1, { News: [signup], Events: [signup] }))
        await write(makeBatch(2, { News: [makeFullSignup()] }))
        const news = (await world.rows('News')) ?? []
        expect(news[2]?.slice(0, 2)).toEqual([signup.name, signup.email])
        expect(news[2]?.slice(2).join('')).toBe('')
        const [, row = []] = (await world.rows('Events')) ?? []
        expect(row.slice(1, 4)).toEqual(['Events', signup.email, 'early, press'])
        expect(JSON.parse(row[0] ?? '')).toEqual({
          campaign: 'spring, 2026',
          Timestamp: new Date(signup.receivedAt).toISOString(),
          Source: 'api',
          Name: 'Ada Lovelace',
        })
        expect(spreadsheet.warnings).toHaveLength(2)
        const told = spreadsheet.warnings.map(({ message }) => message).join(' ')
        expect(told, 'names of tabs').not.toMatch(/News|Events/)
        expect(told).toContain(
          'no column for Timestamp, Source, Tags, Metadata, Sheet Tab: that is',
        )
        expect(told).toContain('no column for Timestamp, Source, Name: that goes into Metadata')
      })

      test('below other data the seven columns go in their order, with a warning', async () => {
        await world.createTab('News', [['Guests', 'Table']])
        await world.createTab('Ours', [[...header, 'Notes']])
        await restart()
        await write(makeBatch(1, { News: [makeFullSignup()], Ours: [makeFullSignup()] }))
        await write(makeBatch(2, { News: [makeFullSignup()] }))
        expect(spreadsheet.warnings).toEqual([
          { kind: 'columns', message: expect.stringContaining('header row that has a column') },
        ])
      })

      test('a tab whose name differs in letter case alone is the same tab', async () => {
        await world.createTab('News', [header])
        await restart()
        const batch = makeBatch(1, { news: [makeFullSignup()] })
        await write(batch)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('news', batch)])
      })

      test('a tab may have a name that looks like a path, a range, a cell, a boolean or a quotation', async () => {
        const names = [
          ...['../../x', '/etc/passwd', 'a/b', 'a\\b', 'A1', 'A1:B2', 'TRUE', 'd09037', 'R1C1'],
          ...[
            "'News'!A1",
            "'",
            "it's",
            '"',
            '=1+1',
            '*?[]',
            '🌵 test',
            'größe',
            '日本語',
            '.',
            '..',
          ],
          ...['con', 'x'.repeat(100), '🌵'.repeat(50), 'ü'.repeat(100)],
        ]
        const batch = makeBatch(
          1,
          Object.fromEntries(names.map((tab) => [tab, [makeFullSignup()]])),
        )
        await write(batch)
        await restart()
        const next = makeBatch(2, Object.fromEntries(names.map((tab) => [tab, [makeFullSignup()]])))
        await write(next)
        for (const tab of names) {
          const [first, ...rows] = (await world.rows(tab)) ?? []
          expect(first, tab).toEqual(header)
          // The last cell has the tab's name, which may look like a formula.
          const expected = rowsOf(tab, batch, next).map((row) => row.slice(0, -1))
          expect(
            rows.map((row) => row.slice(0, -1)),
            tab,
          ).toEqual(expected)
        }
      })

      test('a tab that was deleted between two batches is made again with the header row', async () => {
        await write(makeBatch(1, { News: [makeFullSignup()] }))
        await world.deleteTab('News')
        const batch = makeBatch(2, { News: [makeFullSignup()] })
        await write(batch)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })
    })

    describe('tabs that get no rows', () => {
      test('a batch without rows makes no tab, and is applied', async () => {
        const batch = makeBatch(1, { News: [] })
        await write(batch)
        await write(batch)
        expect(await spreadsheet.abandon(batch, testSignal)).toEqual(applied)
        expect(await world.rows('News')).toBeUndefined()
      })

      test('a tab that gets no rows stays as it is while another one gets some', async () => {
        await world.createTab('Empty', [])
        await restart()
        const first = makeBatch(1, { News: [makeFullSignup()] })
        await write(first)
        const second = makeBatch(2, {
          Empty: [],
          News: [],
          Missing: [],
          Events: [makeFullSignup()],
        })
        await write(second)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', first)])
        expect(await world.rows('Events')).toEqual([header, ...rowsOf('Events', second)])
        expect(await world.rows('Empty')).toEqual([])
        expect(await world.rows('Missing')).toBeUndefined()
      })

      test('a tab that got no rows before gets the header row with its first one', async () => {
        await world.createTab('Empty', [])
        await restart()
        await write(makeBatch(1, { Empty: [], Missing: [] }))
        const batch = makeBatch(2, { Empty: [makeFullSignup()], Missing: [makeFullSignup()] })
        await write(batch)
        expect(await world.rows('Empty')).toEqual([header, ...rowsOf('Empty', batch)])
        expect(await world.rows('Missing')).toEqual([header, ...rowsOf('Missing', batch)])
      })

      test('a batch without rows that was given up is never applied', async () => {
        const batch = makeBatch(1, { News: [] })
        expect(await spreadsheet.abandon(batch, testSignal)).toEqual({ kind: 'abandoned' })
        expect(await spreadsheet.write(batch, testSignal)).toEqual({ kind: 'abandoned' })
      })
    })

    describe('rows', () => {
      test('one batch writes several tabs, new ones and old ones', async () => {
        await write(makeBatch(1, { News: [makeFullSignup()] }))
        const before = (await world.rows('News')) ?? []
        const batch = makeBatch(2, {
          Events: [makeFullSignup()],
          News: [makeFullSignup(), makeFullSignup()],
          'Press 2026': [makeFullSignup()],
        })
        await write(batch)
        expect(await world.rows('Events')).toEqual([header, ...rowsOf('Events', batch)])
        expect(await world.rows('News')).toEqual([...before, ...rowsOf('News', batch)])
        expect(await world.rows('Press 2026')).toEqual([header, ...rowsOf('Press 2026', batch)])
      })

      test('a batch may have 5,000 rows', async () => {
        const batch = makeBatch(1, { News: Array.from({ length: 5_000 }, () => makeFullSignup()) })
        await write(batch)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })

      test('empty cells keep their columns', async () => {
        const batch = makeBatch(1, { News: [makeFullSignup({ name: '', tags: [], metadata: '' })] })
        await write(batch)
        const [, row] = (await world.rows('News')) ?? []
        expect(row).toHaveLength(7)
        expect(row?.slice(3)).toEqual(['', '', '', 'News'])
      })

      test('a cell that looks like a formula is text and not a formula', async () => {
        const texts = [
          ...[
            '=1+1',
            '+1',
            '-1',
            '@SUM(A1)',
            '=HYPERLINK("https://example.org","x")',
            '-',
            '=',
            '@',
          ],
        ]
        const signups = texts.map((text) =>
          makeFullSignup({ source: text, name: text, tags: [text, 'b'] }),
        )
        await write(makeBatch(1, { News: signups }))
        const [, ...rows] = (await world.rows('News')) ?? []
        const seen = harness.readsFormulaAs
        expect(rows.map((row) => row.slice(2, 5))).toEqual(
          texts.map((text) => [seen(text), seen(text), seen(`${text}, b`)]),
        )
      })

      test('a cell keeps its text, whatever it is', async () => {
        const texts = [
          ...['Åsa Öström', '王小明', 'עדה', '👩‍👩‍👧‍👦', 'e\u0301 and \u00e9', 'O"Brien, Ada', '"', '""'],
          ...[
            ',',
            ',,,',
            "'quoted",
            "''",
            'TRUE',
            '1',
            '007',
            '1e5',
            '2026-11-20',
            '1/2',
            ' spaces ',
          ],
          ...['A1', 'a;b', '#REF!', 'null', '\ufefftext'],
        ]
        const signups = texts.map((text) =>
          makeFullSignup({ name: text, metadata: JSON.stringify({ text }) }),
        )
        const batch = makeBatch(1, { News: signups })
        await write(batch)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })
    })

    describe('exactly once', () => {
      test('a batch that was applied is not applied again', async () => {
        const batch = makeBatch(1, { News: [makeFullSignup()], Events: [makeFullSignup()] })
        await write(batch)
        await write(batch)
        await restart()
        await write(batch)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
        expect(await world.rows('Events')).toEqual([header, ...rowsOf('Events', batch)])
      })

      test('the next batch is written after a restart and a repeat of the one before', async () => {
        const first = makeBatch(1, { News: [makeFullSignup()] })
        await write(first)
        await restart()
        await write(first)
        const second = makeBatch(2, { News: [makeFullSignup()] })
        await write(second)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', first, second)])
      })

      test('nothing is left to finish of a batch that was applied', async () => {
        const batch = makeBatch(1, { News: [makeFullSignup()] })
        await write(batch)
        await restart()
        expect(await spreadsheet.finishEarlier()).toEqual({ kind: 'finished' })
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })

      test('a batch that was given up before it was sent is never applied', async () => {
        const batch = makeBatch(1, { News: [makeFullSignup()] })
        expect(await spreadsheet.abandon(batch, testSignal)).toEqual({ kind: 'abandoned' })
        expect(await spreadsheet.abandon(batch, testSignal)).toEqual({ kind: 'abandoned' })
        await restart()
        expect(await spreadsheet.abandon(batch, testSignal)).toEqual({ kind: 'abandoned' })
        expect(await spreadsheet.write(batch, testSignal)).toEqual({ kind: 'abandoned' })
        expect(await world.rows('News')).toBeUndefined()
      })

      test('the signups of a batch that was given up are written once by the next one', async () => {
        const signup = makeFullSignup()
        const abandoned = makeBatch(1, { News: [signup] })
        expect(await spreadsheet.abandon(abandoned, testSignal)).toEqual({ kind: 'abandoned' })
        const batch = makeBatch(2, { News: [signup] })
        await write(batch)
        expect(await spreadsheet.write(abandoned, testSignal)).toEqual({ kind: 'abandoned' })
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })

      test('giving up a batch that was applied says so, and removes no row', async () => {
        const batch = makeBatch(1, { News: [makeFullSignup()] })
        await write(batch)
        await restart()
        expect(await spreadsheet.abandon(batch, testSignal)).toEqual(applied)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
      })

      const changes: readonly (readonly [string, Partial<Signup>])[] = [
        ['name', { name: 'Ada King' }],
        ['name, which is empty', { name: '' }],
        ['metadata', { metadata: '{"plan":"free"}' }],
        ['letter case of the address', { email: 'ADA@example.com' }],
      ]
      describe.each(changes)('of two rows that differ in one cell (%s)', (_, change) => {
        const gone = makeFullSignup({ email: 'ada@example.com', sheetTab: 'News' })
        const kept = makeFullSignup({ ...gone, ...change })
        const [goneRow, keptRow] = [gone, kept].map((signup) => toRow(signup, 'News').map(String))
        if (!goneRow || !keptRow) throw new Error('There are two rows.')
        const edited = goneRow.with(columns.indexOf('Name'), 'corrected')
        const noted = [...keptRow, 'a note of a person']

        test.each([
          ['first', [goneRow, keptRow], keptRow],
          ['last', [keptRow, goneRow], keptRow],
          ['first, and was edited', [edited, keptRow], keptRow],
          ['last, and was edited', [keptRow, edited], keptRow],
          ['first, beside a row with a note', [goneRow, noted], noted],
          ['there twice', [goneRow, keptRow, goneRow], keptRow],
        ])('the removed one goes when it is %s', async (_place, rows, left) => {
          await world.createTab('News', [header, ...rows])
          await restart()
          const { email, receivedAt } = gone
          const wanted = [{ email, receivedAt, spared: [kept] }]
          const standing = [rows.length - 1]
          expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing })
          expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing: [0] })
          const there = ((await world.rows('News')) ?? []).filter(([cell]) => cell?.includes('@'))
          expect(there).toEqual([left])
        })
      })

      test('of identical rows, as many stay as signups keep theirs', async () => {
        const signup = makeFullSignup({ sheetTab: 'News' })
        await write(makeBatch(1, { News: [signup, signup, signup] }))
        const wanted = [{ ...signup, spared: [signup, signup] }]
        expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing: [1] })
        expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing: [0] })
        const rows = (await world.rows('News')) ?? []
        expect(rows.filter(([cell]) => cell === signup.email)).toHaveLength(2)
      })

      test('markers can be pruned more than once, which changes no row', async () => {
        const first = makeBatch(1, { News: [makeFullSignup()] })
        const second = makeBatch(2, { News: [makeFullSignup()] })
        const third = makeBatch(3, { News: [makeFullSignup()] })
        await write(first)
        expect(await spreadsheet.abandon(second, testSignal)).toEqual({ kind: 'abandoned' })
        const markers = [first.marker, second.marker]
        expect(await spreadsheet.prune(markers, testSignal)).toMatchObject({ kind: 'pruned' })
        expect(await spreadsheet.prune(markers, testSignal)).toMatchObject({ kind: 'pruned' })
        expect(await spreadsheet.prune([], testSignal)).toMatchObject({ kind: 'pruned' })
        await write(third)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', first, third)])
      })

      test('a batch of another journal with the same number is another batch', async () => {
        const ours = makeBatch(1, { News: [makeFullSignup()] })
        await write(ours)
        const theirs = {
          ...makeBatch(1, { News: [makeFullSignup()] }),
          marker: 5,
          fingerprint: 'j9:1',
        }
        await write(theirs)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', ours, theirs)])
      })
    })
  })
}
