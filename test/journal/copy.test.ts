import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { copyBackup, copyJournal } from '../../src/journal/sqlite/copy.ts'
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
  expect(database.prepare('PRAGMA journal_mode').get(), 'one file').toEqual({
    journal_mode: 'delete',
  })
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

const unstopped = new AbortController().signal

test('a copy of no journal is refused, and makes none', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await expect(copyJournal(file, join(folder.path, 'copy.db'), unstopped)).rejects.toThrow(
    /journal\.db cannot be opened: there is no such file/,
  )
  expect(await readdir(folder.path)).toEqual([])
})

test('a copy that cannot be written is refused with what to do', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await openSqliteJournal(file)[Symbol.asyncDispose]()
  const copy = join(folder.path, 'missing', 'copy.db')
  const failed: unknown = await copyJournal(file, copy, unstopped).catch((error: unknown) => error)
  expect(failed).toMatchObject({
    message: `${copy} cannot be written: unable to open database file. Check the disk, or give another folder.`,
    cause: expect.any(Error),
  })
})

/** A journal of many pages, one of which is overwritten. */
async function damagedJournal(folder: string): Promise<string> {
  const file = join(folder, 'journal.db')
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append(makeSignups(500, { metadata: `{"a":"${'x'.repeat(200)}"}` }))
  }
  await using handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(4096), 0, 4096, 10 * 4096)
  return file
}

test('a copy of a damaged journal is no backup', async () => {
  await using folder = await tempFolder()
  const copy = join(folder.path, 'copy.db')
  await expect(copyJournal(await damagedJournal(folder.path), copy, unstopped)).rejects.toThrow(
    /^The copy .*copy\.db is damaged \(.+\)\. Check the disk, and the journal with npm run -s rollcall -- doctor\.$/,
  )
})

test('a backup is restored with all that its log has, stays as it is, and takes the place of remains', async () => {
  await using folder = await tempFolder()
  const [file, backup] = [join(folder.path, 'journal.db'), join(folder.path, 'backup.db')]
  const made = join(folder.path, 'made.db')
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append(makeSignups(3))
    for (const end of ['', '-wal']) await copyFile(file + end, backup + end)
  }
  const bytes = () => Promise.all(['', '-wal'].map((end) => readFile(backup + end)))
  const before = await bytes()
  for (const end of ['', '-wal', '-shm']) await writeFile(made + end, 'of a restore that crashed')
  copyBackup(backup, made)
  expect(await bytes()).toEqual(before)
  expect(['-wal', '-shm'].filter((end) => existsSync(made + end))).toEqual([])
  using database = new DatabaseSync(made, { readOnly: true })
  expect(database.prepare('SELECT count(*) AS count FROM signup').get()).toEqual({ count: 3 })
})

const noBackup = 'it is no backup. Give a file that npm run -s rollcall -- backup has written'

test.each([
  {
    what: 'that is missing',
    make: async (folder: string) => join(folder, 'missing.db'),
    reason: 'there is no such file. Check the name',
  },
  {
    what: 'that is a folder',
    make: async (folder: string) => {
      await mkdir(join(folder, 'folder.db'))
      return join(folder, 'folder.db')
    },
    reason: 'it is not a file. Give a backup',
  },
  {
    what: 'that is a text',
    make: async (folder: string) => {
      await writeFile(join(folder, 'text.db'), 'Dear diary,\n'.repeat(1000))
      return join(folder, 'text.db')
    },
    reason: noBackup,
  },
  {
    what: 'that has no tables',
    make: async (folder: string) => {
      await writeFile(join(folder, 'empty.db'), '')
      return join(folder, 'empty.db')
    },
    reason: noBackup,
  },
  { what: 'that is damaged', make: damagedJournal, reason: 'it is damaged. Take another backup' },
])('a backup $what is refused with what to do, and leaves no copy', async ({ make, reason }) => {
  await using folder = await tempFolder()
  const [backup, made] = [await make(folder.path), join(folder.path, 'made.db')]
  let refused: unknown
  try {
    copyBackup(backup, made)
  } catch (error) {
    refused = error
  }
  expect(refused).toMatchObject({
    message: `${backup} cannot be restored: ${reason}.`,
    cause: expect.any(Error),
  })
  expect(existsSync(made)).toBe(false)
})
