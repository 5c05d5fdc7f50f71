import { describe, expect, test } from 'vitest'

import type { Appended, SignupStatus } from '../../src/journal/intake-log.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalPolicy } from '../../src/journal/policy.ts'
import type { JournalWorld } from './journal-contract.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../harness/make-signup.ts'

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
      resultsOf(await journal.intake.append(tabs.map((sheetTab) => makeSignup({ sheetTab })))).map(
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
        expect(resultsOf(await journal.intake.append([refused]))).toEqual([undefined])
        expect(await journal.intake.find(refused.id)).toBeUndefined()
        expect(await journal.reader.backlog()).toBe(0)
        expect(await freezeNext(journal.delivery)).toBeUndefined()
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
        await expect(journal.intake.append([twice, twice])).rejects.toThrow()
        expect(await tabsTaken(journal, ['Other', 'Failed'])).toEqual(['Other', undefined])
      }))
  })

  describe(`${name}: a default tab that the spreadsheet names`, () => {
    const policy = { defaultTab: { name: 'Sheet1', of: 'first' } }
    const add = async (journal: Journal, email: string, sheetTab = '') =>
      resultsOf(await journal.intake.append([makeSignup({ email, sheetTab })]))[0]
    const deliver = async (journal: Journal) => {
      const batch = await freezeNext(journal.delivery)
      await journal.delivery.settle(batch?.number ?? 0, noon)
      return addressesOf(batch)
    }

    test('what came before it had its name goes there, and so does all that comes later', async () => {
      await using world = await createWorld()
      {
        await using journal = await world.open(policy)
        expect(journal.intake.defaultTab).toEqual({ name: 'Sheet1', isResolved: false })
        expect(await add(journal, 'before@example.com')).toMatchObject({ sheetTab: 'Sheet1' })
        await add(journal, 'sheet1@example.com', 'sheet1')
      }
      {
        await using journal = await world.open(policy)
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
      await using journal = await world.open(policy)
      expect(journal.intake.defaultTab).toEqual({ name: 'Tabelle1', isResolved: true })
      expect(await add(journal, 'late@example.com')).toMatchObject({ sheetTab: 'Tabelle1' })
    })

    test.each(['Sheet1', 'Tabelle1'])(
      'where others have named %s before, all go there in the order in which they came',
      (tab) =>
        withPolicy(policy, async (journal) => {
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
          expect(cursors).toContainEqual({ tab: '', upto: 4 })
          expect(await journal.intake.find(first?.id ?? ('' as never))).toMatchObject({
            writtenAt: noon,
          })
          expect(await journal.reader.backlog()).toBe(0)
        }),
    )

    test('of two writers the one that comes later takes over the name', async () => {
      await using world = await createWorld()
      await using one = await world.open(policy)
      await using other = await world.open(policy)
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
    })

    test('another spreadsheet has another one, and a name in the settings counts at once', async () => {
      await using world = await createWorld()
      {
        await using journal = await world.open(policy)
        await journal.delivery.resolveDefaultTab('Tabelle1')
        await add(journal, 'first@example.com')
      }
      {
        await using journal = await world.open({ defaultTab: { name: 'Sheet1', of: 'second' } })
        await add(journal, 'second@example.com')
        await expect(freezeNext(journal.delivery)).rejects.toThrow(/not resolved/)
      }
      await using journal = await world.open({ defaultTab: { name: 'News' } })
      expect(await deliver(journal)).toEqual({
        Tabelle1: ['first@example.com'],
        News: ['second@example.com'],
      })
    })

    test('it does not count as a new tab, under none of its names', () =>
      withPolicy({ ...policy, newTabsMax: 1 }, async (journal) => {
        expect(await add(journal, 'a@example.com')).toBeDefined()
        expect(await add(journal, 'b@example.com', 'sheet1')).toBeDefined()
        await journal.delivery.resolveDefaultTab('Sheet1')
        expect(await add(journal, 'c@example.com')).toBeDefined()
        expect(await add(journal, 'd@example.com', 'One')).toBeDefined()
        expect(await add(journal, 'e@example.com', 'Two')).toBeUndefined()
      }))

    test('an address that came with and without its name is a duplicate', () =>
      withPolicy({ ...policy, duplicates: 'ignore' }, async (journal) => {
        await add(journal, 'a@example.com', 'Tabelle1')
        await add(journal, 'A@example.com')
        await add(journal, 'b@example.com')
        await add(journal, 'B@example.com', 'Tabelle1')
        await journal.delivery.resolveDefaultTab('Tabelle1')
        await add(journal, 'a@EXAMPLE.com')
        expect(await deliver(journal)).toEqual({ Tabelle1: ['a@example.com', 'b@example.com'] })
      }))
  })

  describe(`${name}: duplicates`, () => {
    const ignoring = { duplicates: 'ignore' } as const

    test('an ignored duplicate is found and becomes written, but no batch has a row for it', () =>
      withPolicy(ignoring, async (journal) => {
        const [first, second] = [makeSignup(), makeSignup()]
        await journal.intake.append([first])
        await journal.intake.append([second])
        expect(await journal.reader.backlog()).toBe(2)
        const batch = await freezeNext(journal.delivery)
        expect(batch?.tabs).toEqual([{ tab: 'Sheet1', signups: [first] }])
        await journal.delivery.settle(batch?.number ?? 0, noon)
        expect(await journal.reader.backlog()).toBe(0)
        expect((await journal.intake.find(first.id))?.writtenAt).toBe(noon)
        expect((await journal.intake.find(second.id))?.writtenAt).toBe(noon)
      }))

    test('a duplicate has the same address in the same tab, letter case aside', () =>
      withPolicy(ignoring, async (journal) => {
        await journal.intake.append([
          makeSignup({ email: 'Ada@example.com', sheetTab: 'News', name: 'first' }),
          makeSignup({ email: 'aDA@example.com', sheetTab: 'news' }),
          makeSignup({ email: 'ada@example.com', sheetTab: 'Events' }),
          makeSignup({ email: 'ada+x@example.com', sheetTab: 'NEWS' }),
        ])
        expect(addressesOf(await freezeNext(journal.delivery))).toEqual({
          News: ['Ada@example.com', 'ada+x@example.com'],
          Events: ['ada@example.com'],
        })
      }))

    test('a batch of duplicates alone is frozen without rows, the same after a restart', async () => {
      await using world = await createWorld()
      let frozen
      {
        await using journal = await world.open(ignoring)
        await journal.intake.append([makeSignup()])
        await journal.delivery.settle((await freezeNext(journal.delivery))?.number ?? 0, noon)
        await journal.intake.append([makeSignup()])
        frozen = await freezeNext(journal.delivery)
        expect(frozen?.tabs).toEqual([{ tab: 'Sheet1', signups: [] }])
      }
      // What was frozen does not change when the operator changes his mind.
      await using journal = await world.open({ duplicates: 'append' })
      expect(await journal.delivery.frozenBatch()).toEqual(frozen)
      await journal.delivery.settle(frozen?.number ?? 0, noon)
      expect(await freezeNext(journal.delivery)).toBeUndefined()
      expect(await journal.reader.backlog()).toBe(0)
    })

    test('signups from before duplicates were ignored count, and none is lost by switching', async () => {
      await using world = await createWorld()
      const address = { email: 'ada@example.com' }
      for (const duplicates of ['append', 'append', 'ignore', 'append', 'ignore'] as const) {
        await using journal = await world.open({ duplicates })
        await journal.intake.append([makeSignup({ ...address, name: duplicates })])
      }
      await using journal = await world.open()
      const batch = await freezeNext(journal.delivery)
      expect(batch?.tabs[0]?.signups.map((signup) => signup.name)).toEqual([
        'append',
        'append',
        'append',
      ])
    })

    test('without that policy every signup is a row', () =>
      withPolicy({}, async (journal) => {
        await journal.intake.append(makeSignups(3, { email: 'ada@example.com' }))
        expect(addressesOf(await freezeNext(journal.delivery))['Sheet1']).toHaveLength(3)
      }))
  })
}

function resultsOf(answer: Appended): readonly (SignupStatus | undefined)[] {
  if (!('results' in answer)) throw new Error(`nothing was added: ${answer.kind}`)
  return answer.results
}
