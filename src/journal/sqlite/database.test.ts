import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { tempFolder } from '../../../harness/temp-folder.ts'
import { systemClock } from '../../platform/clock.ts'
import { JournalBusy } from '../contracts/errors.ts'
import type { Statement } from '../sql.ts'
import { factOf, getFact, setFact } from '../tables/facts.ts'
import { SqliteDatabase } from './database.ts'

async function openFile() {
  const folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const open = () =>
    new SqliteDatabase(file, { access: 'own', clock: systemClock, findsAddresses: true })
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

test('a commit waits for the disk, unless it is put on disk later', async () => {
  await using world = await openFile()
  using database = world.open()
  const synced = () => database.run(howSynced, []).rows[0]?.['synchronous']
  expect(await database.write(synced)).toBe(full)
  expect(await database.write(synced, { isSynced: false })).toBe(normal)
  expect(await database.write(synced), 'afterwards').toBe(full)
  const failing = () => {
    throw new Error('It failed.')
  }
  await expect(database.write(failing, { isSynced: false })).rejects.toThrow('It failed.')
  expect(await database.write(synced), 'after a failure').toBe(full)
})

test('copies of what was erased are not dropped while another process writes', async () => {
  await using world = await openFile()
  using database = world.open()
  using writer = new DatabaseSync(world.file)
  writer.exec('BEGIN IMMEDIATE')
  expect(database.dropCopies()).toBe(false)
  writer.exec('ROLLBACK')
  expect(database.dropCopies()).toBe(true)
})

test('a database in memory has nothing to put on disk', () => {
  using database = new SqliteDatabase(':memory:', { access: 'own', clock: systemClock })
  expect(() => {
    database.putOnDisk()
  }).not.toThrow()
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
