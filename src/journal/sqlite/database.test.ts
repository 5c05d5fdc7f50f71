import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { tempFolder } from '../../../harness/temp-folder.ts'
import { systemClock } from '../../platform/clock.ts'
import { JournalBusy } from '../contracts/unavailable.ts'
import { SqliteDatabase } from './database.ts'

async function openFile() {
  const folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const open = () =>
    new SqliteDatabase(file, { access: 'own', findsAddresses: false, clock: systemClock })
  return { file, open, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

test('a row that names a row which does not exist is refused', async () => {
  await using world = await openFile()
  using database = closing(world.open())
  const signup = [1, new Uint8Array(16), 999, 0, 'ada@example.com', '', '', '', '', '', 0]
  expect(() => database.run('addSignup', ...signup)).toThrow('FOREIGN KEY constraint failed')
})

test('nobody else commits between the reads and the writes of a transaction', async () => {
  await using world = await openFile()
  using one = closing(world.open())
  using other = closing(world.open())
  const add = (database: SqliteDatabase, token: string) => database.run('addUsedToken', token, 0)
  one.transaction(() => {
    expect(one.get('usedToken', 'of the other')).toBeUndefined()
    expect(() => other.transaction(() => add(other, 'of the other'))).toThrow(JournalBusy)
    add(one, 'of one')
  })
  expect(other.get('usedToken', 'of one')).toBeDefined()
  expect(other.get('usedToken', 'of the other')).toBeUndefined()
})

test('a read is answered while another process is in the middle of a write', async () => {
  await using world = await openFile()
  using database = closing(world.open())
  using writer = new DatabaseSync(world.file)
  writer.exec('BEGIN EXCLUSIVE')
  expect(database.read(() => database.get('lastPosition'))).toBeDefined()
  writer.exec('ROLLBACK')
})

function closing(database: SqliteDatabase): SqliteDatabase & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => database.close() })
}
