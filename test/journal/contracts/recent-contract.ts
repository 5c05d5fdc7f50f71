import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import {
  type RecentChoice,
  recentMax,
  type RecentSignup,
} from '../../../src/journal/contracts/reader.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import { type ContractTest, inJournal, underPolicy } from './contract.ts'
import { ada, forget, noon } from './erasure-contract.ts'
import { link } from './confirmation-contract.ts'
import { ask, confirming } from './outbox-contract.ts'

const held = { quarantineTab: 'Quarantine', duplicates: 'ignore' } as const

/** All pages of a choice. */
async function allOf({ reader }: Pick<Journal, 'reader'>, choice: RecentChoice = {}) {
  const all: RecentSignup[] = []
  let before: number | undefined
  do {
    const page = await reader.recent(choice, before)
    all.push(...page.signups)
    before = page.next
  } while (before !== undefined)
  return all
}

async function namesOf(journal: Pick<Journal, 'reader'>, choice?: RecentChoice) {
  return (await allOf(journal, choice)).map(({ signup, state }) => `${signup.email} ${state}`)
}

/** The operator looks at the newest signups. */
export const recentSignups: readonly ContractTest[] = [
  {
    title: 'the newest signups of all tabs come first, page by page, each once',
    run: inJournal(async (journal) => {
      const signups = makeSignups(3 * recentMax + 7).map((one, at): Signup => {
        // One tab has most of them, and there are more tabs than a page has signups.
        return { ...one, sheetTab: at % 3 === 0 ? `Tab ${at}` : 'Main' }
      })
      await journal.intake.append(signups)
      const all = await allOf(journal)
      expect(all.map(({ signup }) => signup.id)).toEqual(signups.map(({ id }) => id).toReversed())
      const main = await allOf(journal, { tab: 'MAIN' })
      expect(main).toHaveLength(signups.filter(({ sheetTab }) => sheetTab === 'Main').length)
      const { tabs, next } = await journal.reader.recent({ tab: 'nowhere' })
      expect([tabs.length, tabs[0], next]).toEqual([54, 'Main', undefined])
    }),
  },

  {
    title: 'with one tab more than a page has signups, the oldest signup is shown too',
    run: inJournal(async (journal) => {
      const signups = makeSignups(recentMax + 1).map((one, at) => ({ ...one, sheetTab: `${at}` }))
      await journal.intake.append(signups)
      expect(await allOf(journal)).toHaveLength(recentMax + 1)
    }),
  },

  {
    title: 'each signup says whether it waits, was written and when, is a duplicate or suspect',
    run: underPolicy(held, async (journal) => {
      const [one, two, three] = makeSignups(3)
      if (!one || !two || !three) return
      await journal.intake.append([one, { ...one, id: makeSignup().id }])
      const batch = await freezeNext(journal.delivery)
      await journal.delivery.settle(batch?.number ?? 0, noon)
      const suspect = { ...three, suspect: ['stamp' as const], sheetTab: 'Letters' }
      await journal.intake.append([two, suspect])
      const told = (signup: Signup, state: string) => `${signup.email} ${state}`
      const [oddly, waits] = [told(three, 'quarantine'), told(two, 'waiting')]
      const earlier = [told(one, 'duplicate'), told(one, 'written')]
      expect(await namesOf(journal)).toEqual([oddly, waits, ...earlier])
      expect(await namesOf(journal, { state: 'waiting' })).toEqual([waits])
      expect(await namesOf(journal, { state: 'written' })).toEqual(earlier)
      expect(await namesOf(journal, { state: 'quarantine' })).toEqual([oddly])
      expect(await namesOf(journal, { state: 'quarantine', tab: 'Sheet1' })).toEqual([])
      expect((await journal.reader.recent({})).tabs).toEqual(['Letters', 'Sheet1'])
      const written = await allOf(journal, { state: 'written' })
      expect(written.at(-1)).toMatchObject({ writtenAt: noon, signup: one })
    }),
  },

  {
    title: 'a written signup that is to be delivered once more waits',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(3))
      const batch = await freezeNext(journal.delivery)
      await journal.delivery.settle(batch?.number ?? 0, noon)
      const [, second] = await journal.reader.page(0, 9)
      await journal.compared.deliverAgain([second?.position ?? 0], noon, batch?.number ?? 0)
      expect(await namesOf(journal, { state: 'waiting' })).toEqual(['person2@example.com waiting'])
      expect(await allOf(journal, { state: 'written' })).toHaveLength(2)
    }),
  },

  {
    title: 'erased signups are not shown, however many stand above others',
    run: inJournal(async (journal) => {
      await journal.intake.append([makeSignup({ email: 'bob@example.com' })])
      await journal.intake.append(makeSignups(3 * recentMax, { email: ada }))
      await forget(journal, ada)
      const { signups, next } = await journal.reader.recent({})
      expect(signups).toEqual([])
      expect(next).toBeGreaterThan(1)
      expect(await namesOf(journal)).toEqual(['bob@example.com waiting'])
      await freezeNext(journal.delivery)
      await forget(journal, 'bob@example.com')
      expect(await namesOf(journal)).toEqual([])
    }),
  },

  {
    title: 'pending signups are shown as such and nowhere else, suspect ones in quarantine',
    run: underPolicy({ ...confirming, quarantineTab: 'Quarantine' }, async (journal) => {
      await ask(journal, makeSignup({ email: ada, receivedAt: noon }))
      const suspect = { email: 'bot@example.com', suspect: ['stamp' as const], receivedAt: noon }
      await ask(journal, makeSignup(suspect))
      const beside = ['bot@example.com quarantine', `${ada} pending`]
      expect(await namesOf(journal, { state: 'pending' })).toEqual(beside)
      expect(await namesOf(journal, { state: 'quarantine' })).toEqual(beside.slice(0, 1))
      expect(await namesOf(journal)).toEqual([])
      const [position] = (await allOf(journal, { state: 'quarantine' })).map((it) => it.position)
      expect((await journal.reader.held(0, 9)).map((it) => it.position)).toEqual([position])
      await journal.confirmation.decline(await link(journal), noon)
      expect(await namesOf(journal, { state: 'pending' })).toEqual(beside.slice(0, 1))
    }),
  },

  {
    title: 'the signups of an address are found slice by slice, whatever the letter case',
    run: inJournal(async (journal) => {
      const own = makeSignups(2, { email: 'Ada@Example.com' })
      await journal.intake.append([...own.slice(0, 1), ...makeSignups(9_000), ...own.slice(1)])
      const found: Signup[] = []
      let slices = 0
      for (let after: number | undefined = 0; after !== undefined; slices += 1) {
        const slice = await journal.reader.ofAddress('ADA@example.com', after)
        found.push(...slice.signups.map(({ signup }) => signup))
        after = slice.next
      }
      expect(found).toEqual(own)
      expect(slices).toBeGreaterThan(1)
    }),
  },
]
