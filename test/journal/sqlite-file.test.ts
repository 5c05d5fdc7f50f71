import {
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalBusy, JournalUnavailable } from '../../src/journal/contracts/errors.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'

const pageBytes = 4096

/** Makes a journal of many pages in this file, and closes it. */
async function makeJournal(file: string): Promise<void> {
  await using journal = openSqliteJournal(file)
  await journal.intake.append(makeSignups(500, { metadata: `{"a":"${'x'.repeat(200)}"}` }))
}

/** Overwrites a page of a file in its middle. */
async function overwritePage(file: string, byte: number): Promise<void> {
  await makeJournal(file)
  await using handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(pageBytes, byte), 0, pageBytes, 10 * pageBytes)
}

const restore = /Restore journal\.db and its -wal file from one backup\..*\.recover/

test.each([
  {
    what: 'with a page of rubbish',
    damage: (file: string) => overwritePage(file, 0xa7),
    says: restore,
  },
  { what: 'with a page of zeros', damage: (file: string) => overwritePage(file, 0), says: restore },
  {
    what: 'that is cut',
    damage: async (file: string) => {
      await makeJournal(file)
      await truncate(file, 10.5 * pageBytes)
    },
    says: restore,
  },
  {
    what: 'that is a text',
    damage: (file: string) => writeFile(file, 'Dear diary,\n'.repeat(1000)),
    says: restore,
  },
  {
    what: 'that is a folder',
    damage: (file: string) => mkdir(file),
    says: /a folder stands where a file should be/,
  },
])('a journal $what is refused with what to do', async ({ damage, says }) => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await damage(file)
  let refused
  try {
    openSqliteJournal(file)
  } catch (error) {
    refused = error as Error
  }
  expect(refused?.message).toMatch(/^The journal .*journal\.db cannot be opened: [^\n]+$/)
  expect(refused?.message).toMatch(says)
  expect(refused?.cause).toBeInstanceOf(Error)
})

test('a damaged journal is refused with the finding', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await overwritePage(file, 0)
  expect(() => openSqliteJournal(file)).toThrow(
    /it is damaged \((Tree|On tree|Freelist|Page|btree)[^\n*]*\)\. Restore/,
  )
})

test('a journal of which only the log is left is refused, and the log stays', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const log = join(folder.path, 'left.db-wal')
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append(makeSignups(3))
    await copyFile(`${file}-wal`, log)
  }
  for (const whatIsLeft of ['an empty file', 'no file']) {
    const left = join(folder.path, 'left.db')
    await rm(left, { force: true })
    if (whatIsLeft === 'an empty file') await writeFile(left, '')
    expect(() => openSqliteJournal(left), whatIsLeft).toThrow(
      /only its -wal file is left\. Restore journal\.db/,
    )
    expect((await stat(log)).size).toBeGreaterThan(0)
  }
})

/** Calls that write and calls that read, each to be made while the journal is in trouble. */
const writes: Readonly<Record<string, (journal: Journal) => Promise<unknown>>> = {
  append: ({ intake }) => intake.append([makeSignup()]),
  probe: ({ reader }) => reader.probe(),
  noteFact: ({ delivery }) => delivery.noteFact('colour', 'blue'),
}
const reads: Readonly<Record<string, (journal: Journal) => Promise<unknown>>> = {
  find: ({ intake }) => intake.find(makeSignup().id),
  backlog: ({ reader }) => reader.backlog(),
  page: ({ reader }) => reader.page(0, 10),
  pending: ({ delivery }) => delivery.pending(),
  endedMarkers: ({ delivery }) => delivery.endedMarkers(),
}

test.each(Object.entries({ ...writes, ...reads }))(
  '%s rejects with the reason while the tables cannot be used, and succeeds later',
  async (_, call) => {
    await using folder = await tempFolder()
    const file = join(folder.path, 'journal.db')
    await using journal = openSqliteJournal(file)
    using other = new DatabaseSync(file)
    const tables = ['signup', 'fact', 'tab', 'marker']
    for (const name of tables) other.exec(`ALTER TABLE ${name} RENAME TO away_${name}`)
    const failed: unknown = await call(journal).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(JournalUnavailable)
    expect(failed).not.toBeInstanceOf(JournalBusy)
    expect(failed).toMatchObject({
      name: 'JournalUnavailable',
      message: expect.stringMatching(/^The journal cannot be used: no such table: [^\n]+\.$/),
      cause: expect.any(Error),
    })
    for (const name of tables) other.exec(`ALTER TABLE away_${name} RENAME TO ${name}`)
    await call(journal)
  },
)

test.each(Object.entries(writes))(
  '%s waits for another writer for five seconds, and not longer',
  async (_, call) => {
    await using folder = await tempFolder()
    const file = join(folder.path, 'journal.db')
    let now = 0
    let endsAt = Infinity
    const sleep = async () => {
      now += 500
      if (now === endsAt) other.exec('ROLLBACK')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await using journal = openSqliteJournal(file, {}, { clock: { elapsed: () => now, sleep } })
    using other = new DatabaseSync(file)

    other.exec('BEGIN IMMEDIATE')
    const failed: unknown = await call(journal).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(JournalBusy)
    expect(failed).toMatchObject({ name: 'JournalBusy' })
    expect(now).toBe(5000)

    endsAt = now + 4500
    await call(journal)
    expect(now).toBe(endsAt)
  },
)

const [a, b, z] = [makeSignup(), makeSignup(), makeSignup()]

test.each([
  {
    what: 'the first signup',
    contents: [
      [a, z],
      [b, z],
    ],
  },
  {
    what: 'the last signup',
    contents: [
      [a, b],
      [a, z],
    ],
  },
  {
    what: 'the number of signups',
    contents: [
      [a, z],
      [a, b, z],
    ],
  },
  { what: 'the tab', contents: [[a], [{ ...a, sheetTab: 'Another' }]] },
])(
  'after a backup was restored, a batch that differs in $what has another fingerprint',
  async ({ contents }) => {
    await using folder = await tempFolder()
    const backup = join(folder.path, 'backup.db')
    await openSqliteJournal(backup)[Symbol.asyncDispose]()
    const batches: (FrozenBatch | undefined)[] = []
    for (const [index, signups] of contents.entries()) {
      const file = join(folder.path, `${index}.db`)
      await copyFile(backup, file)
      await using journal = openSqliteJournal(file)
      await journal.intake.append(signups)
      batches.push(await freezeNext(journal.delivery))
    }
    const [one, other] = batches
    expect([one?.number, one?.marker]).toEqual([other?.number, other?.marker])
    expect(one?.fingerprint).not.toBe(other?.fingerprint)
  },
)

test('no index has plain addresses, of which it would keep bytes, whatever asks for people', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const policy = { duplicates: 'ignore', welcomes: true, hasAdminPage: true } as const
  await openSqliteJournal(file, policy)[Symbol.asyncDispose]()
  using database = new DatabaseSync(file, { readOnly: true })
  const indexes = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index'").all()
  const indexed = indexes.map(({ sql }) => String(sql).split(' WHERE ')[0] ?? '')
  expect(indexed.length).toBeGreaterThan(10)
  expect(indexed.filter((columns) => columns.includes('email'))).toEqual([])
})

test('a signup is in the write-ahead log when its answer comes, and in the file itself when the journal is closed', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append([makeSignup({ email: 'durable@example.com' })])
    expect(await readFile(`${file}-wal`, 'latin1')).toContain('durable@example.com')
  }
  expect(await readdir(folder.path)).toEqual(['journal.db', 'journal.secret'])
  expect(await readFile(file, 'latin1')).toContain('durable@example.com')
})
