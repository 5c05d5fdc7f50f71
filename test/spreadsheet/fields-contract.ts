import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeSignup } from '../../harness/make-signup.ts'
import type { Field, FieldValues } from '../../src/signup/field.ts'
import { columns } from '../../src/signup/row.ts'
import type { Signup } from '../../src/signup/signup.ts'
import type { Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { makeBatch, type SpreadsheetWorld, testSignal } from './spreadsheet-contract.ts'

/** A spreadsheet whose site has fields, and whose people change its columns. Columns count from 0. */
export interface FieldsWorld extends SpreadsheetWorld {
  connectWith(fields: readonly Field[], confirmation?: 'mail'): Spreadsheet
  insertColumn(tab: string, before: number): Promise<void>
  moveColumn(tab: string, from: number, to: number): Promise<void>
  nameColumn(tab: string, column: number, heading: string): Promise<void>
}

const company: Field = {
  ...{ name: 'company', label: 'Größe & Firma', type: 'text' },
  ...{ required: false, maxLength: 500 },
}
const seats: Field = { name: 'seats', type: 'number', required: false }
const news: Field = { name: 'news', type: 'checkbox', required: false }
const fields = [company, seats, news]
const values: FieldValues = { company: 'Analytical Engines', seats: -2.5, news: true }

/** The cells up to the last one with a text. */
function filled(row: readonly string[]): readonly string[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== '') + 1)
}

/** Defines the tests of fields that every `Spreadsheet` has to pass. */
export function fieldsContract(name: string, createWorld: () => Promise<FieldsWorld>): void {
  describe(`${name} writes the fields of a site as columns`, () => {
    let world: FieldsWorld
    let number = 0

    beforeEach(async () => {
      world = await createWorld()
    })

    afterEach(() => world[Symbol.asyncDispose]())

    /** Writes one signup with a new connection. Returns the warnings. */
    async function write(given: FieldValues, declared: readonly Field[] = fields) {
      number += 1
      const spreadsheet = world.connectWith(declared)
      await spreadsheet.open(testSignal)
      const batch = makeBatch(number, { News: [makeSignup({ fields: given, sheetTab: 'News' })] })
      expect(await spreadsheet.write(batch, testSignal)).toEqual({ kind: 'applied' })
      // The same batch again adds nothing.
      expect(await spreadsheet.write(batch, testSignal)).toEqual({ kind: 'applied' })
      return spreadsheet.warnings.map(({ kind }) => kind)
    }

    /** The last row by its headings, without the empty cells and those of every signup. */
    async function last(): Promise<Record<string, string>> {
      const [headings = [], ...rows] = (await world.rows('News')) ?? []
      const row = rows.at(-1) ?? []
      const named = headings.map((heading, at) => [heading, row[at] ?? ''] as const)
      const usual = ['Email', 'Timestamp', 'Source', 'Sheet Tab']
      return Object.fromEntries(named.filter(([key, cell]) => cell !== '' && !usual.includes(key)))
    }

    const headings = async () => (await world.rows('News'))?.[0]
    const shown = { 'Größe & Firma': 'Analytical Engines', seats: '-2.5', news: 'TRUE' }

    test('a new tab has them after the seven, under their labels or names', async () => {
      expect(await write(values)).toEqual([])
      expect(await headings()).toEqual([...columns, 'Größe & Firma', 'seats', 'news'])
      expect(await last()).toEqual(shown)
      expect(await world.rows('News')).toHaveLength(2)
    })

    test('fields that are declared later get headings in empty cells, and rows before stay', async () => {
      await write({}, [])
      await write({ seats: 1 }, [seats])
      const before = await world.rows('News')
      expect(await write(values)).toEqual([])
      expect(await headings()).toEqual([...columns, 'seats', 'Größe & Firma', 'news'])
      expect(await last()).toEqual(shown)
      const rows = (await world.rows('News')) ?? []
      expect(rows.slice(1, 3).map(filled)).toEqual(before?.slice(1).map(filled))
    })

    test('a field that is declared no more keeps its column, and a late value goes into Metadata', async () => {
      await write(values)
      expect(await write(values, [news])).toEqual([])
      expect(await headings()).toEqual([...columns, 'Größe & Firma', 'seats', 'news'])
      const metadata = '{"company":"Analytical Engines","seats":-2.5}'
      expect(await last()).toEqual({ Metadata: metadata, news: 'TRUE' })
    })

    test('columns are found wherever people have moved them, and theirs are left alone', async () => {
      await write(values)
      await world.moveColumn('News', 8, 0)
      await world.insertColumn('News', 3)
      await world.nameColumn('News', 3, 'Notes')
      const before = await headings()
      expect(await write(values)).toEqual([])
      expect(await headings()).toEqual(before)
      expect(before?.slice(0, 4)).toEqual(['seats', 'Email', 'Timestamp', 'Notes'])
      expect(await last()).toEqual(shown)
    })

    test('a column that people rename is theirs, and the field gets a new one', async () => {
      await write(values)
      await world.nameColumn('News', 8, 'Places')
      expect(await write(values)).toEqual([])
      expect(await headings()).toEqual([...columns, 'Größe & Firma', 'Places', 'news', 'seats'])
      expect(await last()).toEqual(shown)
    })

    test('headings are written into the empty cells right of a header with our names', async () => {
      await world.createTab('News', [[...columns, '', ''], ['grace@example.org']])
      expect(await write(values)).toEqual([])
      expect(await headings()).toEqual([...columns, 'Größe & Firma', 'seats', 'news'])
      expect(await last()).toEqual(shown)
    })

    test('a header that is not ours is left alone, with one warning, and nothing is lost', async () => {
      await world.createTab('News', [['Name', 'Email', 'SEATS', 'Metadata'], ['Grace']])
      expect(await write(values)).toEqual(['columns'])
      const rows = (await world.rows('News')) ?? []
      expect(rows[0]?.slice(0, 4)).toEqual(['Name', 'Email', 'SEATS', 'Metadata'])
      expect(rows[2]?.[2]).toBe('-2.5')
      expect(JSON.parse(rows[2]?.[3] ?? '')).toMatchObject({
        company: values['company'],
        news: true,
      })
    })

    test('a tab from before the site confirmed grows a column Confirmed, and a header of people has it in Metadata', async () => {
      await write(values)
      await world.createTab('Guests', [['Email', 'Metadata'], ['grace@example.org']])
      const spreadsheet = world.connectWith(fields, 'mail')
      await spreadsheet.open(testSignal)
      const confirmedAt = Date.UTC(2026, 10, 21, 9, 31)
      number += 1
      const batch = makeBatch(number, {
        News: [makeSignup({ fields: values, sheetTab: 'News', confirmedAt })],
        Guests: [makeSignup({ sheetTab: 'Guests', confirmedAt })],
        New: [makeSignup({ sheetTab: 'New', confirmedAt })],
      })
      expect(await spreadsheet.write(batch, testSignal)).toEqual({ kind: 'applied' })
      expect(await headings()).toEqual([...columns, 'Größe & Firma', 'seats', 'news', 'Confirmed'])
      expect(await last()).toEqual({ ...shown, Confirmed: '2026-11-21T09:31:00.000Z' })
      const guests = (await world.rows('Guests'))?.at(-1)
      expect(JSON.parse(guests?.[1] ?? '')).toMatchObject({
        confirmedAt: '2026-11-21T09:31:00.000Z',
      })
      expect((await world.rows('New'))?.[0]?.slice(7, 9)).toEqual(['Confirmed', 'Größe & Firma'])
    })

    const others: readonly Partial<Signup>[] = [
      { fields: { ...values, seats: 3 } },
      { fields: { ...values, news: false } },
      { confirmedAt: 1 },
    ]
    test.each(others)('of two rows that differ in %o, the one to remove goes', async (other) => {
      const confirmedAt = Date.UTC(2026, 10, 21, 9, 31)
      const gone = makeSignup({ fields: values, sheetTab: 'News', confirmedAt })
      const kept = { ...gone, ...other }
      const spreadsheet = world.connectWith(fields, 'mail')
      await spreadsheet.open(testSignal)
      const batch = makeBatch(1, { News: [kept, gone] })
      expect(await spreadsheet.write(batch, testSignal)).toEqual({ kind: 'applied' })
      const [header, row] = (await world.rows('News')) ?? []
      const wanted = [{ ...gone, spared: [kept] }]
      expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing: [1] })
      expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing: [0] })
      const left = (await world.rows('News')) ?? []
      expect(left.filter((one) => filled(one).length > 0)).toEqual([header, row])
    })

    test('below content without a header, fields go into Metadata', async () => {
      await world.createTab('News', [['Guests', '', '', '', '', '', '', 'a note']])
      expect(await write(values)).toEqual(['columns'])
      const rows = (await world.rows('News')) ?? []
      expect(JSON.parse(rows[1]?.[5] ?? '')).toEqual(values)
      expect(rows[1]?.[7] ?? '').toBe('')
    })
  })
}
