import { appendFile, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import { columns } from '../../src/signup/row.ts'
import { codeOf } from '../../src/platform/node/durable-file.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { Crash, crashingFiles, interceptedFiles } from '../../harness/failing-files.ts'
import type { CrashPoint } from '../../harness/failing-files.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { makeBatch, rowsOf, testSignal } from '../spreadsheet/spreadsheet-contract.ts'
import { createWorkbookWorld, readTabFiles } from '../../harness/workbook-world.ts'
import type { WorkbookWorld } from '../../harness/workbook-world.ts'

const header: string[] = [...columns]
const applied = { kind: 'applied' }

/** Changes that a person may make to a tab file between the crash and the restart. */
const deeds = {
  'leaves the file alone': async () => {},
  'adds a line below': (path: string) => appendFile(path, '\r\nCall them,,,,,,\r\n'),
  'reverses the lines': (path: string) => saveAnew(path, (lines) => [...lines].reverse()),
  'adds a column and saves with semicolons': (path: string) =>
    // Half a header row of ours, with a column added, would count as the person's own header.
    saveAnew(path, (lines) => (isHeaderCut(lines) ? lines : lines.map(withSemicolons))),
  'empties the file': (path: string) => writeFile(path, ''),
  'deletes the file': (path: string) => rm(path, { force: true }),
  'renames the file': (path: string) => rename(path, `${path}.old.csv`),
}
type Deed = keyof typeof deeds

const keepingDeeds: Deed[] = [
  'leaves the file alone',
  'adds a line below',
  'reverses the lines',
  'adds a column and saves with semicolons',
]
const removingDeeds: Deed[] = ['empties the file', 'deletes the file', 'renames the file']

const before = makeBatch(1, {
  News: [makeFullSignup(), makeFullSignup()],
  Events: [makeFullSignup()],
})
const during = makeBatch(2, {
  News: [makeFullSignup(), makeFullSignup({ metadata: '' }), makeFullSignup()],
  Events: [makeFullSignup(), makeFullSignup()],
  'New one': [makeFullSignup(), makeFullSignup()],
})
const after = makeBatch(3, {
  News: [makeFullSignup()],
  Events: [makeFullSignup()],
  'New one': [makeFullSignup()],
})

/** The folder, the intent, three tab files, their folder, the record, and the removal of the intent. */
const stepsOfWrite = 8

/**
 * Defines tests that crash before, in and after each step of a write: when these parts of the step were
 * made. The last test draws `numRuns` rows of crashes.
 */
export function testWorkbookCrashes(parts: readonly number[], numRuns: number): void {
  const steps = Array.from({ length: stepsOfWrite }, (_, index) => index + 1)
  const crashPoints = steps.flatMap((step) => parts.map((part): CrashPoint => ({ step, part })))

  test('a write has as many steps as it can crash at in these tests', async () => {
    await using world = await createWorkbookWorld()
    await writeAll(world, before)
    expect(await crash(world, { step: stepsOfWrite + 1, part: 0 })).toBe(false)
  })

  describe('after a crash at any step of a write', () => {
    test('writing the same batch again gives every row once, in order', async () => {
      for (const point of crashPoints) {
        await using world = await crashedWorld(point)
        await writeAll(world, during, during, after)
        for (const tab of ['News', 'Events', 'New one']) {
          const expected = [header, ...rowsOf(tab, before, during, after)]
          expect(await world.rows(tab), about(point, tab)).toEqual(expected)
        }
      }
    })

    test.each(keepingDeeds)('and after a person %s, every row is there once', async (deed) => {
      for (const point of crashPoints) {
        await using world = await crashedWorld(point)
        await toEachFile(world, deed)
        const linesBefore = await readLines(world.path('News'))
        await writeAll(world, during, during, after)

        expect(await readLines(world.path('News')), about(point)).toEqual(
          expect.arrayContaining(deed === 'leaves the file alone' ? [] : linesBefore),
        )
        for (const tab of ['News', 'Events', 'New one']) {
          for (const row of rowsOf(tab, before, during, after)) {
            expect(await countRow(world.path(tab), row), about(point, tab, row[0])).toBe(1)
          }
        }
      }
    })

    test.each(keepingDeeds)(
      'and after a person %s, rows with one address and time in two batches are each there once',
      async (deed) => {
        const { email, receivedAt } = makeFullSignup()
        const alike = (name: string) => makeFullSignup({ email, receivedAt, name })
        const first = makeBatch(1, { News: [alike('one'), alike('two')] })
        const second = makeBatch(2, { News: [alike('three'), alike('four')] })
        for (const point of crashPoints) {
          await using world = await createWorkbookWorld()
          await writeAll(world, first)
          await crash(world, point, 'write', second)
          await toEachFile(world, deed)
          // The repair crashes, and a person changes the file again.
          await crash(world, { step: 3, part: 0.5 }, 'write', second)
          await toEachFile(world, deed)
          await writeAll(world, second)
          for (const row of rowsOf('News', first, second)) {
            expect(await countRow(world.path('News'), row), about(point, row[3])).toBe(1)
          }
        }
      },
    )

    test.each(removingDeeds)('and after a person %s, no row is written twice', async (deed) => {
      for (const point of crashPoints) {
        await using world = await crashedWorld(point)
        const wasSettled = await isSettled(world, during)
        await toEachFile(world, deed)
        await writeAll(world, during, during, after)
        for (const tab of ['News', 'Events', 'New one']) {
          const batches = wasSettled ? [after] : [during, after]
          const expected = [header, ...rowsOf(tab, ...batches)]
          expect(await world.rows(tab), about(point, tab)).toEqual(expected)
        }
      }
    })

    test.each(keepingDeeds)(
      'and after a person %s, giving the batch up leaves all of its rows or none',
      async (deed) => {
        for (const point of crashPoints) {
          await using world = await crashedWorld(point)
          await toEachFile(world, deed)
          const { kind } = await world.connect().abandon(during, testSignal)
          expect(['applied', 'abandoned'], about(point)).toContain(kind)
          expect((await world.connect().abandon(during, testSignal)).kind, about(point)).toBe(kind)
          if (kind === 'abandoned') {
            expect((await world.connect().write(during, testSignal)).kind).toBe('abandoned')
          }
          await world.connect().open(testSignal)
          expect(await readdir(join(world.directory, '.rollcall'))).not.toContain('intent.json')
          await writeAll(world, after)
          if (deed === 'adds a line below') {
            expect(await readLines(world.path('News')), about(point)).toContain('Call them,,,,,,')
          }
          for (const tab of ['News', 'Events', 'New one']) {
            for (const row of rowsOf(tab, during)) {
              const count = await countRow(world.path(tab), row)
              expect(count, about(point, tab, row[0])).toBe(kind === 'applied' ? 1 : 0)
            }
            for (const row of rowsOf(tab, before, after)) {
              expect(await countRow(world.path(tab), row), about(point, tab, row[0])).toBe(1)
            }
          }
        }
      },
    )

    test('giving the batch up restores every file byte for byte, and removes new files, unless all rows are written', async () => {
      await using whole = await createWorkbookWorld()
      await writeAll(whole, before, during)
      const bytesAfter = await readTabFiles(whole)
      const kinds = new Set<string>()
      for (const point of crashPoints) {
        await using world = await createWorkbookWorld()
        await writeAll(world, before)
        const bytesBefore = await readTabFiles(world)
        expect(await crash(world, point), about(point)).toBe(true)
        const isWhole = isDeepStrictEqual(await readTabFiles(world), bytesAfter)
        const { kind } = await world.connect().abandon(during, testSignal)
        expect(kind, about(point)).toBe(isWhole ? 'applied' : 'abandoned')
        expect(await readTabFiles(world), about(point)).toEqual(isWhole ? bytesAfter : bytesBefore)
        kinds.add(kind)
      }
      expect(kinds.size).toBe(2)
    })

    test('zeros in place of the bytes that a power failure lost are cut off', async () => {
      for (const kept of [0, 1, 150]) {
        await using world = await worldWithZeros(kept)
        await writeAll(world, during)
        expect(await world.rows('News')).toEqual([header, ...rowsOf('News', before, during)])
      }
    })

    test('rows that a person added below the zeros of a power failure stay', async () => {
      await using world = await worldWithZeros(150)
      await appendFile(world.path('News'), 'Call them,,,,,,\r\n')
      await writeAll(world, during)
      expect(await readFile(world.path('News'), 'utf8')).toContain('Call them,,,,,,\r\n')
      for (const row of rowsOf('News', before, during)) {
        expect(await countRow(world.path('News'), row), row[0]).toBe(1)
      }
    })

    test('a batch that was given up is never written, even after a crash meanwhile and after its marker is pruned', async () => {
      await using world = await crashedWorld({ step: 3, part: 0.5 })
      await crash(world, { step: 5, part: 0 }, 'abandon')
      expect(await isSettled(world, during)).toBe(true)
      expect(await readdir(join(world.directory, '.rollcall'))).toContain('intent.json')
      await world.connect().prune([during.marker], testSignal)
      await writeAll(world, after)
      expect(await world.rows('News')).toEqual([header, ...rowsOf('News', before, after)])
    })

    test('after several crashes, with people in between, every row of the batch is there once, or none is', async () => {
      const crashes = fc.array(
        fc.record({
          point: fc.record({
            step: fc.integer({ min: 1, max: 10 }),
            part: fc.constantFrom(0, 0.3, 0.9, 1),
          }),
          deed: fc.constantFrom(...keepingDeeds),
          call: fc.constantFrom('write' as const, 'abandon' as const),
        }),
        { maxLength: 5 },
      )
      await fc.assert(
        fc.asyncProperty(crashes, async (schedule) => {
          await using world = await createWorkbookWorld()
          await writeAll(world, before)
          for (const { point, deed, call } of schedule) {
            await crash(world, point, call)
            await toEachFile(world, deed)
          }
          const { kind } = await world.connect().write(during, testSignal)
          for (const tab of ['News', 'Events', 'New one']) {
            for (const row of rowsOf(tab, during)) {
              const count = await countRow(world.path(tab), row)
              expect(count, row[0]).toBe(kind === 'applied' ? 1 : 0)
            }
          }
        }),
        { numRuns },
      )
    })

    test('a write that is half done when its journal is lost is finished before the batch of another journal', async () => {
      await using world = await crashedWorld({ step: 4, part: 0.5 })
      const other = {
        ...makeBatch(1, { News: [makeFullSignup()] }),
        fingerprint: 'another-journal:1',
      }

      await writeAll(world, other)
      expect(await world.rows('News')).toEqual([header, ...rowsOf('News', before, during, other)])
      expect(await world.rows('New one')).toEqual([header, ...rowsOf('New one', during)])
    })

    test('when a write of a lost journal cannot be finished, no tab of another journal is set aside', async () => {
      await using world = await crashedWorld({ step: 4, part: 0.5 })
      const other = {
        ...makeBatch(1, { News: [makeFullSignup()] }),
        fingerprint: 'another-journal:1',
      }
      const files = interceptedFiles(async (change) => {
        if (change.kind !== 'append') return change.make()
        throw Object.assign(new Error('simulated by the test'), { code: 'EBUSY' })
      })
      const locked = createWorkbook({ directory: world.directory }, files)
      const outcome = await locked.write(other, testSignal)
      expect(outcome.kind).toBe('refused')
      expect(outcome, 'a tab that is not its own').not.toHaveProperty('tab')
    })
  })
}

/** A workbook with one batch, in which the process crashed while it wrote the next one. */
async function crashedWorld(point: CrashPoint): Promise<WorkbookWorld> {
  const world = await createWorkbookWorld()
  await writeAll(world, before)
  expect(await crash(world, point), about(point)).toBe(true)
  return world
}

/** The same, with zeros in the file of the first tab in place of its new bytes, except the first `kept`. */
async function worldWithZeros(kept: number): Promise<WorkbookWorld> {
  const world = await crashedWorld({ step: 3, part: 0 })
  await using twin = await crashedWorld({ step: 3, part: 1 })
  const { length } = await readFile(world.path('News'))
  const bytes = await readFile(twin.path('News'))
  await writeFile(world.path('News'), bytes.fill(0, length + kept))
  return world
}

/** Writes or gives up the batch until it crashes. Returns whether it came to the crash. */
async function crash(
  world: WorkbookWorld,
  point: CrashPoint,
  call: 'write' | 'abandon' = 'write',
  batch = during,
): Promise<boolean> {
  const { files, hasCrashed } = crashingFiles(point)
  const workbook = createWorkbook({ directory: world.directory }, files)
  try {
    await workbook[call](batch, testSignal)
  } catch (error) {
    if (!(error instanceof Crash)) throw error
  }
  return hasCrashed()
}

async function writeAll(world: WorkbookWorld, ...batches: readonly FrozenBatch[]): Promise<void> {
  for (const batch of batches) {
    expect(await world.connect().write(batch, testSignal)).toEqual(applied)
  }
}

async function toEachFile(world: WorkbookWorld, deed: Deed): Promise<void> {
  for (const name of Object.keys(await readTabFiles(world))) {
    await deeds[deed](join(world.directory, name))
  }
}

async function isSettled(world: WorkbookWorld, batch: FrozenBatch): Promise<boolean> {
  const text = await readFile(join(world.directory, '.rollcall', 'settled.json'), 'utf8')
  return text.includes(batch.fingerprint)
}

async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split(/\r?\n/).filter((line) => line !== '')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

async function saveAnew(path: string, change: (lines: string[]) => string[]): Promise<void> {
  await writeFile(path, change(await readLines(path)).join('\n'))
}

function isHeaderCut([first = '']: readonly string[]): boolean {
  return first.startsWith('Email') && !first.includes('Sheet Tab')
}

function withSemicolons(line: string): string {
  const cells = [...cellsOf(line, line.includes(';') ? ';' : ','), 'x']
  return cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')
}

async function countRow(path: string, row: readonly string[]): Promise<number> {
  const lines = await readLines(path)
  const isRow = (cells: string[]) => row.every((cell, index) => cells[index] === cell)
  return lines.filter((line) => isRow(cellsOf(line, ',')) || isRow(cellsOf(line, ';'))).length
}

/** The cells of one line. A line that was cut within quotes is a single cell. */
function cellsOf(line: string, delimiter: string): string[] {
  try {
    const rows: string[][] = parse(line, { delimiter, relax_column_count: true })
    return rows[0] ?? []
  } catch {
    return [line]
  }
}

function about(point: CrashPoint, ...rest: (string | undefined)[]): string {
  return [`step ${point.step}, part ${point.part}`, ...rest].join(', ')
}
