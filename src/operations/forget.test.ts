import { expect, test } from 'vitest'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { eraseAll, forget, type ForgetOptions } from './forget.ts'

const stop = new AbortController().signal

/** Forgets a person while no row can be removed. */
function forgetIn(journal: Journal, address: string, given: Partial<ForgetOptions> = {}) {
  return forget(address, {
    journals: new Map([['default', journal]]),
    home: { filesWith: async () => [], leftBehind: () => undefined },
    startRemoval: async () => ({
      reasonAt: async () => 'The disk is full',
      [Symbol.asyncDispose]: async () => undefined,
    }),
    reachable: new Set(['default']),
    clock: new ManualClock(),
    stop,
    waitMs: 0,
    searched: () => undefined,
    ...given,
  })
}

async function deliver({ delivery }: Journal): Promise<void> {
  const batch = await freezeNext(delivery, { rowsMax: 1_000 })
  await delivery.settle(batch?.number ?? 0, 0)
}

test('the row of a person waits behind those of a hundred others, and counts alone', async () => {
  await using journal = openSqliteJournal(':memory:')
  const others = makeSignups(100)
  await journal.intake.append([...others, makeSignup({ email: 'Ada@example.com' })])
  await deliver(journal)
  for (const { email } of others)
    await eraseAll(journal.erasure, email, { stop, searched: () => undefined })
  const report = await forgetIn(journal, 'ada@example.com')
  expect(report).toMatchObject({ done: false, reason: 'The disk is full', rows: { waiting: 1 } })
})

test('the signup of another forgotten person in a batch is not told as one of this person', async () => {
  await using journal = openSqliteJournal(':memory:')
  await journal.intake.append([makeSignup({ email: 'bob@example.com' })])
  await freezeNext(journal.delivery)
  await eraseAll(journal.erasure, 'bob@example.com', { stop, searched: () => undefined })
  await journal.intake.append([makeSignup()])
  const report = await forgetIn(journal, 'ada@example.com')
  expect(report).toMatchObject({
    done: true,
    signups: { erased: 1, unwritten: 1, inBatch: 0 },
    rows: { waiting: 0 },
  })
})

test('rows of a site without a spreadsheet are not waited for, and the site is told', async () => {
  await using journal = openSqliteJournal(':memory:')
  await journal.intake.append([makeSignup({ email: 'ada@example.com' })])
  await deliver(journal)
  const startRemoval = () => expect.fail('No row can be removed.')
  const given = { reachable: new Set<string>(), startRemoval }
  expect(await forgetIn(journal, 'ada@example.com', given)).toMatchObject({
    done: false,
    rows: { waiting: 1 },
    reason: null,
    absentSites: ['default'],
  })
})
