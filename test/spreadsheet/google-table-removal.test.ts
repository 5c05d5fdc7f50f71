import { describe, expect, test } from 'vitest'

import type { ModelOptions } from '../../emulators/google-sheets/state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { columns } from '../../src/signup/row.ts'
import { contents, type Handle, people, removeAll, write } from './row-removal-world.ts'

const behaviours: readonly ModelOptions['removedDuplicates'][] = ['shift cells up', 'delete rows']

/** A tab `News` that a person prepares, and three people in it. */
async function tableWorld(
  behaviour: ModelOptions['removedDuplicates'],
  prepare: (handle: Handle) => void,
) {
  const google = await createGoogleWorld({ model: { removedDuplicates: behaviour } })
  const handle = google.emulator.spreadsheet(google.spreadsheetId)
  prepare(handle)
  const spreadsheet = google.connect()
  const all = people(3, 'News')
  await write(spreadsheet, 1, all)
  return {
    ...{ google, handle, spreadsheet, all },
    /** The addresses in a column, from the top. */
    addresses: (column = 0) =>
      handle.rows('News').flatMap(({ [column]: cell = '' }) => (cell.includes('@') ? [cell] : [])),
    [Symbol.asyncDispose]: () => google[Symbol.asyncDispose](),
  }
}

describe.each(behaviours)(
  "in one of Google's tables, when a removed duplicate makes Google %s",
  (behaviour) => {
    const header = [...columns]

    test.each([0, 1, 2])(
      'row %i goes, and the footer and what is below the table stay',
      async (at) => {
        await using world = await tableWorld(behaviour, (handle) => {
          handle.addTab('News', [header, ['first@example.com'], ['Total', '1']])
          handle.convertToTable('News', { footerRows: 1 })
          handle.editCell('News', 'A6', 'a note')
        })
        const { spreadsheet, all } = world
        expect(await removeAll(spreadsheet, all.slice(at, at + 1))).toBeDefined()
        const left = all.toSpliced(at, 1).map(({ email }) => email)
        expect(world.addresses()).toEqual(['first@example.com', ...left])
        const rest = world.handle.rows('News').filter(([cell = '']) => !cell.includes('@'))
        expect(rest.filter((row) => row.length > 0)).toEqual([header, ['Total', '1'], ['a note']])
        await write(spreadsheet, 2, people(4, 'News').slice(3))
        expect(world.addresses()).toHaveLength(4)
        expect(world.handle.rows('News').findIndex(([cell]) => cell === 'Total')).toBeGreaterThan(3)
      },
    )

    test('the last row goes, and the table takes rows after that', async () => {
      await using world = await tableWorld(behaviour, (handle) => {
        handle.addTab('News', [header])
        handle.convertToTable('News')
      })
      const { spreadsheet, all } = world
      expect(await removeAll(spreadsheet, all)).toBeDefined()
      expect(world.addresses()).toEqual([])
      await write(spreadsheet, 2, all.slice(0, 1))
      expect(world.addresses()).toEqual([all[0]?.email])
      expect(spreadsheet.warnings).toEqual([])
    })

    test('a row below a table goes as a whole', async () => {
      await using world = await tableWorld(behaviour, (handle) => {
        handle.addTab('News', [
          ['Guests', 'Table'],
          ['Ada', '7'],
        ])
        handle.convertToTable('News')
      })
      const { spreadsheet, all, handle } = world
      expect(await removeAll(spreadsheet, all)).toBeDefined()
      expect(contents(handle)).toHaveLength(2)
    })

    test("somebody else's cells beside the table stay, also far to the right", async () => {
      await using world = await tableWorld(behaviour, (handle) => {
        const guests = [
          ['Email', 'Timestamp'],
          ...people(6, 'x').map(({ email }) => [`my${email}`, 'x']),
        ]
        handle.addTab('News', guests)
        handle.resizeTab('News', { columnCount: 40 })
        for (const [index, name] of header.entries())
          handle.editCell('News', `A${'ABCDEFG'[index]}1`, name)
        handle.convertToTable('News', { cells: 'A1:B7' })
        handle.convertToTable('News', { cells: 'AA1:AG7' })
      })
      const { spreadsheet, all, handle } = world
      const guests = world.addresses()
      expect(guests).toHaveLength(6)
      handle.insertRows('News', 3, 1500)
      expect(world.addresses(26)).toEqual(all.map(({ email }) => email))
      expect(await removeAll(spreadsheet, all.slice(1, 2))).toBeDefined()
      expect(world.addresses()).toEqual(guests)
      expect(world.addresses(26)).toEqual([all[0]?.email, all[2]?.email])
      expect(contents(handle).filter((row) => row.includes('Person1@'))).toHaveLength(1)
    })
  },
)
