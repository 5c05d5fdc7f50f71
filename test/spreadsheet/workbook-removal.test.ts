import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { crashingFiles, interceptedFiles } from '../../harness/failing-files.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { createWorkbookWorld, type WorkbookWorld } from '../../harness/workbook-world.ts'
import type { Signup } from '../../src/signup/signup.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { people, removeAll, write } from './row-removal-world.ts'
import { testSignal } from './spreadsheet-contract.ts'

/** A workbook with four people in one tab. */
async function createWorld(all: readonly Signup[] = people(4)) {
  const world = await createWorkbookWorld()
  const spreadsheet = world.connect()
  await write(spreadsheet, 1, all)
  const path = world.path('Sheet1')
  return {
    ...{ world, spreadsheet, all, path },
    text: () => readFile(path, 'utf8'),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

async function filesWith(world: WorkbookWorld, { email }: Signup): Promise<string[]> {
  const names = await readdir(world.directory, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile())
  const found = files.map(async ({ parentPath, name }) => {
    const text = await readFile(join(parentPath, name), 'utf8')
    return text.toLowerCase().includes(email.toLowerCase()) ? [name] : []
  })
  return (await Promise.all(found)).flat()
}

const gone = { kind: 'removed', standing: [0], others: [0] }

test('a row becomes empty in place, and no other byte of the file changes', async () => {
  await using it = await createWorld()
  const before = (await it.text()).split('\r\n')
  const target = it.all[1] ?? expect.fail()
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual({ ...gone, standing: [1] })
  const after = (await it.text()).split('\r\n')
  expect(after[2]).toMatch(/^ +,,,,,,+$/)
  expect(after[2]).toHaveLength(before[2]?.length ?? 0)
  expect(after.toSpliced(2, 1)).toEqual(before.toSpliced(2, 1))
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual(gone)
  expect(await filesWith(it.world, target)).toEqual([])
})

test('rows are still written below, and the next batch after a removal is applied once', async () => {
  await using it = await createWorld()
  await removeAll(it.spreadsheet, it.all.slice(3))
  const later = people(6).slice(4)
  await write(it.spreadsheet, 2, later)
  await write(it.spreadsheet, 2, later)
  const rows = (await it.world.rows('Sheet1')) ?? []
  const addresses = rows.map(([email = '']) => email.trim()).filter((cell) => cell.includes('@'))
  expect(addresses).toEqual(people(6).flatMap(({ email }, at) => (at === 3 ? [] : [email])))
})

test.each([
  ['semicolons', ';', '\r\n'],
  ['tabs and bare line feeds', '\t', '\n'],
])(
  'a row is found in a file that was saved with %s, in another order of columns',
  async (_, mark, end) => {
    await using it = await createWorld()
    const target = it.all[2] ?? expect.fail()
    const rows = it.all.map(({ email, receivedAt }) => [
      'x',
      new Date(receivedAt).toISOString(),
      email,
    ])
    const text = [['Note', 'When', 'Who'], ...rows].map((row) => row.join(mark) + end).join('')
    await writeFile(it.path, text)
    await removeAll(it.spreadsheet, [target])
    const line = rows[2]?.join(mark) ?? ''
    expect(await it.text()).toBe(text.replace(line, (mark + mark).padStart(line.length)))
  },
)

test('a row whose time was changed is told, and one whose address was changed is not there', async () => {
  await using it = await createWorld(people(1))
  const [target = expect.fail()] = it.all
  const text = await it.text()
  await writeFile(it.path, text.replace('2026-11-20T', '2026-12-20T'))
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual({ ...gone, others: [1] })
  await writeFile(it.path, text.replace(target.email, 'other@example.com'))
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual(gone)
})

test('a person who moves rows just before the write loses nothing, and the row goes with the next try', async () => {
  await using it = await createWorld()
  const target = it.all[1] ?? expect.fail()
  let isSorted = false
  const files = interceptedFiles(async (change) => {
    if (change.kind === 'overwrite' && !isSorted) {
      isSorted = true
      const [header = '', ...rows] = (await it.text()).trimEnd().split('\r\n')
      await writeFile(it.path, [header, ...rows.reverse(), 'by hand'].join('\r\n'))
    }
    await change.make()
  })
  const spreadsheet = createWorkbook({ directory: it.world.directory }, files)
  await spreadsheet.remove([target], testSignal)
  const sorted = await it.text()
  expect(sorted).toContain(target.email)
  await removeAll(spreadsheet, [target])
  const rows = sorted.split('\r\n').filter((row) => !row.includes(target.email))
  const left = (await it.text()).split('\r\n').filter((row) => !/^[ ,]+$/.test(row))
  expect(left).toEqual(rows)
})

const crashes = [1, 2, 3, 4, 5, 6].flatMap((step) =>
  [0, 0.3, 0.7, 1].map((part) => ({ step, part })),
)

test.each(crashes)(
  'a crash in step $step, part $part, leaves no half of a row after the next try',
  async (crash) => {
    await using it = await createWorld()
    const target = it.all[1] ?? expect.fail()
    const before = (await it.text()).split('\r\n')
    const { files } = crashingFiles(crash)
    const crashing = createWorkbook({ directory: it.world.directory }, files)
    await crashing.remove([target], testSignal).catch(() => {})
    await removeAll(it.spreadsheet, [target])
    const after = (await it.text()).split('\r\n')
    expect(after[2]).toMatch(/^ +,,,,,,$/)
    expect(after.toSpliced(2, 1)).toEqual(before.toSpliced(2, 1))
    expect(await filesWith(it.world, target)).toEqual([])
  },
)

test('a row that a crash has left half overwritten is left alone when other bytes are there by now', async () => {
  await using it = await createWorld()
  const [, row = ''] = (await it.text()).split('\r\n')
  const start = (await it.text()).indexOf(row)
  const record = { fileName: 'Sheet1.csv', start, text: row.replace('Person0', 'Person9') }
  const path = join(it.world.directory, '.rollcall', 'removal.json')
  await writeFile(path, JSON.stringify(record))
  const before = await it.text()
  await it.spreadsheet.remove([makeFullSignup({ email: 'nobody@example.com' })], testSignal)
  expect(await it.text()).toBe(before)
  expect(existsSync(path)).toBe(false)
})

test('a person whose address has the forgotten one in it stays, although their time is the same', async () => {
  const [ada = expect.fail()] = people(1)
  const others = [
    'xPerson0@example.com',
    'Person0@example.com.org',
    '"Person0" <Person0@example.com>',
  ]
  const all = [ada, ...others.map((email) => ({ ...ada, email }))]
  await using it = await createWorld(all)
  await removeAll(it.spreadsheet, [ada])
  const rows = (await it.world.rows('Sheet1')) ?? []
  expect(rows.slice(2).map(([email]) => email)).toEqual(others)
  expect(rows[1]?.[0]?.trim()).toBe('')
})

test('a very long line is passed over, and the row below it is found', async () => {
  await using it = await createWorld(people(1))
  const text = await it.text()
  const [header = '', row = ''] = text.split('\r\n')
  const long = 'x'.repeat(3_000_000)
  await writeFile(it.path, [header, long, row, ''].join('\r\n'))
  await removeAll(it.spreadsheet, it.all)
  expect(await it.text()).toBe([header, long, ',,,,,,'.padStart(row.length), ''].join('\r\n'))
})

test('no file but the CSV files of the workbook is changed', async () => {
  await using it = await createWorld(people(1))
  const text = await it.text()
  await writeFile(join(it.world.directory, 'notes.txt'), text)
  await mkdir(join(it.world.directory, 'folder.csv'))
  await symlink(join(it.world.directory, 'notes.txt'), join(it.world.directory, 'link.csv'))
  expect(await removeAll(it.spreadsheet, it.all), 'the row is gone').toBeDefined()
  expect(await readFile(join(it.world.directory, 'notes.txt'), 'utf8')).toBe(text)
})
