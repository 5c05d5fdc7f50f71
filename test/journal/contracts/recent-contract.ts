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
import { type ContractTest, inJournal, nth, underPolicy } from './contract.ts'
import { ada, forget, noon } from './erasure-contract.ts'
import { link } from './confirmation-contract.ts'
import { ask, confirming } from './outbox-contract.ts'

const held = { holdsSuspects: true, duplicates: 'ignore' } as const

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
      const [oddly, waits] = [told(three, 'held'), told(two, 'waiting')]
      const earlier = [told(one, 'duplicate'), told(one, 'written')]
      expect(await namesOf(journal)).toEqual([oddly, waits, ...earlier])
      expect(await namesOf(journal, { state: 'waiting' })).toEqual([waits])
      expect(await namesOf(journal, { state: 'written' })).toEqual(earlier)
      expect(await namesOf(journal, { state: 'held' })).toEqual([oddly])
      expect(await namesOf(journal, { state: 'held', tab: 'Sheet1' })).toEqual([])
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
    run: underPolicy({ ...confirming, holdsSuspects: true }, async (journal) => {
      await ask(journal, makeSignup({ email: ada, receivedAt: noon }))
      const suspect = { email: 'bot@example.com', suspect: ['stamp' as const], receivedAt: noon }
      await ask(journal, makeSignup(suspect))
      const beside = ['bot@example.com held', `${ada} pending`]
      expect(await namesOf(journal, { isBeside: true })).toEqual(beside)
      const besideOf = (state: RecentChoice['state']) => allOf(journal, { state, isBeside: true })
      expect(await besideOf('pending')).toMatchObject([{ signup: { email: ada } }])
      expect(await besideOf('held')).toMatchObject([{ signup: { email: 'bot@example.com' } }])
      expect(await namesOf(journal, { state: 'held' })).toEqual([])
      expect(await namesOf(journal)).toEqual([])
      await journal.confirmation.decline(await link(journal), noon)
      expect(await namesOf(journal, { isBeside: true })).toEqual(beside.slice(0, 1))
    }),
  },

  {
    title:
      'an address is found by its beginning among the latest 10,000, held and pending ones too, and not by a pattern',
    run: underPolicy({ ...confirming, holdsSuspects: true }, async (journal) => {
      const of = (email: string, more?: Partial<Signup>) => makeSignup({ email, ...more })
      const suspect = { suspect: ['stamp' as const] }
      await journal.intake.append([of('ada@old.example'), of('Ada@latest.example')])
      await journal.intake.append(makeSignups(9_998))
      await journal.intake.append([of('ada-2@example.com', suspect), of('adb@example.com')])
      await journal.intake.append(makeSignups(recentMax + 1, { email: 'bob@example.com' }))
      await forget(journal, 'bob@example.com')
      await ask(journal, of('ada-3@example.com', { receivedAt: noon }))
      await ask(journal, of('ada-4@example.com', { receivedAt: noon, ...suspect }))
      const begins = async (beginning: string) => [
        ...(await namesOf(journal, { beginning, isBeside: true })),
        ...(await namesOf(journal, { beginning })),
      ]
      const beside = ['ada-4@example.com held', 'ada-3@example.com pending']
      expect(await begins('aDa')).toEqual([...beside, 'ada-2@example.com held'])
      for (const other of ['a%', 'ad_', 'da', 'bob']) expect(await begins(other)).toEqual([])
      expect(await begins('person')).toHaveLength(9_998 - recentMax - 1)
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
        const slice = await journal.reader.positionsOf('ADA@example.com', after)
        found.push(...(await journal.reader.at(slice.positions)).map(({ signup }) => signup))
        after = slice.next
      }
      expect(found).toEqual(own)
      expect(slices).toBeGreaterThan(1)
    }),
  },

  {
    title: 'a signup is found by the last eight characters of its id, also where people are kept',
    run: underPolicy({ hasAdminPage: true }, async (journal) => {
      const signups = makeSignups(3)
      await journal.intake.append(signups)
      const end = signups[1]?.id.slice(-8) ?? expect.fail()
      for (const whom of [end, end.toUpperCase()]) {
        const { positions } = await journal.reader.positionsEnding(whom, 0)
        expect(positions).toEqual([nth(journal, 2)])
      }
    }),
  },

  {
    title:
      'where people are kept, the signups of an address are found a hundred at once, in all tabs',
    run: underPolicy({ hasAdminPage: true }, async (journal) => {
      const email = 'Ada@Example.com'
      const all = Array.from({ length: 130 }, (_, n) => [
        makeSignup({ email, sheetTab: `Tab ${n % 3}` }),
        ...makeSignups(70),
      ])
      await journal.intake.append(all.flat())
      const own = all.map((_, n) => nth(journal, n * 71 + 1))
      const first = await journal.reader.positionsOf('ADA@example.com', 0)
      expect(first).toMatchObject({ positions: own.slice(0, 100), next: own[99] })
      const rest = await journal.reader.positionsOf(email, first.next ?? 0)
      expect(rest).toMatchObject({ positions: own.slice(100), next: undefined })
    }),
  },
]
