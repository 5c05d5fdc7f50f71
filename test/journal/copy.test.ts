import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { copyJournal } from '../../src/journal/sqlite/copy.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'

test('a copy ends and is the journal of one moment, though others write all the time', async () => {
  await using folder = await tempFolder()
  const [file, copy] = [join(folder.path, 'journal.db'), join(folder.path, 'copy.db')]
  await using journal = openSqliteJournal(file)
  const before = 1_000
  await journal.intake.append(makeSignups(before, { metadata: `{"a":"${'x'.repeat(9_000)}"}` }))
  await writeFile(copy, '')
  let added = 0
  let isDone = false
  const write = async () => {
    while (!isDone) {
      await journal.intake.append(makeSignups(1))
      added += 1
    }
  }
  const writing = write()
  const count = await copyJournal(file, copy, new AbortController().signal).finally(() => {
    isDone = true
  })
  await writing
  expect(added, 'signups while it was copied').toBeGreaterThan(1)
  expect(count).toBeGreaterThanOrEqual(before)
  expect(count).toBeLessThan(before + added)
  using database = new DatabaseSync(copy, { readOnly: true })
  expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  expect(database.prepare('SELECT sum(accepted) AS sum FROM tab').get()).toEqual({ sum: count })
})

test('a copy that is stopped in the middle leaves an empty file, and the next one is whole', async () => {
  await using folder = await tempFolder()
  const [file, copy] = [join(folder.path, 'journal.db'), join(folder.path, 'copy.db')]
  await using journal = openSqliteJournal(file)
  await journal.intake.append(makeSignups(1_000, { metadata: `{"a":"${'x'.repeat(9_000)}"}` }))
  await writeFile(copy, '')
  const stopped = new Error('stopped')
  await expect(copyJournal(file, copy, AbortSignal.abort(stopped))).rejects.toBe(stopped)
  expect((await readdir(folder.path)).filter((name) => name.startsWith('copy'))).toEqual([
    'copy.db',
  ])
  expect((await stat(copy)).size).toBe(0)
  expect(await copyJournal(file, copy, new AbortController().signal)).toBe(1_000)
})
