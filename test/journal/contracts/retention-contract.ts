import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeFullSignup, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { expiredFact } from '../../../src/journal/contracts/erasure.ts'
import { type ContractTest, inJournal, inTwo, none, nth, underPolicy } from './contract.ts'
import { addressesIn, forget } from './erasure-contract.ts'

const day = 24 * 60 * 60 * 1000
const noon = Date.UTC(2026, 10, 20, 12)
const [ada, bob] = ['ada@example.com', 'bob@example.com']

/** Writes what waits, in one batch that is settled at this time. */
async function deliverAt({ delivery }: Pick<Journal, 'delivery'>, at: number): Promise<void> {
  await delivery.settle((await freezeNext(delivery, { rowsMax: 1000 }))?.number ?? 0, at)
}

/** Expires all that was written before this time. Returns how many calls it took. */
async function expire({ retention }: Pick<Journal, 'retention'>, before: number): Promise<number> {
  let calls = 1
  while (await retention.expire(before)) calls += 1
  return calls
}

/** Cells of signups that were written long ago expire, and nothing else. */
export const retentionTests: readonly ContractTest[] = [
  {
    title:
      'cells of signups that were written before a time are gone; position, id, tab and time stay',
    run: inJournal(async (journal) => {
      const signup = makeFullSignup({ email: ada, fields: { company: 'Analytical Engines' } })
      await journal.intake.append([signup])
      await deliverAt(journal, noon)
      await journal.intake.append([makeSignup({ email: bob, sheetTab: 'News' })])
      await deliverAt(journal, noon + day)
      const before = await journal.intake.find(signup.id)
      expect(await journal.delivery.fact(expiredFact)).toBeUndefined()
      await expire(journal, noon)
      expect(await addressesIn(journal)).toEqual([ada, bob])
      await expire(journal, noon + 1)
      expect(await addressesIn(journal)).toEqual([bob])
      expect(await journal.intake.find(signup.id)).toEqual(before)
      expect(before).toMatchObject({ sheetTab: 'News', writtenAt: noon })
      expect(await journal.delivery.fact(expiredFact)).toBe(String(noon))
      expect(await journal.reader.backlog()).toBe(0)
    }),
  },

  {
    title: 'signups that wait, that are in a frozen batch or were released keep their cells',
    run: inJournal(async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })])
      const frozen = (await freezeNext(journal.delivery)) ?? none
      await journal.intake.append([makeSignup({ email: bob })])
      await expire(journal, Infinity)
      await journal.delivery.release(frozen)
      await expire(journal, Infinity)
      expect(await addressesIn(journal)).toEqual([ada, bob])
    }),
  },

  {
    title: 'one call expires at most twenty signups, and the last ones are not forgotten',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(50))
      await deliverAt(journal, noon)
      await journal.retention.expire(Infinity)
      expect(await addressesIn(journal)).toHaveLength(30)
      expect(await expire(journal, Infinity)).toBeLessThanOrEqual(4)
      expect(await addressesIn(journal)).toEqual([])
    }),
  },

  {
    title: 'two instances that expire at once expire each signup, and no other',
    run: inTwo(async (one, other) => {
      for (const at of [noon, noon + day]) {
        await one.intake.append(makeSignups(150))
        await deliverAt(one, at)
      }
      await Promise.all([expire(one, noon + 1), expire(other, noon + 1)])
      expect(await addressesIn(one)).toHaveLength(150)
    }),
  },

  {
    title:
      'while duplicates are ignored, a tab knows the addresses of expired signups, until a person is forgotten',
    run: underPolicy({ duplicates: 'ignore' }, async (journal) => {
      const rows = async () => {
        await journal.intake.append([
          makeSignup({ email: ada.toUpperCase(), sheetTab: 'News' }),
          makeSignup({ email: ada, sheetTab: 'Other' }),
          makeSignup({ email: bob, sheetTab: 'News' }),
        ])
        const batch = await freezeNext(journal.delivery)
        await journal.delivery.settle(batch?.number ?? 0, noon)
        await expire(journal, Infinity)
        return batch?.tabs.map(({ tab, signups }) => [tab, signups.length])
      }
      expect(await rows()).toEqual([
        ['News', 2],
        ['Other', 1],
      ])
      expect(await journal.imports.add([makeSignup({ email: ada, sheetTab: 'News' })])).toEqual([
        'known',
      ])
      expect(await rows()).toEqual([
        ['News', 0],
        ['Other', 0],
      ])
      await forget(journal, ada)
      expect(await rows()).toEqual([
        ['News', 1],
        ['Other', 1],
      ])
    }),
  },

  {
    title: 'unless duplicates are ignored, nothing of an expired address stays',
    run: async (world) => {
      {
        await using journal = await world.open()
        await journal.intake.append([makeSignup({ email: ada })])
        await deliverAt(journal, noon)
        await expire(journal, Infinity)
      }
      await using journal = await world.open({ duplicates: 'ignore' })
      await journal.intake.append([makeSignup({ email: ada })])
      expect((await freezeNext(journal.delivery))?.tabs[0]?.signups).toHaveLength(1)
    },
  },

  {
    title: 'what is released as a duplicate expires, also when its batch has expired before',
    run: underPolicy({ duplicates: 'ignore', holdsSuspects: true }, async (journal) => {
      await journal.intake.append([makeSignup({ email: ada, suspect: ['links'] })])
      await journal.intake.append([makeSignup({ email: ada })])
      await deliverAt(journal, noon)
      await expire(journal, Infinity)
      const held = (await journal.reader.held(0, 9)).map(({ position }) => position)
      await journal.quarantine.release(held, noon + day)
      await expire(journal, Infinity)
      expect(await addressesIn(journal), 'until its batch is written').toEqual([ada])
      const batch = await freezeNext(journal.delivery)
      expect(batch?.tabs.map(({ signups }) => signups)).toEqual([[]])
      await journal.delivery.settle(batch?.number ?? 0, noon + day)
      await expire(journal, noon + day)
      expect(await addressesIn(journal)).toEqual([ada])
      await expire(journal, Infinity)
      expect(await addressesIn(journal)).toEqual([])
      expect((await journal.reader.figures()).all).toMatchObject({ accepted: 2, written: 2 })
    }),
  },

  {
    title: 'a forgotten person whose row waits to be removed is not lost by expiry',
    run: inJournal(async (journal) => {
      await journal.intake.append([makeSignup({ email: ada })])
      await deliverAt(journal, noon)
      await forget(journal, ada)
      await expire(journal, Infinity)
      expect(await journal.erasure.removals(0)).toMatchObject([{ email: ada }])
    }),
  },

  {
    title: 'what a tombstone covers is erased and not expired, so its rows wait to be removed',
    run: inJournal(async (journal) => {
      const emails = [...Array.from({ length: 150 }, () => ada), bob, ada]
      await journal.intake.append(emails.map((email) => makeSignup({ email })))
      await deliverAt(journal, noon)
      await journal.erasure.forget(ada)
      await journal.intake.append([makeSignup({ email: ada })])
      await deliverAt(journal, noon)
      await expire(journal, Infinity)
      expect(await addressesIn(journal)).toEqual([])
      expect(await journal.erasure.unfinished()).toMatchObject({ removals: 151, frozen: 0 })
      const last = await journal.erasure.removals(nth(journal, 150))
      expect(last).toMatchObject([{ position: nth(journal, 152), email: ada }])
    }),
  },

  {
    title:
      'while duplicates are ignored, no hash stays of what a tombstone covers, and one of each later signup',
    run: underPolicy({ duplicates: 'ignore' }, async (journal) => {
      const rows = async () => {
        await journal.intake.append([makeSignup({ email: ada })])
        const batch = await freezeNext(journal.delivery)
        await journal.delivery.settle(batch?.number ?? 0, noon)
        return batch?.tabs[0]?.signups.length
      }
      expect([await rows(), await rows()]).toEqual([1, 0])
      await journal.erasure.forget(ada)
      await expire(journal, Infinity)
      expect(await journal.erasure.removals(0)).toMatchObject([{ position: nth(journal, 1) }])
      expect(await rows()).toBe(1)
      await expire(journal, Infinity)
      expect(await rows()).toBe(0)
      expect(await journal.erasure.removals(0)).toHaveLength(1)
    }),
  },
]
