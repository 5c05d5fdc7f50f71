import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'

import { tempFolder } from '../../../harness/temp-folder.ts'
import { systemClock } from '../../platform/clock.ts'
import { JournalBusy } from '../contracts/errors.ts'
import type { Statement } from '../sql.ts'
import { factOf, getFact, setFact } from '../tables/facts.ts'
import { SqliteDatabase } from './database.ts'

async function openFile() {
  const folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const open = () => new SqliteDatabase(file, { access: 'own', clock: systemClock })
  return { file, open, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

test('nobody else commits between the reads and the writes of a transaction', async () => {
  await using world = await openFile()
  using one = world.open()
  using other = world.open()
  const add = (database: SqliteDatabase, name: string) => database.runStep(setFact(1, name, ''))
  const has = (database: SqliteDatabase, name: string) =>
    database.runNow(factOf(1, name)) !== undefined
  one.transaction(() => {
    expect(has(one, 'of the other')).toBe(false)
    expect(() => other.transaction(() => add(other, 'of the other'))).toThrow(JournalBusy)
    add(one, 'of one')
  })
  expect(has(other, 'of one')).toBe(true)
  expect(has(other, 'of the other')).toBe(false)
})

test('a read is answered while another process is in the middle of a write', async () => {
  await using world = await openFile()
  using database = world.open()
  using writer = new DatabaseSync(world.file)
  writer.exec('BEGIN EXCLUSIVE')
  expect(await database.query(getFact(1, 'any'))).toMatchObject([{ rows: [] }])
  writer.exec('ROLLBACK')
})

const howSynced: Statement = { name: 'how synced', text: () => 'PRAGMA synchronous' }
const [normal, full] = [1, 2]

test('an append waits for the disk within its commit, all else behind it', async () => {
  await using world = await openFile()
  using database = world.open()
  const synced = () => database.run(howSynced, []).rows[0]?.['synchronous']
  expect(database.transaction(synced)).toBe(full)
  expect(await database.write(synced)).toBe(normal)
  expect(database.transaction(synced), 'afterwards').toBe(full)
  const failing = () => {
    throw new Error('It failed.')
  }
  await expect(database.write(failing)).rejects.toThrow('It failed.')
  expect(database.transaction(synced), 'after a failure').toBe(full)
})

test('a write resolves when the log is on disk, if it is to be', async () => {
  await using world = await openFile()
  using database = world.open()
  const putOnDisk = vi.spyOn(database.log, 'putOnDisk')
  await database.write(() => undefined, { isSynced: false })
  expect(putOnDisk).not.toHaveBeenCalled()
  putOnDisk.mockRejectedValueOnce(new Error('The disk failed.'))
  await expect(database.write(() => undefined)).rejects.toThrow('The disk failed.')
})

test('the log is not emptied while another process writes', async () => {
  await using world = await openFile()
  using database = world.open()
  using writer = new DatabaseSync(world.file)
  writer.exec('BEGIN IMMEDIATE')
  expect(await database.log.empty()).toBe(false)
  writer.exec('ROLLBACK')
  expect(await database.log.empty()).toBe(true)
})

test('a database in memory has nothing to put on disk', async () => {
  using database = new SqliteDatabase(':memory:', { access: 'own', clock: systemClock })
  expect(await database.write(() => 'written')).toBe('written')
})

test('whether the journal may be written is asked while no other process can write', async () => {
  await using world = await openFile()
  const database = new SqliteDatabase(world.file, {
    access: 'own',
    clock: systemClock,
    assertWritable: () => {
      using other = new DatabaseSync(world.file)
      expect(() => other.exec('BEGIN IMMEDIATE')).toThrow('locked')
    },
  })
  using _ = database
  database.transaction(() => undefined)
})
