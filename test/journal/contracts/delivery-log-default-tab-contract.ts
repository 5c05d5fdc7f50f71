import { expect } from 'vitest'

import { freezeNext, type FreezeOptions } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { type ContractTest, inTwo, resultsOf, underPolicy, nth } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const unnamed = { defaultTab: { name: 'Sheet1', provisionalFor: 'first' } }

const add = async (journal: Journal, email: string, sheetTab = '') =>
  resultsOf(await journal.intake.append([makeSignup({ email, sheetTab })]))[0]

const deliver = async (journal: Journal, limits: FreezeOptions = {}) => {
  const batch = await freezeNext(journal.delivery, limits)
  await journal.delivery.settle(batch?.number ?? 0, noon)
  return addressesOf(batch)
}

/** The default tab when the settings do not name it: its name comes from the spreadsheet. */
export const defaultTab: readonly ContractTest[] = [
  {
    title: 'a first signup without a tab that fails keeps no later one out',
    run: underPolicy(unnamed, async (journal) => {
      const twice = makeSignup({ sheetTab: '' })
      await expect(journal.intake.append([twice, twice])).rejects.toThrow()
      expect(await add(journal, 'later@example.com')).toMatchObject({ sheetTab: 'Sheet1' })
    }),
  },
  {
    title: 'signups from before the default tab had a name go to it, and so do all later ones',
    run: async (world) => {
      {
        await using journal = await world.open(unnamed)
        expect(journal.intake.defaultTab).toEqual({ name: 'Sheet1', isResolved: false })
        expect(await add(journal, 'before@example.com')).toMatchObject({ sheetTab: 'Sheet1' })
        await add(journal, 'sheet1@example.com', 'sheet1')
      }
      {
        await using journal = await world.open(unnamed)
        await add(journal, 'restarted@example.com')
        const resolved = { name: 'Tabelle1', isResolved: true }
        expect(await journal.delivery.resolveDefaultTab('Tabelle1')).toEqual(resolved)
        expect(await journal.delivery.resolveDefaultTab('Sheet1')).toEqual(resolved)
        expect(await add(journal, 'after@example.com')).toMatchObject({ sheetTab: 'Tabelle1' })
        await add(journal, 'named@example.com', 'TABELLE1')
        expect(await deliver(journal)).toEqual({
          Tabelle1: ['before', 'restarted', 'after', 'named'].map((who) => `${who}@example.com`),
          sheet1: ['sheet1@example.com'],
        })
      }
      await using journal = await world.open(unnamed)
      expect(journal.intake.defaultTab).toEqual({ name: 'Tabelle1', isResolved: true })
      expect(await add(journal, 'late@example.com')).toMatchObject({ sheetTab: 'Tabelle1' })
    },
  },

  ...['Sheet1', 'Tabelle1'].map((tab) => ({
    title: `when some signups name ${tab} before it becomes the default tab, all go to it in the order in which they came`,
    run: underPolicy(unnamed, async (journal) => {
      const cursors: unknown[] = []
      journal.intake.onSettle((told) => cursors.push(...told))
      const first = await add(journal, 'one@example.com')
      await add(journal, 'two@example.com', tab.toUpperCase())
      await add(journal, 'three@example.com')
      expect(first).toMatchObject({ sheetTab: 'Sheet1', isTabOpen: true })
      await journal.delivery.resolveDefaultTab(tab)
      await add(journal, 'four@example.com')
      expect(await journal.reader.backlog()).toBe(4)
      const emails = ['one', 'two', 'three', 'four'].map((who) => `${who}@example.com`)
      expect(await deliver(journal)).toEqual({ [tab.toUpperCase()]: emails })
      expect(cursors).toContainEqual({ tab: '', upto: nth(journal, 4) })
      expect(await journal.intake.cursors([''])).toEqual([{ tab: '', upto: nth(journal, 4) }])
      expect(await journal.intake.find(first?.id ?? ('' as never))).toMatchObject({
        writtenAt: noon,
      })
      expect(await journal.reader.backlog()).toBe(0)
    }),
  })),

  {
    title: 'a default tab without a name is asked for by no name, and has got nowhere',
    run: underPolicy(unnamed, async (journal) => {
      await add(journal, 'one@example.com')
      expect(await journal.intake.cursors([''])).toEqual([{ tab: '', upto: 0 }])
    }),
  },

  {
    title: 'an answer that is given again says that its tab has no final name, until it has one',
    run: underPolicy(unnamed, async (journal) => {
      const idempotency = { space: '', key: 'k', fingerprint: 'A' }
      const append = () => journal.intake.append([makeSignup({ sheetTab: '' })], { idempotency })
      const first = await append()
      expect(first).toMatchObject({ results: [{ sheetTab: 'Sheet1', isTabOpen: true }] })
      expect(await add(journal, 'next@example.com')).toMatchObject({ isTabOpen: true })
      expect(await append()).toEqual({ ...first, kind: 'replayed' })
      await journal.delivery.resolveDefaultTab('Tabelle1')
      const [later] = resultsOf(await append())
      expect(later).toMatchObject({ sheetTab: 'Tabelle1' })
      expect(later).not.toHaveProperty('isTabOpen')
    }),
  },

  {
    title: 'of two writers the later one takes over the name that the first one found',
    run: inTwo(async (one, other) => {
      await add(one, 'one@example.com')
      await add(other, 'two@example.com', 'Tabelle1')
      await other.delivery.resolveDefaultTab('Tabelle1')
      await add(one, 'three@example.com')
      expect(await one.delivery.resolveDefaultTab('Sheet1')).toEqual({
        name: 'Tabelle1',
        isResolved: true,
      })
      const emails = ['one', 'two', 'three'].map((who) => `${who}@example.com`)
      expect(await deliver(one)).toEqual({ Tabelle1: emails })
    }, unnamed),
  },

  {
    title:
      'signups with and without a tab of one request are added once, whoever names the default tab',
    run: inTwo(async (one, other) => {
      await add(one, 'one@example.com')
      await add(one, 'two@example.com', 'News')
      await other.delivery.resolveDefaultTab('Tabelle1')
      const both = ['News', ''].map((sheetTab) =>
        makeSignup({ email: 'both@example.com', sheetTab }),
      )
      expect(resultsOf(await one.intake.append(both))).toMatchObject([
        { sheetTab: 'News' },
        { sheetTab: 'Tabelle1' },
      ])
      expect(await deliver(one)).toEqual({
        Tabelle1: ['one@example.com', 'both@example.com'],
        News: ['two@example.com', 'both@example.com'],
      })
    }, unnamed),
  },

  {
    title:
      'tens of thousands of signups without a tab all go to a default tab that is there already',
    run: underPolicy(unnamed, async (journal) => {
      await add(journal, 'first@example.com', 'Tabelle1')
      const many = 20_001
      await journal.intake.append(makeSignups(many, { sheetTab: '' }))
      await add(journal, 'last@example.com', 'Tabelle1')
      await journal.delivery.resolveDefaultTab('Tabelle1')
      const all = many + 2
      expect(await deliver(journal, { rowsMax: all, bytesMax: 100_000_000 })).toMatchObject({
        Tabelle1: { length: all },
      })
      expect(await journal.reader.backlog()).toBe(0)
    }),
  },

  {
    title:
      'an instance that only looks on learns the name that a writer found when it asks for cursors',
    run: inTwo(async (one, other) => {
      await other.delivery.resolveDefaultTab('Tabelle1')
      // Where `one` stands for up to three instances that are called in turn, each of them asks.
      for (const _ of [1, 2, 3]) await one.intake.cursors([])
      expect(one.intake.defaultTab).toEqual({ name: 'Tabelle1', isResolved: true })
    }, unnamed),
  },

  {
    title: 'another spreadsheet has another default tab, and a name in the settings counts at once',
    run: async (world) => {
      {
        await using journal = await world.open(unnamed)
        await journal.delivery.resolveDefaultTab('Tabelle1')
        await add(journal, 'first@example.com')
      }
      {
        await using journal = await world.open({
          defaultTab: { name: 'Sheet1', provisionalFor: 'second' },
        })
        await add(journal, 'second@example.com')
        await expect(freezeNext(journal.delivery)).rejects.toThrow(/not resolved/)
      }
      await using journal = await world.open({ defaultTab: { name: 'News' } })
      expect(await deliver(journal)).toEqual({
        Tabelle1: ['first@example.com'],
        News: ['second@example.com'],
      })
    },
  },

  {
    title: 'the default tab does not count as a new tab, whichever of its names a signup gives',
    run: underPolicy({ ...unnamed, newTabsMax: 1 }, async (journal) => {
      expect(await add(journal, 'a@example.com')).toBeDefined()
      expect(await add(journal, 'b@example.com', 'sheet1')).toBeDefined()
      await journal.delivery.resolveDefaultTab('Sheet1')
      expect(await add(journal, 'c@example.com')).toBeDefined()
      expect(await add(journal, 'd@example.com', 'One')).toBeDefined()
      expect(await add(journal, 'e@example.com', 'Two')).toBeUndefined()
    }),
  },

  {
    title: 'an address that came with the name of the default tab and without it is a duplicate',
    run: underPolicy({ ...unnamed, duplicates: 'ignore' }, async (journal) => {
      await add(journal, 'a@example.com', 'Tabelle1')
      await add(journal, 'A@example.com')
      await add(journal, 'b@example.com')
      await add(journal, 'B@example.com', 'Tabelle1')
      await journal.delivery.resolveDefaultTab('Tabelle1')
      await add(journal, 'a@EXAMPLE.com')
      expect(await deliver(journal)).toEqual({ Tabelle1: ['a@example.com', 'b@example.com'] })
    }),
  },

  {
    title: 'only an address in the same tab makes a signup of the default tab a duplicate',
    run: underPolicy({ ...unnamed, duplicates: 'ignore' }, async (journal) => {
      await add(journal, 'a@example.com', 'News')
      await add(journal, 'b@example.com', 'Tabelle1')
      await add(journal, 'a@example.com')
      await journal.delivery.resolveDefaultTab('Tabelle1')
      expect(await deliver(journal)).toEqual({
        News: ['a@example.com'],
        Tabelle1: ['b@example.com', 'a@example.com'],
      })
    }),
  },

  {
    title: 'when duplicates get rows, an address that came with the name and without it gets two',
    run: underPolicy(unnamed, async (journal) => {
      await add(journal, 'a@example.com', 'Tabelle1')
      await add(journal, 'a@example.com')
      await journal.delivery.resolveDefaultTab('Tabelle1')
      expect(await deliver(journal)).toEqual({ Tabelle1: ['a@example.com', 'a@example.com'] })
    }),
  },

  {
    title:
      'a later signup of a forgotten person whose row is on its way gets a row when the default tab gets its name',
    run: async (world) => {
      const ignoring = { duplicates: 'ignore' } as const
      await using named = await world.open({ ...ignoring, defaultTab: { name: 'Tabelle1' } })
      await add(named, 'a@example.com')
      const batch = await freezeNext(named.delivery)
      await using journal = await world.open({ ...ignoring, ...unnamed })
      await journal.erasure.forget('a@example.com')
      await journal.erasure.eraseNext(0, 'a@example.com')
      await add(journal, 'a@example.com')
      await journal.delivery.resolveDefaultTab('Tabelle1')
      await journal.delivery.settle(batch?.number ?? 0, noon)
      expect(await deliver(journal)).toEqual({ Tabelle1: ['a@example.com'] })
    },
  },

  {
    title: 'resolving the default tab takes no row from signups that came before all of its own',
    run: async (world) => {
      {
        await using journal = await world.open()
        await add(journal, 'a@example.com', 'Tabelle1')
        await add(journal, 'a@example.com', 'Tabelle1')
      }
      await using journal = await world.open({ ...unnamed, duplicates: 'ignore' })
      await add(journal, 'a@example.com')
      await add(journal, 'b@example.com')
      await journal.delivery.resolveDefaultTab('Tabelle1')
      expect(await deliver(journal)).toEqual({
        Tabelle1: ['a@example.com', 'a@example.com', 'b@example.com'],
      })
    },
  },
]
