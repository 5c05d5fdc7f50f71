import { describe, expect, test } from 'vitest'

import type { Appended, Journal, JournalPolicy, SignupStatus } from '../src/journal/journal.ts'
import type { JournalWorld } from './journal-contract.ts'
import { addressesOf, makeSignup, makeSignups } from './make-signup.ts'

const limits = { rowsMax: 100, bytesMax: 1_000_000 }
const any = () => true
const noon = Date.UTC(2026, 10, 20, 12)

/** What every engine must do about the number of tabs, and about duplicates. */
export function journalPolicyContract(
  name: string,
  createWorld: () => Promise<JournalWorld>,
): void {
  const withPolicy = async (
    policy: Partial<JournalPolicy>,
    work: (journal: Journal, world: JournalWorld) => Promise<void>,
  ) => {
    await using world = await createWorld()
    await using journal = await world.open(policy)
    await work(journal, world)
  }

  describe(`${name}: the number of tabs`, () => {
    const policy = { newTabsMax: 2, namedTabs: ['Sheet1', 'News'] }
    const tabsTaken = async (journal: Journal, tabs: readonly string[]) =>
      resultsOf(await journal.append(tabs.map((sheetTab) => makeSignup({ sheetTab })))).map(
        (result) => result?.sheetTab,
      )

    test('so many new tabs are made and no more; named ones and known ones do not count', () =>
      withPolicy(policy, async (journal) => {
        const tabs = ['One', 'sheet1', 'Two', 'Three', 'two', 'News', 'Four', 'ONE']
        const taken = ['One', 'sheet1', 'Two', undefined, 'Two', 'News', undefined, 'One']
        expect(await tabsTaken(journal, tabs)).toEqual(taken)
        expect(await tabsTaken(journal, ['Three', 'news', 'one'])).toEqual([
          undefined,
          'News',
          'One',
        ])
      }))

    test('a signup whose tab is one too many leaves nothing behind', () =>
      withPolicy({ newTabsMax: 0 }, async (journal) => {
        const refused = makeSignup({ sheetTab: 'Extra' })
        expect(resultsOf(await journal.append([refused]))).toEqual([undefined])
        expect(await journal.find(refused.id)).toBeUndefined()
        expect(await journal.backlog()).toBe(0)
        expect(await journal.freeze(limits, any)).toBeUndefined()
      }))

    test('tabs are counted across restarts, and a larger limit lets more in', async () => {
      await using world = await createWorld()
      for (const [newTabsMax, taken] of [
        [1, ['A', undefined, undefined]],
        [1, ['A', undefined, undefined]],
        [2, ['A', 'B', undefined]],
      ] as const) {
        await using journal = await world.open({ newTabsMax })
        expect(await tabsTaken(journal, ['A', 'B', 'C'])).toEqual(taken)
      }
    })

    test('a tab of an append that failed does not count', () =>
      withPolicy({ newTabsMax: 1 }, async (journal) => {
        const twice = makeSignup({ sheetTab: 'Failed' })
        await expect(journal.append([twice, twice])).rejects.toThrow()
        expect(await tabsTaken(journal, ['Other', 'Failed'])).toEqual(['Other', undefined])
      }))
  })

  describe(`${name}: duplicates`, () => {
    const ignoring = { duplicates: 'ignore' } as const

    test('an ignored duplicate is found and becomes written, but no batch has a row for it', () =>
      withPolicy(ignoring, async (journal) => {
        const [first, second] = [makeSignup(), makeSignup()]
        await journal.append([first])
        await journal.append([second])
        expect(await journal.backlog()).toBe(2)
        const batch = await journal.freeze(limits, any)
        expect(batch?.tabs).toEqual([{ tab: 'Sheet1', signups: [first] }])
        await journal.settle(batch?.number ?? 0, noon)
        expect(await journal.backlog()).toBe(0)
        expect((await journal.find(first.id))?.writtenAt).toBe(noon)
        expect((await journal.find(second.id))?.writtenAt).toBe(noon)
      }))

    test('a duplicate has the same address in the same tab, letter case aside', () =>
      withPolicy(ignoring, async (journal) => {
        await journal.append([
          makeSignup({ email: 'Ada@example.com', sheetTab: 'News', name: 'first' }),
          makeSignup({ email: 'aDA@example.com', sheetTab: 'news' }),
          makeSignup({ email: 'ada@example.com', sheetTab: 'Events' }),
          makeSignup({ email: 'ada+x@example.com', sheetTab: 'NEWS' }),
        ])
        expect(addressesOf(await journal.freeze(limits, any))).toEqual({
          News: ['Ada@example.com', 'ada+x@example.com'],
          Events: ['ada@example.com'],
        })
      }))

    test('a batch of duplicates alone is frozen without rows, the same after a restart', async () => {
      await using world = await createWorld()
      let frozen
      {
        await using journal = await world.open(ignoring)
        await journal.append([makeSignup()])
        await journal.settle((await journal.freeze(limits, any))?.number ?? 0, noon)
        await journal.append([makeSignup()])
        frozen = await journal.freeze(limits, any)
        expect(frozen?.tabs).toEqual([{ tab: 'Sheet1', signups: [] }])
      }
      // What was frozen does not change when the operator changes his mind.
      await using journal = await world.open({ duplicates: 'append' })
      expect(await journal.frozenBatch()).toEqual(frozen)
      await journal.settle(frozen?.number ?? 0, noon)
      expect(await journal.freeze(limits, any)).toBeUndefined()
      expect(await journal.backlog()).toBe(0)
    })

    test('signups from before duplicates were ignored count, and none is lost by switching', async () => {
      await using world = await createWorld()
      const address = { email: 'ada@example.com' }
      for (const duplicates of ['append', 'append', 'ignore', 'append', 'ignore'] as const) {
        await using journal = await world.open({ duplicates })
        await journal.append([makeSignup({ ...address, name: duplicates })])
      }
      await using journal = await world.open()
      const batch = await journal.freeze(limits, any)
      expect(batch?.tabs[0]?.signups.map((signup) => signup.name)).toEqual([
        'append',
        'append',
        'append',
      ])
    })

    test('without that policy every signup is a row', () =>
      withPolicy({}, async (journal) => {
        await journal.append(makeSignups(3, { email: 'ada@example.com' }))
        expect(addressesOf(await journal.freeze(limits, any))['Sheet1']).toHaveLength(3)
      }))
  })
}

function resultsOf(answer: Appended): readonly (SignupStatus | undefined)[] {
  if (!('results' in answer)) throw new Error(`nothing was added: ${answer.kind}`)
  return answer.results
}
