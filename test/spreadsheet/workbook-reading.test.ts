import { appendFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { createWorkbookWorld } from '../../harness/workbook-world.ts'
import { columns } from '../../src/signup/row.ts'
import type { RowPart, RowReader } from '../../src/spreadsheet/spreadsheet.ts'
import { testSignal } from './spreadsheet-contract.ts'

/** What reading the rows of a workbook gives when files are large, odd or change meanwhile. */

const noon = Date.UTC(2026, 10, 20, 12)
const row = (at: number) => [`person${at}@example.com`, new Date(noon + at).toISOString()]
const rows = (count: number) => Array.from({ length: count }, (_, at) => row(at))

type Part = Awaited<ReturnType<RowReader['next']>>

/** Everything that a reader gives; `act` runs after the first part. */
async function partsOf(
  reader: RowReader,
  act: () => Promise<unknown> = async () => {},
): Promise<Part[]> {
  const parts: Part[] = []
  for (;;) {
    const part = await reader.next(testSignal)
    parts.push(part)
    if (part.kind !== 'rows') return parts
    if (parts.length === 1) await act()
  }
}

const end = { kind: 'end', isOneMoment: true }

test('tabs come in the order of their names, and the rows of a long one in parts of 5,000', async () => {
  await using world = await createWorkbookWorld()
  await world.createTab('News', [columns, ...rows(12_000)])
  await world.createTab('Beta', [columns, row(1)])
  await using reader = world.connect().rowReader()
  const parts = await partsOf(reader)
  const seen = parts.flatMap((part) =>
    part.kind === 'rows' ? [[part.place, part.tab, part.rows.length]] : [],
  )
  expect(seen).toEqual([
    ['Beta.csv', 'Beta', 1],
    ...[5000, 5000, 2000].map((count) => ['News.csv', 'News', count]),
  ])
  expect(parts.at(-1)).toEqual(end)
  const keys = parts.flatMap((part) =>
    part.kind === 'rows' && part.tab === 'News' ? part.rows : [],
  )
  expect(keys.map(({ at }) => at)).toEqual(rows(12_000).map((_, at) => noon + at))
})

test('a line of a text in a cell is no row, whatever a visitor has typed', async () => {
  await using world = await createWorkbookWorld()
  const typed = `first\r\n${row(2).join(',')}\r\nlast`
  await world.createTab('News', [
    [...columns, 'why'],
    [...row(1), '', '', '', '', 'News', typed],
    row(3),
  ])
  await using reader = world.connect().rowReader()
  const [part] = await partsOf(reader)
  const keys = part?.kind === 'rows' ? part.rows : []
  expect(keys.map(({ at }) => at)).toEqual([noon + 1, noon + 3])
})

test.each<[string, (path: string) => Promise<unknown>]>([
  ['grows', (path) => appendFile(path, '\r\nx')],
  ['is made anew with as many bytes', (path) => writeFile(path, 'x'.repeat(8))],
  ['is deleted', (path) => rm(path)],
])('rows are not of one moment when a file %s meanwhile', async (_, act) => {
  await using world = await createWorkbookWorld()
  await world.createTab('Beta', [['1', '2']])
  await world.createTab('News', [columns, row(1)])
  await using reader = world.connect().rowReader()
  const path = world.path('Beta')
  const parts = await partsOf(reader, () => act(path))
  expect(parts.at(-1)).toEqual({ ...end, isOneMoment: false })
})

test('a folder that is not there has no rows, and one that is a file is refused', async () => {
  await using world = await createWorkbookWorld()
  await using none = world.connect().rowReader()
  expect(await partsOf(none)).toEqual([end])
  await mkdir(join(world.directory, '..'), { recursive: true })
  await writeFile(world.directory, '')
  await using reader = world.connect().rowReader()
  expect(await reader.next(testSignal)).toMatchObject({ kind: 'refused', reason: 'folder' })
})

test('only plain CSV files are read', async () => {
  await using world = await createWorkbookWorld()
  await world.createTab('News', [columns, row(1)])
  await writeFile(join(world.directory, 'notes.txt'), row(2).join(','))
  await mkdir(join(world.directory, 'folder.csv'))
  await using reader = world.connect().rowReader()
  const parts = await partsOf(reader)
  expect(parts.map((part) => (part as RowPart).tab)).toEqual(['News', undefined])
})

test('a link is refused, and after it is gone the same reader begins anew', async () => {
  await using world = await createWorkbookWorld()
  await world.createTab('News', [columns, row(1)])
  const link = join(world.directory, 'Z.csv')
  await symlink(world.path('News'), link)
  await using reader = world.connect().rowReader()
  expect((await partsOf(reader)).at(-1)).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('symbolic link'),
  })
  await rm(link)
  expect((await partsOf(reader)).map(({ kind }) => kind)).toEqual(['rows', 'end'])
})

test('a file that is deleted before its turn is a change of the layout', async () => {
  await using world = await createWorkbookWorld()
  await world.createTab('Beta', [columns, row(1)])
  await world.createTab('News', [columns, row(2)])
  await using reader = world.connect().rowReader()
  const parts = await partsOf(reader, () => world.deleteTab('News'))
  expect(parts.at(-1)?.kind).toBe('changed')
})

test.each([
  ['our columns behind others', 'No,Who,When\n7,ada@example.com,TIME\n'],
  ['semicolons and no header', '7;ada@example.com;TIME;x\n'],
  ['a header with semicolons', 'Name;Email;Timestamp\nAda;ada@example.com;TIME\n'],
])('the address is found with %s', async (_, text) => {
  await using world = await createWorkbookWorld()
  await world.createTab('News', [])
  await writeFile(world.path('News'), text.replace('TIME', new Date(noon).toISOString()))
  await using reader = world.connect().rowReader()
  const [part] = await partsOf(reader)
  const keys = part?.kind === 'rows' ? part.rows : []
  expect(keys).toContainEqual({ email: 'ada@example.com', at: noon })
})
