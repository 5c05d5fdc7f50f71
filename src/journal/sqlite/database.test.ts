import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { tempFolder } from '../../../harness/temp-folder.ts'
import { systemClock } from '../../platform/clock.ts'
import { JournalBusy } from '../contracts/errors.ts'
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
