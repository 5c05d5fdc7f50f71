import { readFile, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { columns } from '../../src/signup/row.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { crashingFiles, interceptedFiles } from '../../harness/failing-files.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { makePipe } from '../../harness/temp-folder.ts'
import { createWorkbookWorld, type WorkbookWorld } from '../../harness/workbook-world.ts'
import { makeBatch, rowsOf, testSignal } from './spreadsheet-contract.ts'

/** What the workbook does to the files in its folder, and what it finds there. */

const header: string[] = [...columns]
const headerLine = `${header.join(',')}\r\n`
const applied = { kind: 'applied' }

let world: WorkbookWorld

beforeEach(async () => {
  world = await createWorkbookWorld()
  await world.connect().open(testSignal)
})

afterEach(() => world[Symbol.asyncDispose]())

/** A workbook on real files, and each change that it makes, with the path from the folder. */
function observedWorkbook() {
  const changes: string[] = []
  const files = interceptedFiles(async ({ kind, path, make }) => {
    changes.push(`${kind} ${path.replace(world.directory, '.')}`)
    await make()
  })
  return { workbook: createWorkbook({ directory: world.directory }, files), changes }
}

const batchOf = (number: number, ...tabs: string[]) =>
  makeBatch(number, Object.fromEntries(tabs.map((tab) => [tab, [makeFullSignup()]])))

describe('the changes of the disk', () => {
  test('make and sync the folder and the one above when the workbook is opened', async () => {
    const { workbook, changes } = observedWorkbook()
    expect(await workbook.open(testSignal)).toEqual({ kind: 'open' })
    expect(changes).toEqual([
      'ensureDirectory ./.rollcall',
      'syncDirectory .',
      `syncDirectory ${dirname(world.directory)}`,
    ])
  })

  test('sync a tab file again that was written before a crash', async () => {
    const batch = batchOf(1, 'News', 'Events')
    // The step that would sync the folder, after the folder, the intent and the two tab files.
    const { files } = crashingFiles({ step: 5, part: 0 })
    const crashing = createWorkbook({ directory: world.directory }, files)
    await expect(crashing.write(batch, testSignal)).rejects.toThrow()
    const before = await readFile(world.path('News'), 'utf8')

    const { workbook, changes } = observedWorkbook()
    expect(await workbook.write(batch, testSignal)).toEqual(applied)
    expect(changes.filter((change) => change.startsWith('append'))).toEqual([
      'append ./News.csv',
      'append ./Events.csv',
    ])
    expect(changes).toContain('syncDirectory .')
    expect(await readFile(world.path('News'), 'utf8')).toBe(before)
  })

  test('are none when markers are pruned that are not kept', async () => {
    const { workbook, changes } = observedWorkbook()
    expect(await workbook.prune([7], testSignal)).toMatchObject({ kind: 'pruned' })
    expect(changes).toEqual(['ensureDirectory ./.rollcall'])
  })
})

describe('pruning', () => {
  test('forgets the batches of these markers, and keeps the others out', async () => {
    const [first, second] = [batchOf(1, 'News'), batchOf(2, 'News')]
    for (const batch of [first, second]) await world.connect().abandon(batch, testSignal)
    await world.connect().prune([first.marker], testSignal)
    expect(await world.connect().write(second, testSignal)).toEqual({ kind: 'abandoned' })
    const record = await readFile(join(world.directory, '.rollcall', 'settled.json'), 'utf8')
    expect(record).not.toContain(first.fingerprint)
  })
})

describe('the file of a tab', () => {
  test('is the one with its own name, or else the first whose name differs in case', async () => {
    for (const name of ['news', 'nEWS', 'NEWS', 'neWS']) {
      await writeFile(join(world.directory, `${name}.csv`), headerLine)
    }
    const batch = batchOf(1, 'News', 'news')
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
    expect(await world.rows('NEWS')).toEqual([header, ...rowsOf('News', batch)])
    expect(await world.rows('news')).toEqual([header, ...rowsOf('news', batch)])
    expect(await readdir(world.directory)).toHaveLength(5)
  })

  test.each([
    ['\r', 'Guests,Table\r', '\r'],
    ['\n', 'Guests\nGrace', '\n'],
    ['\r\n', 'Guests\r\nGrace', '\r\n'],
    ['\r\n', 'Guests', '\r\n'],
    ['\n', 'Guests\nx', '\n'],
    ['\r\n', 'Guests\rx', '\r\n'],
    ['\n', `${'\n'.repeat(5000)}Guests\n`, '\n'],
  ])('keeps its line end %j: %j', async (_, before, lineEnd) => {
    await writeFile(world.path('News'), before)
    const batch = batchOf(1, 'News')
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
    const added = (await readFile(world.path('News'), 'utf8')).slice(before.length)
    const lead = /[\r\n]$/.test(before) ? '' : lineEnd
    expect(added.startsWith(`${lead}visitor-`)).toBe(true)
    expect(added.endsWith(`,News${lineEnd}`)).toBe(true)
  })

  test('is refused when it is a pipe, instead of waiting for its other end', async () => {
    makePipe(world.path('News'))
    const outcome = await world.connect().write(batchOf(1, 'News'), testSignal)
    expect(outcome).toMatchObject({ kind: 'refused', tab: { name: 'News' } })
  })

  test('has no warning any more when a person has given it our header row', async () => {
    await writeFile(world.path('News'), 'Guests,Table\r\n')
    const workbook = world.connect()
    await workbook.write(batchOf(1, 'News'), testSignal)
    expect(workbook.warnings).toMatchObject([
      { kind: 'columns', message: expect.stringMatching(/file with inode \d+ .* does not begin/) },
    ])
    const text = await readFile(world.path('News'), 'utf8')
    await writeFile(world.path('News'), text.replace('Guests,Table\r\n', headerLine))
    await workbook.write(batchOf(2, 'News'), testSignal)
    expect(workbook.warnings).toEqual([])
  })
})
