import { expect, test } from 'vitest'

import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { fillBatch, type FillOptions } from '../../src/delivery/fill.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Signup } from '../../src/signup/signup.ts'

/** How many signups of each tab the next batch would hold. */
async function countsOf(
  signups: readonly Signup[],
  limits: Partial<FillOptions> = {},
): Promise<Record<string, number>> {
  await using journal = openSqliteJournal(':memory:')
  await journal.intake.append(signups)
  const rowBytes = (_: unknown, textBytes: number) => textBytes
  const options = { rowsMax: 10_000, bytesMax: 10_000_000, rowBytes, ...limits }
  const { shares } = await fillBatch(journal.delivery, await journal.delivery.pending(), options)
  return Object.fromEntries(shares.map(({ tab, signups: held }) => [tab.name, held.length]))
}

const large = { metadata: `{"a":"${'x'.repeat(1000)}"}` }

test('a batch takes all signups that wait in a tab, however many reads that needs', async () => {
  expect(await countsOf(makeSignups(250, { sheetTab: 'A' }))).toEqual({ A: 250 })
})

test('a tab with a long backlog of large rows leaves the others their share of the bytes', async () => {
  const backlog = makeSignups(50, { sheetTab: 'A', ...large })
  const others = makeSignups(3, { sheetTab: 'B', ...large })
  expect(await countsOf([...backlog, ...others], { bytesMax: 12_000 })).toEqual({ A: 8, B: 3 })
})

test('a signup that is larger than a batch goes only when it is the oldest of all', async () => {
  const small = makeSignup({ sheetTab: 'A' })
  const tooLarge = makeSignup({ sheetTab: 'B', ...large })
  expect(await countsOf([small, tooLarge], { bytesMax: 500 })).toEqual({ A: 1 })
  expect(await countsOf([tooLarge, small], { bytesMax: 500 })).toEqual({ B: 1 })
})
