import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'

import { postSignup } from '../../harness/post-signup.ts'
import { startCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { type DiskStep, readDiskSteps, straceTo } from './world/system-calls.ts'

/** The contents and names of files that are not synced yet, which a power failure would lose. */
class Unsynced {
  readonly #folder: string
  readonly #known = new Set<string>()
  readonly #contents = new Set<string>()
  /** New names by their directory. */
  readonly #names = new Map<string, Set<string>>()

  /** Looks at the files below `folder`, which is empty in the beginning. */
  constructor(folder: string) {
    this.#folder = folder
  }

  take(step: DiskStep): void {
    if (step.kind === 'answer' || !this.#matters(step.path)) return
    const { path } = step
    if (step.kind === 'write') this.#contents.add(path)
    if (step.kind === 'sync') {
      this.#contents.delete(path)
      this.#names.delete(path)
    }
    if (step.kind === 'remove') this.#contents.delete(path)
    if (step.kind !== 'name') return
    const { from } = step
    if (from !== undefined && this.#contents.delete(from)) this.#contents.add(path)
    if (from === undefined && this.#known.has(path)) return
    this.#known.add(path)
    this.#names.getOrInsertComputed(dirname(path), () => new Set()).add(path)
  }

  /** Names of the files and directories that a power failure would harm now. */
  list(): readonly string[] {
    const paths = [...this.#contents, ...[...this.#names.values()].flatMap((names) => [...names])]
    return [...new Set(paths.map((path) => path.slice(this.#folder.length + 1)))].toSorted()
  }

  /** SQLite makes its -shm file anew after a crash, and the lock does not matter then. */
  #matters(path: string): boolean {
    const name = basename(path)
    return (
      `${path}/`.startsWith(`${this.#folder}/`) &&
      !name.endsWith('-shm') &&
      !name.startsWith('lock')
    )
  }
}

/** The files in `data/` that have to be on the disk before a step; undefined when none has to. */
function neededBefore(step: DiskStep): RegExp | undefined {
  if (step.kind === 'answer') return /./
  const name = basename(step.path)
  // A start repairs a file that was cut in the middle of a row by the record of the batch.
  if (step.kind === 'write' && name.endsWith('.csv')) return /\.rollcall/
  if (step.kind === 'remove' && name === 'intent.json') return /sheets/
  // The journal notes after the rows that they are written.
  if (step.kind === 'write' && name === 'journal.db-wal') return /sheets/
  return undefined
}

test('a power failure at any moment loses no answered signup, and no row that the journal counts as written', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  const traceFile = join(folder.path, 'trace')
  {
    await using service = await startService({ dataDir, under: straceTo(traceFile) })
    const wait = { prefer: 'wait=30' }
    // The first answer comes after the row is written, so the second signup begins with nothing left to do.
    expect((await postSignup(service.url, { email: 'ada@example.com' }, wait)).status).toBe(201)
    expect((await postSignup(service.url, { email: 'grace@example.com' })).status).toBe(202)
  }
  const steps = readDiskSteps(await readFile(traceFile, 'utf8'))
  const unsynced = new Unsynced(folder.path)
  for (const step of steps) {
    const needed = neededBefore(step)
    const missing = unsynced.list().filter((name) => needed?.test(name))
    expect(missing, JSON.stringify(step)).toEqual([])
    unsynced.take(step)
  }
  expect(steps.filter(({ kind }) => kind === 'answer')).toEqual([
    { kind: 'answer', status: 201 },
    { kind: 'answer', status: 202 },
  ])
  const kinds = new Set(steps.filter(neededBefore).map(({ kind }) => kind))
  expect(kinds).toEqual(new Set(['write', 'answer', 'remove']))
})

/** What a command does to files in `DATA_DIR`. */
async function stepsOf(args: readonly string[], dataDir: string): Promise<readonly DiskStep[]> {
  await using folder = await tempFolder()
  const traceFile = join(folder.path, 'trace')
  expect(await startCommand(args, { dataDir, under: straceTo(traceFile) }).ended).toMatchObject({
    code: 0,
  })
  return readDiskSteps(await readFile(traceFile, 'utf8'))
}

test('what backup and restore say is done survives a power failure', async () => {
  await using folder = await tempFolder()
  const [dataDir, copy] = [join(folder.path, 'data'), join(folder.path, 'copy')]
  await mkdir(copy)
  {
    await using service = await startService({ dataDir })
    await postSignup(service.url, { email: 'ada@example.com' }, { prefer: 'wait=30' })
  }
  const leftBy = async (args: readonly string[], watched: string) => {
    const unsynced = new Unsynced(watched)
    const steps = await stepsOf(args, dataDir)
    for (const step of steps) unsynced.take(step)
    expect(steps).toContainEqual({ kind: 'sync', path: watched })
    return unsynced.list()
  }
  expect(await leftBy(['backup', join(copy, 'backup.db')], copy)).toEqual([])
  const restore = ['restore', join(copy, 'backup.db'), '--replace']
  expect(await leftBy(restore, dataDir)).toEqual([])
})

test('what import says is done survives a power failure', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  const list = join(folder.path, 'list.csv')
  await writeFile(list, 'Email\nada@example.com\n')
  // The last process that closes the journal syncs it in any case, so another one has it open.
  await using _service = await startService({ dataDir })
  const path = join(dataDir, 'journal.db-wal')
  const kinds = (await stepsOf(['import', list], dataDir))
    .filter((step) => step.kind !== 'answer' && step.path === path)
    .map(({ kind }) => kind)
  expect(kinds).toContain('write')
  expect(kinds.at(-1)).toBe('sync')
})
