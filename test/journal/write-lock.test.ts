import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeSignups } from '../../harness/make-signup.ts'
import { day, hour } from '../../src/platform/clock.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'

/** Runs `work` and returns its statements: all of them, and those that ran while the write lock was held. */
async function statementsOf(work: () => Promise<unknown>) {
  const all: string[] = []
  const locked: string[] = []
  let isLocked = false
  const note = (message: unknown) => {
    const { sql } = message as { readonly sql: string }
    all.push(sql)
    if (sql === 'COMMIT' || sql === 'ROLLBACK') isLocked = false
    if (isLocked) locked.push(sql)
    if (sql === 'BEGIN IMMEDIATE') isLocked = true
  }
  subscribe('sqlite.db.query', note)
  try {
    await work()
  } finally {
    unsubscribe('sqlite.db.query', note)
  }
  return { all, locked }
}

test('an import reads what others added meanwhile before it takes the write lock', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using service = openSqliteJournal(file)
  await using journal = openSqliteJournal(file)
  await journal.imports.add(makeSignups(1, { email: 'first@example.com' }))
  await service.intake.append(makeSignups(5_000))
  const added = makeSignups(1, { email: 'last@example.com' })
  const { all, locked } = await statementsOf(() => journal.imports.add(added))
  expect(locked.filter((sql) => /INSERT INTO signup\b/.test(sql))).toHaveLength(1)
  // Behind this position, it reads with the lock.
  const positions = locked.map((sql) => /FROM signup\s+WHERE position > (\S+)/.exec(sql)?.[1])
  expect(positions.filter(Boolean).map(Number).at(-1)).toBe(5_001)
  // Each part is short, so that nothing else in the process waits for long.
  const parts = all.flatMap(
    (sql) => /position > (\S+) AND position <= (\S+) AND tab/.exec(sql) ?? [],
  )
  expect(parts.map(Number).filter(Boolean)).toEqual([
    1, 1_001, 1_001, 2_001, 2_001, 3_001, 3_001, 4_001, 4_001, 5_001,
  ])
  expect(await journal.imports.add(makeSignups(5_000))).not.toContain('added')
})

test('mails for many pending signups are made fifty at a time, so that no lock is held for long', async () => {
  await using folder = await tempFolder()
  const confirming = { confirmation: { waitMs: 7 * day } }
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'), confirming)
  const [now, addressing] = [Date.now(), { share: '', language: 'en' }]
  await journal.intake.ask(makeSignups(120, { receivedAt: now }), { addressing })
  const { all } = await statementsOf(() =>
    journal.outbox.claim({ kinds: ['confirm'], by: 'me', now, max: 1 }),
  )
  const slices = all.filter((sql) => sql.includes('INSERT INTO message'))
  expect(slices).toHaveLength(3)
})

test('background work that finds nothing to do does not take the write lock', async () => {
  const confirming = { confirmation: { waitMs: 7 * day } }
  await using folder = await tempFolder()
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'), confirming)
  const now = Date.now()
  const addressing = { share: '', language: 'en' }
  await journal.intake.ask(makeSignups(3, { receivedAt: now }), { addressing })
  const order = {
    kinds: ['confirm', 'welcome', 'report'],
    by: 'me',
    now,
    max: 9,
    perHour: 1,
  } as const
  expect((await journal.outbox.claim(order)).messages).toHaveLength(1)
  const { messages, pacedUntil } = await journal.outbox.claim(order)
  expect([messages, pacedUntil]).toEqual([[], now + hour + 1])
  const { all } = await statementsOf(async () => {
    expect(await journal.confirmation.sweep(now)).toBe(false)
    expect(await journal.retention.expire(now)).toBe(false)
    expect(await journal.outbox.claim({ ...order, pacedUntil })).toMatchObject({
      messages: [],
      pacedUntil,
    })
  })
  expect(all).not.toContain('BEGIN IMMEDIATE')
  // What goes to the owner does not wait, and others go when their time has come.
  await journal.outbox.add({ id: 'report', kind: 'report', body: '{}', at: now })
  const [report] = (await journal.outbox.claim({ ...order, pacedUntil })).messages
  expect(report?.kind).toBe('report')
  const later = { ...order, now: now + hour + 1, pacedUntil }
  expect((await journal.outbox.claim(later)).messages).toHaveLength(1)
})
