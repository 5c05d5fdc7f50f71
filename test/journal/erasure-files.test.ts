import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeFullSignup, makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { addressHash } from '../../src/journal/hashes.ts'
import { link } from './contracts/confirmation-contract.ts'
import { ada, deliver, forget } from './contracts/erasure-contract.ts'
import { ask, confirming, noon } from './contracts/outbox-contract.ts'

/** The files in a folder that have the address in some letter case. */
async function filesWith(folder: string, address: string): Promise<string[]> {
  const names = await readdir(folder)
  const found = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'latin1')
      return text.toLowerCase().includes(address.toLowerCase())
    }),
  )
  return names.filter((_, at) => found[at])
}

test('no byte of a forgotten address is left in the files, beside a process that has them open', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const address = 'Ada.Lovelace@example.com'
  const idempotency = { space: '', key: address, fingerprint: 'content' }
  // Cells that need pages of their own.
  const metadata = JSON.stringify({ note: `${address} `.repeat(300) })
  const cells = { email: address, metadata, fields: { contact: address } }
  const others = () => Array.from({ length: 300 }, () => makeFullSignup())
  {
    // People are kept from the next start on.
    await using before = openSqliteJournal(file)
    await before.intake.append(others())
    await before.intake.append([makeFullSignup(cells)], { idempotency })
  }
  await using service = openSqliteJournal(file, { duplicates: 'ignore' })
  await using command = openSqliteJournal(file, {}, { access: 'beside' })
  await deliver(service)
  await deliver(service)
  await deliver(service)
  await deliver(service)
  await service.intake.append([...others(), makeFullSignup(cells)])
  expect(await filesWith(folder.path, address)).toContain('journal.db-wal')
  expect(await forget(command, address)).toMatchObject({ written: [301], unwritten: 1 })
  for (const { position } of await command.erasure.removals(0)) {
    await service.erasure.removed([position])
  }
  expect(await service.erasure.scrub()).toBe(true)
  expect(await filesWith(folder.path, address)).toEqual([])
  expect(await service.intake.recall(idempotency), 'the key lives out its day').toMatchObject({
    kind: 'replayed',
  })
})

test('no mail keeps an address once it was sent, but a welcome, until its person has left', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using journal = openSqliteJournal(file, { ...confirming, welcomes: true })
  using reader = new DatabaseSync(file, { readOnly: true })
  const kept = () => reader.prepare("SELECT kind FROM message WHERE email <> ''").all()
  await ask(journal)
  const asked = await link(journal)
  expect(kept()).toEqual([])
  await journal.confirmation.confirm(asked, noon)
  const welcome = await link(journal)
  expect(kept()).toEqual([{ kind: 'welcome' }])
  await journal.confirmation.leave(welcome, noon)
  expect(kept()).toEqual([])
})

test('the log is not called empty while another process reads what it has', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using journal = openSqliteJournal(file)
  await journal.intake.append([makeFullSignup({ email: ada })])
  using reader = new DatabaseSync(file, { readOnly: true })
  reader.exec('BEGIN; SELECT * FROM signup')
  await forget(journal)
  expect(await journal.erasure.scrub()).toBe(false)
  expect(await filesWith(folder.path, ada)).toContain('journal.db-wal')
  reader.exec('COMMIT')
  expect(await journal.erasure.scrub()).toBe(true)
  expect(await filesWith(folder.path, ada)).toEqual([])
})

test('the secret is in a file of its own, stays the same, and is made anew when it is missing', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const path = join(folder.path, 'journal.secret')
  const hashOf = async () => {
    await using journal = openSqliteJournal(file)
    await journal.erasure.forget(ada)
    return (await journal.erasure.tombstones()).map(({ hash }) => hash)
  }
  const first = await hashOf()
  const secret = await readFile(path, 'utf8')
  expect(await hashOf()).toEqual(first)
  expect(await readFile(path, 'utf8')).toBe(secret)
  expect(await filesWith(folder.path, secret.trim())).toEqual(['journal.secret'])
  await rm(path)
  expect(await hashOf()).toHaveLength(2)
  await writeFile(path, 'scribble')
  expect(() => openSqliteJournal(file)).toThrow(/its secret.*is damaged/)
})

test('without the secret, people are known anew by their cells, and who had none is not', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const append = async (...emails: string[]) => {
    await using journal = openSqliteJournal(file, { duplicates: 'ignore' })
    const appended = await journal.intake.append(emails.map((email) => makeFullSignup({ email })))
    if (emails.length === 1) {
      await deliver(journal)
      while (await journal.retention.expire(Infinity));
    }
    return appended.kind === 'appended' && appended.duplicates
  }
  await append('expired@example.com')
  await append(ada, 'other@example.com')
  await rm(join(folder.path, 'journal.secret'))
  expect(await append(ada, 'expired@example.com')).toBe(1)
  expect(await append('expired@example.com', 'new@example.com')).toBe(1)
})

test('what was released before the secret was lost is known anew, too', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  {
    await using journal = openSqliteJournal(file, { holdsSuspects: true })
    await journal.intake.append([makeFullSignup({ email: ada, suspect: ['links'] })])
    await journal.quarantine.release([1], 1)
  }
  await rm(join(folder.path, 'journal.secret'))
  await using journal = openSqliteJournal(file, { duplicates: 'ignore' })
  expect(await journal.intake.append([makeFullSignup({ email: ada })])).toMatchObject({
    duplicates: 1,
  })
})

test('a fill of people that was stopped goes on where it stopped', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  const emails = Array.from({ length: 1_500 }, (_, n) => `a${n}@example.com`)
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append(emails.map((email) => makeFullSignup({ email })))
  }
  const known = () => {
    using database = new DatabaseSync(file, { readOnly: true })
    return database.prepare('SELECT count(person) AS count FROM signup').get()?.['count']
  }
  let left = 2
  const assertWritable = () => {
    if (left-- === 0) throw new Error('It was stopped.')
  }
  const open = () => openSqliteJournal(file, { hasAdminPage: true }, { assertWritable })
  expect(open).toThrow('It was stopped.')
  expect(known()).toBe(1_000)
  await using journal = open()
  expect(known()).toBe(1_500)
  expect(await journal.reader.positionsOf('A1400@example.com', 0)).toMatchObject({
    positions: [1_401],
  })
})

test('who leaves has a tombstone, though a kill came when nothing told the address any more', async () => {
  await using folder = await tempFolder()
  let left = Infinity
  const assertWritable = () => {
    if (left-- === 0) throw new Error('It was stopped.')
  }
  const file = join(folder.path, 'journal.db')
  await using journal = openSqliteJournal(file, { welcomes: true }, { assertWritable })
  const signup = makeFullSignup({ email: ada })
  const [now, greeting] = [signup.receivedAt, { share: 'share', language: 'en' }]
  await journal.intake.append([signup], { greeting })
  const { messages } = await journal.outbox.claim({ kinds: ['welcome'], by: 'me', now, max: 1 })
  const { number, id } = messages[0] ?? expect.fail()
  await journal.outbox.settle(number, { kind: 'sent', at: now })
  // The mail loses its address.
  await journal.retention.expire(now + 1)
  left = 1
  await expect(journal.confirmation.leave(id, now)).rejects.toThrow('It was stopped.')
  expect(await journal.reader.page(0, 9)).toEqual([])
  left = Infinity
  await journal.confirmation.leave(id, now)
  expect(await journal.erasure.tombstones()).toHaveLength(1)
})

test('a journal in memory makes no file', async () => {
  await using journal = openSqliteJournal(':memory:')
  await journal.erasure.forget(ada)
  expect(existsSync('journal.secret')).toBe(false)
})

test('a frozen signup leaves no byte once its batch was given up', async () => {
  await using folder = await tempFolder()
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'))
  await journal.intake.append([makeFullSignup({ email: ada })])
  const batch = await freezeNext(journal.delivery)
  await forget(journal)
  // Something is erased, so that the log is emptied.
  const bob = 'bob@example.com'
  await journal.intake.append([makeFullSignup({ email: bob })])
  await forget(journal, bob)
  expect(await journal.erasure.scrub()).toBe(true)
  expect(await filesWith(folder.path, ada)).toEqual(['journal.db'])
  await journal.delivery.release(batch ?? expect.fail())
  expect(await journal.erasure.scrub()).toBe(true)
  expect(await filesWith(folder.path, ada)).toEqual([])
})

test('the index of addresses keeps none of hundreds that were forgotten', async () => {
  await using folder = await tempFolder()
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'), { duplicates: 'ignore' })
  const secret = (await readFile(join(folder.path, 'journal.secret'), 'utf8')).trim()
  // With so many of this length, in another order than that of the index, SQLite leaves copies of dozens.
  const people = makeSignups(300).map((signup, index) => ({
    ...signup,
    email: `${(index * 7919) % 300}.${'x'.repeat(20)}@example.com`,
  }))
  await journal.intake.append(people)
  const forgotten = people.filter((_, index) => index % 10 > 0)
  await journal.erasure.adopt(
    forgotten.map(({ email }) => ({ hash: addressHash(secret, email), upto: 300 })),
  )
  let next: number | undefined = 0
  while (next !== undefined) next = (await journal.erasure.eraseNext(next)).next
  expect(await journal.erasure.scrub()).toBe(true)
  const file = await readFile(join(folder.path, 'journal.db'), 'latin1')
  expect(forgotten.filter(({ email }) => file.includes(email))).toEqual([])
})

test('no byte of an address is left when its row is removed after the log was emptied', async () => {
  await using folder = await tempFolder()
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'))
  await journal.intake.append([makeFullSignup({ email: ada })])
  await deliver(journal)
  await forget(journal)
  expect(await journal.erasure.scrub()).toBe(true)
  for (const { position } of await journal.erasure.removals(0)) {
    await journal.erasure.removed([position])
  }
  expect(await journal.erasure.scrub()).toBe(true)
  expect(await filesWith(folder.path, ada)).toEqual([])
})
