import { fieldsContract } from './fields-contract.ts'
import {
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { columns } from '../../src/signup/row.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { interceptedFiles } from '../../harness/failing-files.ts'
import type { Change } from '../../harness/failing-files.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { makeBatch, rowsOf, spreadsheetContract, testSignal } from './spreadsheet-contract.ts'
import { createWorkbookWorld, readTabFiles } from '../../harness/workbook-world.ts'
import type { WorkbookWorld } from '../../harness/workbook-world.ts'

spreadsheetContract('the workbook', {
  createWorld: createWorkbookWorld,
  readsFormulaAs: (text) => `'${text}`,
})

fieldsContract('the workbook', createWorkbookWorld)

const header: string[] = [...columns]
const headerLine = `${header.join(',')}\r\n`
const applied = { kind: 'applied' }

let world: WorkbookWorld

beforeEach(async () => {
  world = await createWorkbookWorld()
  await world.connect().open(testSignal)
})

afterEach(() => world[Symbol.asyncDispose]())

/** How many bytes this process has read of files and sockets. Other systems than Linux do not tell. */
async function bytesRead(): Promise<number> {
  const text = await readFile('/proc/self/io', 'utf8').catch(() => '')
  return Number(/^rchar: (\d+)/.exec(text)?.[1] ?? 0)
}

async function inodeOf(path: string): Promise<number> {
  return (await lstat(path)).ino
}

describe('a tab file', () => {
  const signup = makeFullSignup({ name: 'O"Brien, Ada', tags: [], metadata: '' })
  const batch = makeBatch(1, { News: [signup] })
  const time = new Date(signup.receivedAt).toISOString()
  const row = `${signup.email},${time},api,"O""Brien, Ada",,,News`

  async function contentAfter(before: string): Promise<string> {
    await writeFile(world.path('News'), before)
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
    return readFile(world.path('News'), 'utf8')
  }

  test('is plain CSV: a header row, CRLF, quotes where needed, no byte order mark', async () => {
    expect(await contentAfter('')).toBe(`${headerLine}${row}\r\n`)
    expect(await readdir(world.directory)).toEqual(['.rollcall', 'News.csv'])
  })

  test('that a program saved with semicolons and no last line end gets rows with semicolons', async () => {
    const saved = `\ufeff${header.join(';')}\na;b`
    const expected = `${saved}\n${row.replaceAll(',', ';').replace('Brien;', 'Brien,')}\n`
    expect(await contentAfter(saved)).toBe(expected)
  })

  test('that has only a byte order mark and a line end gets the header row', async () => {
    expect(await contentAfter('\ufeff\r\n')).toBe(`\ufeff\r\n${headerLine}${row}\r\n`)
  })

  test('of 3 GB is appended to, not read', async () => {
    const size = 3e9
    await writeFile(world.path('News'), '')
    await truncate(world.path('News'), size) // A sparse file, which takes no space.
    const readBefore = await bytesRead()
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
    expect((await bytesRead()) - readBefore).toBeLessThan(size / 10)
    await using file = await open(world.path('News'))
    const { buffer, bytesRead: length } = await file.read(Buffer.alloc(1000), 0, 1000, size)
    expect(buffer.toString('utf8', 0, length)).toBe(`\r\n${row}\r\n`)
  })
})

test('the record of the last batch keeps no address', async () => {
  const signup = makeFullSignup()
  await world.connect().write(makeBatch(1, { News: [signup] }), testSignal)
  const folder = join(world.directory, '.rollcall')
  const names = await readdir(folder)
  expect(names).toEqual(['settled.json'])
  expect(await readFile(join(folder, 'settled.json'), 'utf8')).not.toContain(signup.email)
})

describe('a write is refused until a person removes the obstacle', () => {
  const batch = makeBatch(1, { News: [makeFullSignup()], Events: [makeFullSignup()] })
  const write = () => world.connect().write(batch, testSignal)

  test('when a tab file is a symbolic link, which is not followed', async () => {
    const outside = join(dirname(world.directory), 'outside.csv')
    await writeFile(outside, 'precious\r\n')
    await symlink(outside, world.path('Events'))
    expect(await write()).toMatchObject({
      kind: 'refused',
      reason: 'tabFile',
      tab: { name: 'Events', place: `the file with inode ${await inodeOf(world.path('Events'))}` },
      message: 'The file of a tab cannot be written: it is a symbolic link (ELOOP)',
      hint: expect.stringContaining(world.directory),
    })
    expect(await readFile(outside, 'utf8')).toBe('precious\r\n')
    expect(await world.rows('News')).toBeUndefined()

    await rm(world.path('Events'))
    expect(await write()).toEqual(applied)
  })

  test('when a folder has the name of a tab file', async () => {
    await mkdir(world.path('Events'))
    expect(await write()).toMatchObject({ kind: 'refused', tab: { name: 'Events' } })
    expect(await world.rows('News')).toBeUndefined()

    await rm(world.path('Events'), { recursive: true })
    expect(await write()).toEqual(applied)
  })

  test('when a file has the name of the folder of the workbook', async () => {
    await rm(world.directory, { recursive: true })
    await writeFile(world.directory, '')
    const refused = {
      kind: 'refused',
      reason: 'folder',
      message: expect.stringContaining('ENOTDIR'),
    }
    expect(await world.connect().open(testSignal)).toMatchObject(refused)
    const outcome = await write()
    expect(outcome).toMatchObject(refused)
    expect(outcome).not.toHaveProperty('tab')

    await rm(world.directory)
    expect(await write()).toEqual(applied)
  })

  test('when somebody has changed the record of the last batch', async () => {
    expect(await write()).toEqual(applied)
    const path = join(world.directory, '.rollcall', 'settled.json')
    const content = await readFile(path)
    await writeFile(path, '{"abandoned":')
    const hint: unknown = expect.stringContaining('settled.json')
    expect(await write()).toMatchObject({ kind: 'refused', reason: 'record', hint })

    await writeFile(path, content)
    expect(await write()).toEqual(applied)
    expect(await world.rows('News')).toEqual([header, ...rowsOf('News', batch)])
  })
})

describe('when the disk fails during a write', () => {
  const first = makeBatch(1, { News: [makeFullSignup()], Events: [makeFullSignup()] })
  const second = makeBatch(2, {
    News: [makeFullSignup()],
    Events: [makeFullSignup()],
    'New one': [makeFullSignup()],
  })
  const tabs = ['News', 'Events', 'New one']

  /** Writes the second batch on a disk that fails with the codes of `trouble`, after a part of the change. */
  function writeWith(trouble: (change: Change, step: number) => string | undefined, part = 0.5) {
    let steps = 0
    const files = interceptedFiles(async (change) => {
      steps += 1
      const code = trouble(change, steps)
      if (code === undefined) return change.make()
      await change.makePart(part)
      throw Object.assign(new Error(`${code}: simulated by the test`), { code })
    })
    return createWorkbook({ directory: world.directory }, files).write(second, testSignal)
  }

  async function expectAllRowsOnce(): Promise<void> {
    for (const tab of tabs) {
      expect(await world.rows(tab)).toEqual([header, ...rowsOf(tab, first, second)])
    }
  }

  beforeEach(async () => {
    expect(await world.connect().write(first, testSignal)).toEqual(applied)
  })

  // The steps: folder, intent, three tab files, sync, settled, removal of the intent.
  test.each([
    ...[1, 2, 3, 4, 5].map((step) => [step, 'refused'] as const),
    ...[6, 7].map((step) => [step, 'unknown'] as const),
    [8, 'applied'] as const,
  ])('when the disk is full from step %i on, the outcome is %s', async (from, kind) => {
    const before = await readTabFiles(world)
    const outcome = await writeWith((change, step) =>
      step >= from && ['append', 'replace'].includes(change.kind) ? 'ENOSPC' : undefined,
    )
    expect(outcome.kind).toBe(kind)
    if (outcome.kind === 'refused') {
      expect(outcome.message).toBe('The workbook cannot be written: the disk is full (ENOSPC)')
      expect(outcome).not.toHaveProperty('tab')
      expect(await readTabFiles(world)).toEqual(before)
    }
    expect(await world.connect().write(second, testSignal)).toEqual(applied)
    await expectAllRowsOnce()
  })

  test('when one tab file is locked, its tab is refused and nothing is applied, and a batch without it is', async () => {
    const before = await readTabFiles(world)
    const isLocked = ({ kind, path }: Change) =>
      kind === 'append' && path === world.path('Events') ? 'EBUSY' : undefined
    expect(await writeWith(isLocked)).toMatchObject({ kind: 'refused', tab: { name: 'Events' } })
    expect(await readTabFiles(world)).toEqual(before)

    const without = { ...second, number: 3, fingerprint: 'journal-7:3' }
    const others = { ...without, tabs: second.tabs.filter(({ tab }) => tab !== 'Events') }
    expect(await world.connect().write(others, testSignal)).toEqual(applied)
    expect(await world.rows('News')).toEqual([header, ...rowsOf('News', first, second)])
    expect(await world.rows('Events')).toEqual([header, ...rowsOf('Events', first)])
  })

  test('when no file can be made in the folder, no single tab is refused', async () => {
    const isShut = ({ kind, path }: Change) =>
      kind === 'replace' && path === world.path('New one') ? 'EACCES' : undefined
    const outcome = await writeWith(isShut, 0)
    expect(outcome).toMatchObject({ kind: 'refused' })
    expect(outcome).not.toHaveProperty('tab')
  })

  test('a write that can neither be finished nor undone is finished by the next one', async () => {
    const trouble = ({ kind, path }: Change) => {
      if (kind === 'append' && path === world.path('Events')) return 'EIO'
      return kind === 'truncate' || kind === 'remove' ? 'EIO' : undefined
    }
    expect(await writeWith(trouble)).toMatchObject({ kind: 'unknown' })
    expect(await world.connect().write(second, testSignal)).toEqual(applied)
    await expectAllRowsOnce()
  })

  test('a write with an unknown error can be tried again', async () => {
    const outcome = await writeWith((_, step) => (step === 2 ? 'ESTALE' : undefined))
    expect(outcome.kind).toBe('retryable')
    expect(await world.connect().write(second, testSignal)).toEqual(applied)
    await expectAllRowsOnce()
  })
})
