import { mkdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'

import { tempFolder } from '../../../harness/temp-folder.ts'
import { filesWith } from '../../platform/node/files-with.ts'
import { systemClock } from '../../platform/clock.ts'
import { OutcomeUnknown } from '../contracts/errors.ts'
import { logProgram, WriteAheadLog } from './write-ahead-log.ts'

const pageBytes = 4_096

/** A database with a log. `commit` adds so many pages to it. */
async function openLog(program: URL | undefined) {
  const folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const db = new DatabaseSync(file, { timeout: 5_000 })
  db.exec('PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; CREATE TABLE t (x BLOB)')
  const log = new WriteAheadLog(db, systemClock)
  if (program) log.useThread(program)
  const state = () => {
    using other = new DatabaseSync(file)
    return other.prepare('PRAGMA wal_checkpoint(NOOP)').get() ?? {}
  }
  return {
    ...{ folder, file, db, log },
    commit(pages: number) {
      db.prepare('INSERT INTO t VALUES (zeroblob(?))').run(pages * pageBytes)
      log.committed()
    },
    /** How many pages of the log are in the database. */
    written: () => Number(state()['checkpointed']),
    length: () => Number(state()['log']),
    waiting: () => Number(state()['log']) - Number(state()['checkpointed']),
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]()
      db.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** A thread that answers and writes nothing. */
const idle = new URL(
  'data:text/javascript,import { parentPort as to } from "node:worker_threads"; to.on("message", () => to.postMessage(0))',
)
/** A thread that fails at once. */
const failing = new URL('data:text/javascript,throw new Error("It failed.")')
/** No thread can start with it. */
const unknown = new URL('https://example.com/')

test('a commit leaves a long log to the thread', async () => {
  await using it = await openLog(idle)
  for (let commits = 0; commits < 30; commits++) it.commit(100)
  expect(it.written()).toBe(0)
})

test('the thread writes a long log into the database', async () => {
  await using it = await openLog(logProgram)
  it.commit(1_100)
  await vi.waitFor(() => expect(it.waiting()).toBe(0), { timeout: 20_000 })
})

test('without the thread, a commit writes a long log', async () => {
  await using it = await openLog(undefined)
  it.commit(1_100)
  expect(it.written()).toBeGreaterThan(1_000)
})

test('a long log begins anew while commits go on, and none of them writes it', async () => {
  await using it = await openLog(logProgram)
  it.commit(8_100)
  // All of these are fewer pages than those that let a commit write the log.
  for (let commits = 0; commits < 3_000 && it.length() > 8_000; commits++) {
    it.commit(1)
    // The thread gets its turn on a busy machine, too.
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  expect(it.length()).toBeLessThan(8_000)
})

test.each([
  ['has failed', failing],
  ['cannot start', unknown],
])('commits write the log when its thread %s', async (_, program) => {
  await using it = await openLog(program)
  it.commit(1_100)
  await vi.waitFor(
    async () => {
      it.commit(1)
      await new Promise((resolve) => setImmediate(resolve))
      expect(it.written()).toBeGreaterThan(1_000)
    },
    { timeout: 20_000 },
  )
})

test('a long log is empty when what it had is erased', async () => {
  await using it = await openLog(logProgram)
  const address = 'ada@example.com'
  it.db.prepare('INSERT INTO t VALUES (?)').run(address)
  it.commit(500)
  it.db.exec('DELETE FROM t')
  expect(await filesWith(it.folder.path, address)).toContain('journal.db-wal')
  await it.log.write()
  expect(it.waiting()).toBe(0)
  expect(await it.log.empty()).toBe(true)
  expect(await filesWith(it.folder.path, address)).toEqual([])
})

test('when the log cannot be opened, what was committed is put into the database', async () => {
  await using it = await openLog(undefined)
  it.commit(10)
  // As when the process may open no more files.
  await rename(`${it.file}-wal`, join(it.folder.path, 'moved'))
  await mkdir(`${it.file}-wal`)
  await it.log.putOnDisk()
  await rmdir(`${it.file}-wal`)
  await rename(join(it.folder.path, 'moved'), `${it.file}-wal`)
  expect(it.written()).toBeGreaterThan(9)
})

test('nobody is told that a commit is on disk when the disk does not take it', async () => {
  await using it = await openLog(undefined)
  it.commit(1)
  const path = `${it.file}-wal`
  await rename(path, join(it.folder.path, 'moved'))
  await mkdir(path)
  vi.spyOn(it.db, 'exec').mockImplementationOnce(() => {
    throw new Error('disk I/O error')
  })
  await expect(it.log.putOnDisk()).rejects.toThrow(OutcomeUnknown)
  await rmdir(path)
  await rename(join(it.folder.path, 'moved'), path)
})

/** How many threads of JavaScript this process has beside this one. */
function threads(): number {
  const { workers } = process.report.getReport() as unknown as { readonly workers: unknown[] }
  return workers.length
}

test('the thread starts with the first long log, and ends with the log', async () => {
  const before = threads()
  {
    await using it = await openLog(logProgram)
    it.commit(1)
    await it.log.write()
    expect(threads(), 'with a short log').toBe(before)
    it.commit(200)
    await it.log.write()
    expect(threads()).toBe(before + 1)
  }
  expect(threads(), 'afterwards').toBe(before)
})
