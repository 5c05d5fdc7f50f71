import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  Crash,
  type CrashPoint,
  crashingFiles,
  interceptedFiles,
} from '../../harness/failing-files.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { createWorkbookWorld, type WorkbookWorld } from '../../harness/workbook-world.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import { columns } from '../../src/signup/row.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { makeBatch, testSignal } from './spreadsheet-contract.ts'

/** A write stops in the middle, and a person changes the file before it is repaired. */

const applied = { kind: 'applied' }
const line = columns.join(',')

let world: WorkbookWorld

beforeEach(async () => {
  world = await createWorkbookWorld()
  await world.connect().open(testSignal)
})

afterEach(() => world[Symbol.asyncDispose]())

const batchOf = (number: number, rows = 4) =>
  makeBatch(number, { News: Array.from({ length: rows }, () => makeFullSignup()) })

/** Step 1 makes the folder, 2 writes the intent, 3 appends to the file of the tab, 4 syncs the folder. */
async function crash(batch: FrozenBatch, point: CrashPoint): Promise<void> {
  const workbook = createWorkbook({ directory: world.directory }, crashingFiles(point).files)
  await expect(workbook.write(batch, testSignal)).rejects.toThrow(Crash)
}

async function edit(change: (text: string) => string): Promise<void> {
  await writeFile(world.path('News'), change(await readFile(world.path('News'), 'utf8')))
}

/** How often each signup of the batch has a whole row in the file, down to its last cell. */
async function counts(
  batch: FrozenBatch,
  { delimiter = ',', lastIsTime = false } = {},
): Promise<number[]> {
  const text = await readFile(world.path('News'), 'utf8')
  const rows = parse(text, { delimiter, relax_column_count: true, relax_quotes: true })
  return batch.tabs.flatMap(({ tab, signups }) =>
    signups.map(({ email, receivedAt }) => {
      const last = lastIsTime ? new Date(receivedAt).toISOString() : tab
      return rows.filter((cells) => cells.includes(email) && cells.includes(last)).length
    }),
  )
}

const once = [1, 1, 1, 1]

describe('a batch of which a changed file has some rows', () => {
  const batch = batchOf(2)

  beforeEach(async () => {
    await writeFile(world.path('News'), `${line}\r\n`)
    await crash(batch, { step: 3, part: 0.7 })
    await edit((text) => `${text}\r\nCall them,,,,,,\r\n`)
  })

  test('is written and not given up, even when the repair crashes', async () => {
    await crash(batch, { step: 3, part: 0 })
    expect(await world.connect().abandon(batch, testSignal)).toEqual(applied)
    expect(await counts(batch)).toEqual(once)
  })

  test('has an unknown outcome while the disk is full, because its rows are not taken back', async () => {
    const files = interceptedFiles(async (change) => {
      if (change.kind !== 'append') return change.make()
      throw Object.assign(new Error('told by the test'), { code: 'ENOSPC' })
    })
    const full = createWorkbook({ directory: world.directory }, files)
    expect(await full.write(batch, testSignal)).toMatchObject({
      kind: 'unknown',
      message: 'The workbook cannot be written: the disk is full (ENOSPC)',
    })
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
    expect(await counts(batch)).toEqual(once)
  })

  test('is not applied while the disk is full, when the person has removed all of its rows', async () => {
    const edited = `${line}\r\nCall them,,,,,,\r\n`
    await edit(() => edited)
    const files = interceptedFiles(async (change) => {
      if (change.kind !== 'append') return change.make()
      throw Object.assign(new Error('told by the test'), { code: 'ENOSPC' })
    })
    const full = createWorkbook({ directory: world.directory }, files)
    expect(await full.write(batch, testSignal)).toMatchObject({ kind: 'refused' })
    expect(await readFile(world.path('News'), 'utf8')).toBe(edited)
    expect(await readdir(join(world.directory, '.rollcall'))).not.toContain('intent.json')
  })

  test('is given up when the person has removed all of its rows', async () => {
    await edit(() => `${line}\r\nCall them,,,,,,\r\n`)
    expect(await world.connect().abandon(batch, testSignal)).toEqual({ kind: 'abandoned' })
    expect(await world.connect().write(batch, testSignal)).toEqual({ kind: 'abandoned' })
    expect(await counts(batch)).toEqual([0, 0, 0, 0])
  })
})

describe('under a header row of a person, every row is there once', () => {
  const swap = (text: string) =>
    text.replace(/^([^,\r\n]*),([^,\r\n]*),([^,\r\n]*)/gm, (_, one, two, three) =>
      [three, one, two].join(','),
    )
  test.each<[string, (text: string) => string, string]>([
    ['leaves the file alone', (text) => text, ','],
    ['adds a row', (text) => `${text}\r\nGrace,g@example.org,,\r\n`, ','],
    ['moves the columns', swap, ','],
    ['removes the header row', (text) => text.replace(/^.*\r\n/, ''), ','],
    ['saves it with semicolons', (text) => text.replaceAll(',', ';'), ';'],
  ])('when a person %s after a crash', async (_, change, delimiter) => {
    for (const part of [0.3, 0.7, 1]) {
      await writeFile(world.path('News'), 'Name,Email,Timestamp\r\n')
      const batch = batchOf(part * 10)
      await crash(batch, part === 1 ? { step: 4, part: 0 } : { step: 3, part })
      await edit(change)
      expect(await world.connect().write(batch, testSignal)).toEqual(applied)
      expect(await counts(batch, { delimiter, lastIsTime: true }), `${part}`).toEqual(once)
    }
  })
})

test.each([
  ['their own header row', 'Name,Email,Timestamp', 'Email,Timestamp,Name'],
  ['our header row', line, columns.toReversed().join(',')],
])(
  'after a crash, rows go by the new columns when a person has moved those of %s',
  async (_, before, after) => {
    await writeFile(world.path('News'), `${before}\r\n`)
    const batch = batchOf(1, 2)
    await crash(batch, { step: 3, part: 0 })
    await writeFile(world.path('News'), `${after}\r\n\r\n`)
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
    const rows = ((await world.rows('News')) ?? []).filter((row) => row.join('').includes('@'))
    const emails = rows.map((row) => row[after.split(',').indexOf('Email')])
    expect(emails).toEqual(batch.tabs[0]?.signups.map(({ email }) => email))
  },
)

test('where nothing tells rows of one address apart, one of long ago is not taken for the one that a crash kept out', async () => {
  const others = Array.from({ length: 2_000 }, (_, at) => `Eve,eve${at}@example.org,1\r\n`).join('')
  await writeFile(world.path('News'), `Name,Email,Phone\r\nAda,ada@example.org,1\r\n${others}`)
  const signups = [makeFullSignup({ email: 'ada@example.org' })]
  const batch = makeBatch(1, { News: signups })
  await crash(batch, { step: 3, part: 0 })
  await edit((text) => `${text}Grace,grace@example.org,1\r\n`)
  expect(await world.connect().write(batch, testSignal)).toEqual(applied)
  const emails = ((await world.rows('News')) ?? []).map(([, email]) => email)
  expect(emails.filter((email) => email === 'ada@example.org')).toHaveLength(2)
})

test.each([0, 0.01, 0.1, 0.5, 0.99])(
  'a new file has its header row and its rows, or does not exist: %d of it is written at a crash',
  async (part) => {
    const batch = batchOf(1)
    await crash(batch, { step: 3, part })
    expect(await readdir(world.directory)).toEqual(['.rollcall'])
    await world.connect().open(testSignal)
    expect(await readdir(join(world.directory, '.rollcall'))).toEqual(['intent.json'])
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
    expect(await counts(batch)).toEqual(once)
  },
)

test('a byte order mark that a person left alone in a file stays before the header row', async () => {
  await writeFile(world.path('News'), '\uFEFF')
  const batch = batchOf(1)
  expect(await world.connect().write(batch, testSignal)).toEqual(applied)
  expect(await counts(batch)).toEqual(once)
  expect(await readFile(world.path('News'), 'utf8')).toMatch(/^\uFEFFEmail,/)
})

test('giving up a batch leaves the half-done write of a lost journal to be finished', async () => {
  const lost = batchOf(1)
  await crash(lost, { step: 3, part: 0.5 })
  const other = { ...batchOf(1), fingerprint: 'another-journal:1' }
  expect(await world.connect().abandon(other, testSignal)).toEqual({ kind: 'abandoned' })
  const next = { ...batchOf(2), fingerprint: 'another-journal:2' }
  expect(await world.connect().write(next, testSignal)).toEqual(applied)
  expect([await counts(lost), await counts(other), await counts(next)]).toEqual([
    ...[once, [0, 0, 0, 0], once],
  ])
})

test('a record that cannot be read is not taken for one that is missing', async () => {
  const batch = batchOf(1)
  expect(await world.connect().write(batch, testSignal)).toEqual(applied)
  const path = join(world.directory, '.rollcall', 'settled.json')
  await rm(path)
  await mkdir(path)
  expect(await world.connect().write(batch, testSignal)).toMatchObject({ kind: 'refused' })
  expect(await counts(batch)).toEqual(once)
  expect(await readdir(join(world.directory, '.rollcall'))).toEqual(['settled.json'])
})
