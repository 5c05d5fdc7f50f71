import fc from 'fast-check'
import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { fillBatch, type FillOptions } from '../../src/delivery/fill.ts'
import type { PendingTab } from '../../src/journal/contracts/delivery-log.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
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

test('a batch is filled to its last byte and its last row', async () => {
  const signups = makeSignups(5, { sheetTab: 'A' })
  const rowBytes = () => 100
  expect(await countsOf(signups, { bytesMax: 300, rowBytes })).toEqual({ A: 3 })
  expect(await countsOf(signups, { rowsMax: 3, rowBytes })).toEqual({ A: 3 })
})

test('a signup that is larger than a batch goes only when it is the oldest of all', async () => {
  const small = makeSignup({ sheetTab: 'A' })
  const tooLarge = makeSignup({ sheetTab: 'B', ...large })
  expect(await countsOf([small, tooLarge], { bytesMax: 500 })).toEqual({ A: 1 })
  expect(await countsOf([tooLarge, small], { bytesMax: 500 })).toEqual({ B: 1 })
})

test('with room for fewer rows than tabs, the oldest signup goes, and what is left goes to the last tab', async () => {
  const signups = ['A', 'B', 'C'].flatMap((sheetTab) => makeSignups(9, { sheetTab }))
  const rowBytes = () => 1
  expect(await countsOf(signups, { rowsMax: 2, rowBytes })).toEqual({ A: 1, C: 1 })
  expect(await countsOf(signups, { rowsMax: 7, rowBytes })).toEqual({ A: 2, B: 2, C: 3 })
})

test('each of many tabs with few signups is read once, for one more row than its share', async () => {
  await using journal = openSqliteJournal(':memory:')
  const tabs = Array.from({ length: 20 }, (_, at) => `T${at}`)
  await journal.intake.append(tabs.flatMap((sheetTab) => makeSignups(3, { sheetTab })))
  const asked: unknown[] = []
  const log = changed(journal.delivery, {
    waiting: (tab, after, count) => {
      asked.push(count)
      return journal.delivery.waiting(tab, after, count)
    },
  })
  const options = { rowsMax: 100, bytesMax: 10_000_000, rowBytes: () => 1 }
  const { shares } = await fillBatch(log, await journal.delivery.pending(), options)
  expect(shares.map(({ signups }) => signups.length)).toEqual(tabs.map(() => 3))
  expect(asked).toHaveLength(20)
  // A share of five rows, and one more to tell whether there are more.
  expect(asked[0]).toBe(6)
})

/** The sizes in bytes of the signups that wait in each tab, of which the first one has waited longest. */
const backlogs = fc.array(
  fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 8 }),
  {
    maxLength: 5,
  },
)

test('a batch keeps to its limits, leaves no tab without its share, and is full when more wait than fit', async () => {
  await fc.assert(
    fc.asyncProperty(
      backlogs,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 4 }),
      async (tabs, rowsMax, bytesMax, sliceMax) => {
        const pending = tabs.map((_, id): PendingTab => ({
          id,
          name: `${id}`,
          writtenTo: 0,
          isAgain: false,
        }))
        const waiting = async ({ id }: PendingTab, after = 0, wanted = sliceMax) => {
          const rest = (tabs[id] ?? []).map((textBytes, index) => ({
            position: index + 1,
            signup: makeSignup(),
            textBytes,
            hasNoRow: false,
            isHeld: false,
          }))
          const max = Math.min(wanted, sliceMax)
          const signups = rest.slice(after, after + max)
          return { signups, hasMore: signups.length === max }
        }
        const rowBytes = (_: unknown, textBytes: number) => textBytes
        const options = { rowsMax, bytesMax, rowBytes }
        const { shares, isFull } = await fillBatch({ waiting }, pending, options)

        const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)
        const held = tabs.map(
          (_, id) => shares.find(({ tab }) => tab.id === id)?.signups.map((s) => s.textBytes) ?? [],
        )
        // The first signups of each tab, in order.
        expect(held).toEqual(tabs.map((sizes, id) => sizes.slice(0, held[id]?.length)))
        expect(shares.every(({ signups }) => signups.length > 0)).toBe(true)
        expect(held.flat().length).toBeLessThanOrEqual(rowsMax)
        const oldestBytes = tabs[0]?.[0] ?? 0
        const isOneTooLarge = held.flat().length === 1 && oldestBytes > bytesMax
        if (!isOneTooLarge) expect(sum(held.flat())).toBeLessThanOrEqual(bytesMax)
        if (tabs.length > 0) expect(held[0]?.length).toBeGreaterThan(0)
        expect(isFull).toBe(held.flat().length < tabs.flat().length)
        for (const [id, sizes] of tabs.entries()) {
          const count = held[id]?.length ?? 0
          const next = sizes[count]
          // Each tab that is left with more has got its equal share of the rows or of the bytes, unless
          // the oldest signup of all took more than a share.
          if (next === undefined || oldestBytes > bytesMax / tabs.length) continue
          const hasRows = count >= Math.floor(rowsMax / tabs.length)
          const hasBytes = sum(sizes.slice(0, count)) + next > bytesMax / tabs.length
          expect(hasRows || hasBytes).toBe(true)
        }
      },
    ),
    { numRuns: 300 },
  )
})
