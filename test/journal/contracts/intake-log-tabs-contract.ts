import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { type ContractTest, resultsOf, underPolicy } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const hour = 60 * 60 * 1000
const fewTabs = { newTabsMax: 2, namedTabs: ['Sheet1', 'News'] }
const fewTabsAnHour = { newTabsMax: 5, newTabsPerHourMax: 2, namedTabs: ['Sheet1', 'News'] }

/** Appends a signup for each tab. Returns the tab of each receipt, undefined where it was refused. */
const addTo = async (
  journal: Journal,
  tabs: readonly string[],
  client?: string,
  receivedAt = noon,
) => {
  const signups = tabs.map((sheetTab) => makeSignup({ sheetTab, receivedAt }))
  const answer = await journal.intake.append(signups, { client })
  return resultsOf(answer).map((result) => result?.sheetTab)
}

/** The number of new tabs in all is limited. */
export const numberOfTabs: readonly ContractTest[] = [
  {
    title:
      'no more new tabs are made than the limit allows; tabs in the settings and known tabs do not count',
    run: underPolicy(fewTabs, async (journal) => {
      const tabs = ['One', 'sheet1', 'Two', 'Three', 'two', 'News', 'Four', 'ONE']
      const taken = ['One', 'sheet1', 'Two', undefined, 'Two', 'News', undefined, 'One']
      expect(await addTo(journal, tabs)).toEqual(taken)
      expect(await addTo(journal, ['Three', 'news', 'one'])).toEqual([undefined, 'News', 'One'])
    }),
  },

  {
    title: 'a signup that would make one tab too many leaves nothing behind',
    run: underPolicy({ newTabsMax: 0 }, async (journal) => {
      const refused = makeSignup({ sheetTab: 'Extra' })
      expect(resultsOf(await journal.intake.append([refused]))).toEqual([undefined])
      expect(await journal.intake.find(refused.id)).toBeUndefined()
      expect(await journal.reader.backlog()).toBe(0)
      expect(await freezeNext(journal.delivery)).toBeUndefined()
    }),
  },

  {
    title: 'new tabs are counted across restarts, and a larger limit allows more',
    run: async (world) => {
      for (const [newTabsMax, taken] of [
        [1, ['A', undefined, undefined]],
        [1, ['A', undefined, undefined]],
        [2, ['A', 'B', undefined]],
      ] as const) {
        await using journal = await world.open({ newTabsMax })
        expect(await addTo(journal, ['A', 'B', 'C'])).toEqual(taken)
      }
    },
  },
]

/** The number of new tabs that one client may make in an hour is limited. The client is its address. */
export const newTabsByClient: readonly ContractTest[] = [
  {
    title:
      'one client makes no more new tabs than the limit allows; those of others, in the settings or known do not count',
    run: underPolicy(fewTabsAnHour, async (journal) => {
      const given = ['A', 'Sheet1', 'News', 'B', 'a', 'C', 'b']
      const taken = ['A', 'Sheet1', 'News', 'B', 'A', undefined, 'B']
      expect(await addTo(journal, given, '192.0.2.1')).toEqual(taken)
      expect(await addTo(journal, ['C', 'D', 'E'], '192.0.2.2')).toEqual(['C', 'D', undefined])
      expect(await addTo(journal, ['C'], '192.0.2.1')).toEqual(['C'])
    }),
  },

  {
    title: 'signups without a client are limited by the number of all new tabs alone',
    run: underPolicy(fewTabsAnHour, async (journal) => {
      const given = ['A', 'B', 'C', 'D', 'E', 'F']
      expect(await addTo(journal, given, undefined)).toEqual([...given.slice(0, 5), undefined])
      expect(await addTo(journal, ['G'], '192.0.2.1')).toEqual([undefined])
    }),
  },

  {
    title: 'an hour later a client may make new tabs again',
    run: underPolicy(fewTabsAnHour, async (journal) => {
      const one = (tab: string, at: number) => addTo(journal, [tab], '192.0.2.1', at)
      expect(await one('A', noon)).toEqual(['A'])
      expect(await one('B', noon + hour / 2)).toEqual(['B'])
      expect(await one('C', noon + hour - 1)).toEqual([undefined])
      expect(await one('C', noon + hour)).toEqual(['C'])
      expect(await one('D', noon + hour)).toEqual([undefined])
      expect(await one('D', noon + 1.5 * hour)).toEqual(['D'])
    }),
  },

  {
    title: 'new tabs from a time when the clock was ahead do not count after it is set right',
    run: underPolicy(fewTabsAnHour, async (journal) => {
      const day = 24 * hour
      expect(await addTo(journal, ['A', 'B', 'C'], 'a', noon + day)).toEqual(['A', 'B', undefined])
      expect(await addTo(journal, ['C', 'D', 'E'], 'a', noon)).toEqual(['C', 'D', undefined])
    }),
  },

  {
    title:
      'new tabs are counted across restarts and instances, and each instance knows the tabs of the other',
    run: async (world) => {
      {
        await using journal = await world.open(fewTabsAnHour)
        await addTo(journal, ['A'], 'a')
      }
      await using one = await world.open(fewTabsAnHour)
      await using other = await world.open(fewTabsAnHour)
      expect(await addTo(one, ['B'], 'a')).toEqual(['B'])
      expect(await addTo(other, ['C', 'b', 'a'], 'a')).toEqual([undefined, 'B', 'A'])
      expect(await addTo(other, ['C', 'D'], 'b')).toEqual(['C', 'D'])
      expect(await addTo(one, ['E', 'F'], 'c')).toEqual(['E', undefined])
      expect(await addTo(other, ['f'], undefined)).toEqual([undefined])
    },
  },

  {
    title: 'a caller can ask whether a tab would be accepted, and asking makes no tab',
    run: underPolicy(fewTabsAnHour, async (journal) => {
      await journal.intake.append(makeSignups(1, { sheetTab: 'A', receivedAt: noon }), {
        client: 'a',
      })
      const asks = (tab: string, client?: string) => journal.intake.takesTab(tab, noon, client)
      for (let time = 0; time < 3; time++) expect(await asks('B', 'a')).toBe(true)
      expect(await addTo(journal, ['B'], 'a')).toEqual(['B'])
      for (const tab of ['a', 'B', 'News', 'sheet1']) expect(await asks(tab, 'a')).toBe(true)
      expect([await asks('C', 'a'), await asks('C', 'b'), await asks('C')]).toEqual([
        false,
        true,
        true,
      ])
      expect(await journal.intake.takesTab('C', noon + hour, 'a')).toBe(true)
      await addTo(journal, ['C', 'D', 'E'], undefined)
      expect([await asks('F', 'b'), await asks('F'), await asks('e')]).toEqual([false, false, true])
    }),
  },
]
