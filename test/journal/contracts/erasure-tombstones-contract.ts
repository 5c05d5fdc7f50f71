import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup } from '../../../harness/make-signup.ts'
import { restoredFact } from '../../../src/journal/contracts/delivery-log.ts'
import { type ContractTest, inJournal, nth } from './contract.ts'
import { ada, addressesIn, deliver, forget, noon } from './erasure-contract.ts'

const bob = 'bob@example.com'
const eve = 'eve@example.com'

/** Nobody who was forgotten comes back with a backup. */
export const tombstoneTests: readonly ContractTest[] = [
  {
    title: 'a tombstone is no address, and covers more when its person is forgotten again',
    run: inJournal(async (journal) => {
      const { intake, erasure } = journal
      await intake.append([makeSignup({ email: ada })])
      await erasure.forget(ada)
      await intake.append([makeSignup({ email: ada })])
      const [first = expect.fail(), ...others] = await erasure.tombstones()
      expect(others).toEqual([])
      expect(first.upto).toBe(nth(journal, 1))
      expect(first.hash).not.toContain('ada')
      await erasure.forget(ada)
      expect(await erasure.tombstones()).toEqual([{ hash: first.hash, upto: nth(journal, 2) }])
      expect(await erasure.tombstones(first.hash)).toEqual([])
      await erasure.adopt([first])
      expect(await erasure.tombstones(), 'an older one').toMatchObject([{ upto: nth(journal, 2) }])
    }),
  },

  {
    title:
      'a journal that adopts tombstones erases whom they cover, and later signups of these people stay',
    run: inJournal(async (journal) => {
      const { intake, erasure } = journal
      await intake.append([ada, bob, ada].map((email) => makeSignup({ email })))
      await erasure.forget(ada)
      const taken = await erasure.tombstones()
      await intake.append([ada, eve].map((email) => makeSignup({ email })))
      await deliver(journal)
      await erasure.adopt(taken.map(({ hash }) => ({ hash, upto: 99 })))
      expect(await erasure.tombstones()).toMatchObject([{ upto: nth(journal, 5) }])
      await intake.append([makeSignup({ email: ada })])
      const written = [1, 3, 4].map((place) => nth(journal, place))
      expect(await erasure.eraseNext(0)).toMatchObject({ written, unwritten: 0 })
      expect(await addressesIn(journal)).toEqual([bob, eve, ada])
      expect(await erasure.removals(0)).toHaveLength(3)
    }),
  },

  {
    title: 'of two tombstones of one person that are adopted together, the later one counts',
    run: inJournal(async (journal) => {
      const { intake, erasure } = journal
      await intake.append([ada, ada, ada].map((email) => makeSignup({ email })))
      await erasure.forget(ada)
      const [{ hash } = expect.fail()] = await erasure.tombstones()
      await intake.append([ada, ada].map((email) => makeSignup({ email })))
      const early = { hash, upto: nth(journal, 4) }
      const late = { hash, upto: nth(journal, 5) }
      await erasure.adopt([early, late, early])
      expect(await erasure.tombstones()).toEqual([late])
    }),
  },

  {
    title:
      'a waiting signup of a restored journal may have a row until it is compared, and that is removed',
    run: inJournal(async (journal) => {
      const { intake, erasure, delivery } = journal
      await intake.append([bob, ada].map((email) => makeSignup({ email })))
      await delivery.noteFact(restoredFact, String(nth(journal, 2)))
      await intake.append([makeSignup({ email: ada })])
      expect(await forget(journal)).toMatchObject({ written: [nth(journal, 2)], unwritten: 1 })
      expect(await erasure.removals(0)).toMatchObject([{ position: nth(journal, 2), email: ada }])
      const batch = (await freezeNext(delivery)) ?? expect.fail()
      expect(addressesOf(batch)).toEqual({ Sheet1: [bob] })
      await delivery.release(batch)
      expect(await erasure.removals(0), 'a batch without it has ended').toHaveLength(1)
      await delivery.settle((await freezeNext(delivery))?.number ?? 0, noon)
      expect(await erasure.removals(0)).toHaveLength(1)
    }),
  },
]

/** The spreadsheet's rows of forgotten people are removed when that is possible. */
export const removalTests: readonly ContractTest[] = [
  {
    title:
      'the removal of a written row waits with all it needs, even after a restart, until it is done',
    run: async (world) => {
      const signups = [
        makeSignup({ email: 'Ada@example.com', receivedAt: noon }),
        makeSignup({ email: bob }),
        makeSignup({ email: ada, sheetTab: 'News', receivedAt: noon + 1 }),
      ]
      {
        await using journal = await world.open()
        await journal.intake.append(signups)
        await deliver(journal)
        const written = [nth(journal, 1), nth(journal, 3)]
        expect(await forget(journal)).toMatchObject({ written, unwritten: 0 })
        expect(await addressesIn(journal)).toEqual([bob])
      }
      await using journal = await world.open()
      const { erasure } = journal
      const [one, two, three] = [1, 2, 3].map((place) => nth(journal, place)) as [
        number,
        number,
        number,
      ]
      const [isLeaving, receivedAt] = [false, noon]
      const first = {
        position: one,
        tab: 'Sheet1',
        email: 'Ada@example.com',
        receivedAt,
        isLeaving,
      }
      const second = { position: three, tab: 'News', email: ada, receivedAt: noon + 1, isLeaving }
      expect(await erasure.removals(0)).toEqual([first, second])
      expect(await erasure.removals(one)).toEqual([second])
      await erasure.removed([one])
      expect(await erasure.unfinished()).toMatchObject({ removals: 1, frozen: 0 })
      await erasure.removed([two, three])
      expect(await erasure.removals(0)).toEqual([])
      expect(await journal.delivery.fact(`removal of ${one}`), 'what is done').toBeUndefined()
    },
  },

  {
    title: 'many removals come in pages, in the order of their signups',
    run: inJournal(async (journal) => {
      const emails = Array.from({ length: 250 }, (_, at) => (at % 50 === 0 ? bob : ada))
      await journal.intake.append(emails.map((email) => makeSignup({ email })))
      const batch = await freezeNext(journal.delivery, { rowsMax: 1000 })
      await journal.delivery.settle(batch?.number ?? 0, noon)
      const { written } = await forget(journal)
      const pages: number[][] = []
      for (let after = 0; ;) {
        const page = await journal.erasure.removals(after)
        if (page.length === 0) break
        pages.push(page.map(({ position }) => position))
        after = page.at(-1)?.position ?? 0
      }
      expect(pages.flat()).toEqual(written)
      expect(pages.map((page) => page.length)).toEqual([100, 100, 45])
    }),
  },

  {
    title: 'a later signup adds nothing to the waiting removals of its person',
    run: inJournal(async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })])
      await deliver(journal)
      await forget(journal)
      await journal.intake.append([makeSignup({ email: ada, receivedAt: noon })])
      await deliver(journal)
      expect(await journal.erasure.removals(0)).toMatchObject([{ position: nth(journal, 1) }])
      expect(await addressesIn(journal)).toEqual([ada])
    }),
  },

  {
    title: 'the log can be emptied when nothing was erased, and after something was',
    run: inJournal(async (journal) => {
      expect(await journal.erasure.scrub()).toBe(true)
      await journal.intake.append([makeSignup({ email: ada })])
      await forget(journal)
      expect(await journal.erasure.scrub()).toBe(true)
      expect(await journal.erasure.scrub()).toBe(true)
    }),
  },
]
