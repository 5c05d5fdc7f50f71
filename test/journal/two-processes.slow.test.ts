// @module-tag slow
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

import { makeSignup } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { callLedgerTests } from './contracts/call-ledger-contract.ts'
import { holdTo, type JournalWorld } from './contracts/contract.ts'
import { contracts } from './contracts/contracts.ts'
import { OtherProcess } from './other-process.ts'
import { withTwoInstances } from './several-instances.ts'

const other = new OtherProcess()
afterAll(() => other[Symbol.asyncDispose]())

/** Every second journal of a world is open in the other process. */
async function createWorld(): Promise<JournalWorld> {
  const folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  let opened = 0
  return {
    open: async (policy) =>
      (opened += 1) % 2 === 0 ? other.open(file, policy) : openSqliteJournal(file, policy),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`SQLite, opened by two processes, ${name}`, tests, createWorld)
  holdTo(`SQLite, each call by another process, ${name}`, tests, withTwoInstances(createWorld))
}
holdTo('SQLite, two processes, call ledger: the calls of one account', callLedgerTests, createWorld)

test('a signup is kept when the process that appended it is killed', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using here = openSqliteJournal(file)
  const signup = makeSignup()
  {
    await using killed = new OtherProcess()
    const there = await killed.open(file)
    await there.intake.append([signup])
  }
  expect(await here.intake.find(signup.id)).toMatchObject({ id: signup.id, position: 1 })
})
