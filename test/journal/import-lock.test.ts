import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'

/** Runs `work` and returns the statements that ran while the write lock was held. */
async function whileLocked(work: () => Promise<unknown>): Promise<readonly string[]> {
  const statements: string[] = []
  let isLocked = false
  const note = (message: unknown) => {
    const { sql } = message as { readonly sql: string }
    if (sql === 'COMMIT' || sql === 'ROLLBACK') isLocked = false
    if (isLocked) statements.push(sql)
    if (sql === 'BEGIN IMMEDIATE') isLocked = true
  }
  subscribe('sqlite.db.query', note)
  try {
    await work()
  } finally {
    unsubscribe('sqlite.db.query', note)
  }
  return statements
}

test('an import reads what others added meanwhile before it takes the write lock', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using service = openSqliteJournal(file)
  await using journal = openSqliteJournal(file)
  await journal.imports.add(makeSignups(1, { email: 'first@example.com' }))
  await service.intake.append(makeSignups(5_000))
  const added = makeSignups(1, { email: 'last@example.com' })
  const statements = await whileLocked(() => journal.imports.add(added))
  expect(statements.filter((sql) => /INSERT INTO signup\b/.test(sql))).toHaveLength(1)
  // Behind this position, it reads with the lock.
  const positions = statements.map((sql) => /FROM signup\s+WHERE position > (\S+)/.exec(sql)?.[1])
  expect(positions.filter(Boolean).map(Number).at(-1)).toBe(5_001)
  expect(await journal.imports.add(makeSignups(5_000))).not.toContain('added')
})
