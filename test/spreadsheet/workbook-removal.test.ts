import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { Crash, crashingFiles, interceptedFiles } from '../../harness/failing-files.ts'
import { createWorkbookWorld, type WorkbookWorld } from '../../harness/workbook-world.ts'
import type { Field } from '../../src/signup/field.ts'
import { ownColumns } from '../../src/signup/row.ts'
import type { Signup } from '../../src/signup/signup.ts'
import type { Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { people, removeAll, write } from './row-removal-world.ts'
import { makeBatch, testSignal } from './spreadsheet-contract.ts'

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

const gone = { kind: 'removed', standing: [0] }

test('the line of a row goes, no other byte of the file changes, and only its owner can read it', async () => {
  await using it = await createWorld()
  const before = (await it.text()).split('\r\n')
  const target = it.all[1] ?? expect.fail()
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual({ ...gone, standing: [1] })
  expect((await it.text()).split('\r\n')).toEqual(before.toSpliced(2, 1))
  expect((await stat(it.path)).mode & 0o777).toBe(0o600)
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
    expect(await it.text()).toBe(text.replace(`${rows[2]?.join(mark) ?? ''}${end}`, ''))
  },
)

test('a row whose time was changed is told, and one whose address was changed is not there', async () => {
  await using it = await createWorld(people(1))
  const [target = expect.fail()] = it.all
  const text = await it.text()
  await writeFile(it.path, text.replace('2026-11-20T', '2026-12-20T'))
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual(gone)
  await writeFile(it.path, text.replace(target.email, 'other@example.com'))
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual(gone)
})

test('a person who saves the file just before it is replaced loses nothing, and the row goes with the next try', async () => {
  await using it = await createWorld()
  const target = it.all[1] ?? expect.fail()
  let sorted = ''
  const files = interceptedFiles(async (change) => {
    if (change.kind === 'replace' && sorted === '') {
      const [header = '', ...rows] = (await it.text()).trimEnd().split('\r\n')
      // Of the same length, so that only its time tells.
      sorted = [header, ...rows.reverse(), ''].join('\r\n')
      await writeFile(it.path, sorted)
    }
    await change.make()
  })
  const spreadsheet = createWorkbook({ directory: it.world.directory }, files)
  await spreadsheet.remove([target], testSignal)
  expect(await it.text()).toBe(sorted)
  await removeAll(spreadsheet, [target])
  const rows = sorted.split('\r\n').filter((row) => !row.includes(target.email))
  expect((await it.text()).split('\r\n')).toEqual(rows)
})

// The folder of the record is made first, and then the file is replaced.
const crashes = [1, 2, 3].flatMap((step) => [0, 0.3, 0.7, 1].map((part) => ({ step, part })))

test.each(crashes)(
  'a crash in step $step, part $part, leaves the file whole, and no copy of it after the next try',
  async (crash) => {
    await using it = await createWorld()
    const target = it.all[1] ?? expect.fail()
    const before = (await it.text()).split('\r\n')
    const { files } = crashingFiles(crash)
    const crashing = createWorkbook({ directory: it.world.directory }, files)
    await crashing.remove([target], testSignal).catch(() => {})
    const left =
      crash.step === 1 || (crash.step === 2 && crash.part < 1) ? before : before.toSpliced(2, 1)
    expect((await it.text()).split('\r\n')).toEqual(left)
    await removeAll(it.spreadsheet, [target])
    expect((await it.text()).split('\r\n')).toEqual(before.toSpliced(2, 1))
    expect(await readdir(join(it.world.directory, '.rollcall'))).not.toContain('half.tmp')
    expect(await filesWith(it.world, target)).toEqual([])
  },
)

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
  expect(rows.slice(1).map(([email]) => email)).toEqual(others)
})

const [ada, bob] = ['ada@example.com', 'bob@example.com']
const receivedAt = Date.parse('2026-01-02T03:04:05.678Z')
const adaTime = new Date(receivedAt).toISOString()
const bobTime = '2026-01-02T03:04:05.679Z'
const bobLine = `${bobTime},${bob},x,`

test('of two addresses that differ in apostrophes before a formula sign, only the row of the one goes', async () => {
  const [first, ...others] = people(3)
  const emails = ["'+a@example.com", '+a@example.com', "''=a@example.com"]
  const all = [first, ...others].map((one, at) => {
    const { receivedAt } = first ?? expect.fail()
    return { ...(one ?? expect.fail()), email: emails[at] ?? '', receivedAt }
  })
  for (const [at, target] of all.entries()) {
    await using it = await createWorld(all)
    const before = (await it.text()).split('\r\n')
    expect(await it.spreadsheet.remove([target], testSignal)).toEqual({ ...gone, standing: [1] })
    expect((await it.text()).split('\r\n')).toEqual(before.toSpliced(at + 1, 1))
  }
})

test.each<[string, string, string]>([
  [
    'line ends of old Macs',
    `H,E,S,N\r${bobLine}\r${adaTime},${ada},x,\r${bobLine}\r`,
    `H,E,S,N\r${bobLine}\r${bobLine}\r`,
  ],
  ['one line end of an old Mac', `H\n${bobLine}\r${adaTime},${ada},x,\n`, `H\n${bobLine}\r`],
  [
    'a cell of several lines behind',
    `H\n${adaTime},${ada},x,"one ""line""\r\n\r\nanother"\r\n${bobLine}`,
    `H\n${bobLine}`,
  ],
  [
    'cells of several lines around',
    `H\n"one\nanother",${adaTime},${ada},"one\nanother"\n${bobLine}\n`,
    `H\n${bobLine}\n`,
  ],
  [
    'such a cell between semicolons',
    `H\n${bobLine}\n${adaTime};${ada};"one\nanother"`,
    `H\n${bobLine}\n`,
  ],
  [
    'a quote above that nothing closes',
    `H\n${bobLine}"5 inch\n${adaTime},${ada},x,\n${bobLine}\n`,
    `H\n${bobLine}"5 inch\n${bobLine}\n`,
  ],
  [
    'a quote above that another cell seems to close',
    `H\n${bobLine}"5 inch\n${adaTime},${ada},x,\n${bobLine}"a, b"\n`,
    `H\n${bobLine}"5 inch\n${bobLine}"a, b"\n`,
  ],
  [
    'a quote far above that a cell far below seems to close',
    `H\n${bobLine}"5\n${'x\n'.repeat(100)}${adaTime},${ada}\n","\n`,
    `H\n${bobLine}"5\n${'x\n'.repeat(100)}","\n`,
  ],
])('all of a row goes and every other row stays with %s', async (_, before, after) => {
  await using world = await createWorkbookWorld()
  await mkdir(world.directory, { recursive: true })
  await writeFile(world.path('Sheet1'), before)
  const removed = await world.connect().remove([{ email: ada, receivedAt }], testSignal)
  expect(await readFile(world.path('Sheet1'), 'utf8')).toBe(after)
  expect(removed).toEqual({ ...gone, standing: [1] })
})

test('a line that is too long to be searched is never a part of the row that goes', async () => {
  await using world = await createWorkbookWorld()
  await mkdir(world.directory, { recursive: true })
  const rest = `${bobLine}${'x'.repeat(2 ** 21)}\n"\n`
  await writeFile(world.path('Sheet1'), `H\n${adaTime},${ada},x,"note\n${rest}`)
  await world.connect().remove([{ email: ada, receivedAt }], testSignal)
  expect(await readFile(world.path('Sheet1'), 'utf8')).toBe(`H\n${rest}`)
})

test('a row that a person has copied into a note stays, as it is a part of the row of another', async () => {
  await using world = await createWorkbookWorld()
  await mkdir(world.directory, { recursive: true })
  const text = `H\n${bobLine}"before:\n${adaTime},${ada},x\nby hand"\n`
  await writeFile(world.path('Sheet1'), text)
  await world.connect().remove([{ email: ada, receivedAt }], testSignal)
  expect(await readFile(world.path('Sheet1'), 'utf8')).toBe(text)
})

test('a very long line is passed over, and the row below it is found', async () => {
  await using it = await createWorld(people(1))
  const text = await it.text()
  const [header = '', row = ''] = text.split('\r\n')
  const long = 'x'.repeat(3_000_000)
  await writeFile(it.path, [header, long, row, ''].join('\r\n'))
  await removeAll(it.spreadsheet, it.all)
  expect(await it.text()).toBe([header, long, ''].join('\r\n'))
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

test('rows are found on both sides of where two reads of a long file meet, and the last without a line end', async () => {
  await using it = await createWorld(people(1))
  const [header = ''] = (await it.text()).split('\r\n')
  const all = people(30_000)
  const lines = all.map(
    ({ email, receivedAt }) => `${email},${new Date(receivedAt).toISOString()},x`,
  )
  await writeFile(it.path, [header, ...lines].join('\r\n'))
  // The line that the first mebibyte ends in.
  const at = (await it.text()).slice(0, 2 ** 20).split('\r\n').length - 2
  const gone = [at - 1, at, at + 1, all.length - 1]
  const { standing } =
    (await removed(
      it.spreadsheet,
      gone.map((index) => all[index]),
    )) ?? {}
  expect(standing).toEqual([1, 1, 1, 1])
  const expected = lines.filter((_, index) => !gone.includes(index))
  // The line end before the last line stays.
  expect(await it.text()).toBe([header, ...expected, ''].join('\r\n'))
})

async function removed(spreadsheet: Spreadsheet, signups: readonly (Signup | undefined)[]) {
  const result = await spreadsheet.remove(
    signups.filter((signup) => signup !== undefined),
    testSignal,
  )
  return result.kind === 'removed' ? result : undefined
}

test('files with an ending in capitals are searched, too', async () => {
  await using it = await createWorld(people(1))
  await rename(it.path, it.path.replace('.csv', '.CSV'))
  expect(await removed(it.spreadsheet, it.all)).toMatchObject({ standing: [1] })
})

test('every copy of a row goes, whatever letters it has, and other rows of the address stay', async () => {
  const [signup = expect.fail()] = people(1)
  const target = { ...signup, name: 'Åsa 王小明' }
  await using it = await createWorld([target])
  const rows = await it.text()
  const later = rows.split('\r\n')[1]?.replace('2026-11', '2026-12') ?? ''
  await writeFile(it.world.path('Copies'), `${rows}${rows}${later}\r\n${later}\r\n`)
  const removal = await it.spreadsheet.remove([target], testSignal)
  expect(removal).toEqual({ kind: 'removed', standing: [3] })
  expect(await it.spreadsheet.remove([target], testSignal)).toEqual(gone)
})

describe('a copy of the file that a crash left while its header grew', () => {
  const fields: readonly Field[] = [
    { name: 'company', type: 'text', required: false, maxLength: 80 },
  ]

  async function crash(it: Awaited<ReturnType<typeof createWorld>>): Promise<void> {
    const files = interceptedFiles(async (change) => {
      if (change.path !== it.path) return change.make()
      await change.makePart(0.9)
      throw new Crash()
    })
    const { directory } = it.world
    const batch = makeBatch(2, { Sheet1: people(5).slice(4) })
    const spreadsheet = createWorkbook({ directory, own: ownColumns(fields) }, files)
    await expect(spreadsheet.write(batch, testSignal)).rejects.toThrow(Crash)
  }

  test.each<[string, (spreadsheet: Spreadsheet, target: Signup) => Promise<unknown>]>([
    ['a removal', (spreadsheet, target) => spreadsheet.remove([target], testSignal)],
    ['the next start', (spreadsheet) => spreadsheet.open(testSignal)],
  ])('is gone after %s', async (what, act) => {
    await using it = await createWorld()
    await crash(it)
    const target = it.all[0] ?? expect.fail()
    expect(await filesWith(it.world, target)).toHaveLength(2)
    await act(it.world.connect(), target)
    const left = what === 'a removal' ? [] : ['Sheet1.csv']
    expect(await filesWith(it.world, target)).toEqual(left)
  })
})
