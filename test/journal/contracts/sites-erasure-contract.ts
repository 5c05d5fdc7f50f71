import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeSignup } from '../../../harness/make-signup.ts'
import { restoredFact } from '../../../src/journal/contracts/delivery-log.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { expiredFact } from '../../../src/journal/contracts/erasure.ts'
import type { ContractTest } from './contract.ts'
import { ada, addressesIn, deliver, forget } from './erasure-contract.ts'
import type { SitesWorld } from '../second-site.ts'
import { inTwoSites } from './sites-contract.ts'

const ignoring = { duplicates: 'ignore' } as const

async function append({ intake }: Journal, ...emails: readonly string[]): Promise<void> {
  await intake.append(emails.map((email) => makeSignup({ email })))
}

async function expire({ retention }: Journal): Promise<void> {
  while (await retention.expire(Infinity));
}

/** Signs Ada up and delivers. Returns how many rows she gets. */
async function rowsOfAda(journal: Journal): Promise<number> {
  await append(journal, ada)
  const batch = (await freezeNext(journal.delivery)) ?? expect.fail()
  await journal.delivery.settle(batch.number, 1)
  return batch.tabs.flatMap(({ signups }) => signups).filter(({ email }) => email === ada).length
}

/** Who is forgotten at one site, or whose cells expire there, stays as they are at another site. */
export const sitesErasureTests: readonly ContractTest<SitesWorld>[] = [
  {
    title: 'a person who is forgotten at one site keeps signups and rows at another',
    run: inTwoSites(async (news, shop) => {
      for (const site of [news, shop]) {
        await append(site, ada)
        await deliver(site)
        await append(site, ada)
        await freezeNext(site.delivery)
        await append(site, ada)
      }
      expect(await forget(news)).toMatchObject({
        written: { length: 1 },
        frozen: { length: 1 },
        unwritten: 1,
      })
      expect(await addressesIn(news)).toEqual([])
      for (const address of [ada, undefined]) {
        expect(await shop.erasure.eraseNext(0, address)).toMatchObject({
          ...{ written: [], frozen: [], unwritten: 0 },
        })
      }
      expect(await shop.erasure.tombstones()).toEqual([])
      expect(await shop.erasure.removals(0)).toEqual([])
      expect(await shop.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
      expect(await news.erasure.unfinished()).toMatchObject({ removals: 1, frozen: 1 })
      const batch = await shop.delivery.frozen()
      await shop.delivery.settle(batch?.number ?? 0, 1)
      expect(await news.erasure.unfinished()).toMatchObject({ removals: 1, frozen: 1 })
      expect(await addressesIn(shop)).toEqual([ada, ada, ada])
    }),
  },

  {
    title: 'other sites are not searched for an address',
    run: inTwoSites(async (news, shop) => {
      const metadata = JSON.stringify({ friend: ada })
      await shop.intake.append([makeSignup({ email: 'bob@example.com', metadata })])
      await append(news, ada)
      await deliver(news)
      expect((await forget(news)).mentions).toBe(0)
    }),
  },

  {
    title: 'a tombstone that one site adopts is not one of another',
    run: inTwoSites(async (news, shop) => {
      await append(news, ada)
      await append(shop, ada)
      await news.erasure.forget(ada)
      await shop.erasure.adopt((await news.erasure.tombstones()).map((it) => ({ ...it, upto: 1 })))
      expect(await shop.erasure.tombstones()).toMatchObject([{ upto: 1 }])
      expect(await news.erasure.tombstones()).toMatchObject([{ upto: 2 }])
      await shop.erasure.eraseNext(0)
      expect(await addressesIn(shop), 'it came after the tombstone').toEqual([ada])
    }),
  },

  {
    title:
      'while duplicates are ignored, an address that one site forgets is still known to another',
    run: inTwoSites(async (news, shop) => {
      for (const site of [news, shop]) expect(await rowsOfAda(site)).toBe(1)
      await forget(news)
      expect([await rowsOfAda(news), await rowsOfAda(shop)]).toEqual([1, 0])
      for (const site of [news, shop]) await expire(site)
      expect([await rowsOfAda(news), await rowsOfAda(shop)]).toEqual([0, 0])
      // Now nothing but the kept hashes tells of her.
      for (const site of [news, shop]) await expire(site)
      await forget(news)
      expect([await rowsOfAda(news), await rowsOfAda(shop)]).toEqual([1, 0])
    }, ignoring),
  },

  {
    title: 'cells of another site do not expire, and its tombstones do not count when cells expire',
    run: inTwoSites(async (news, shop) => {
      for (const site of [news, shop]) expect(await rowsOfAda(site)).toBe(1)
      await news.erasure.forget(ada)
      await expire(shop)
      expect(await addressesIn(news)).toEqual([ada])
      expect(await news.delivery.fact(expiredFact)).toBeUndefined()
      expect(await addressesIn(shop)).toEqual([])
      expect(await shop.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
      await expire(news)
      expect(await news.erasure.unfinished()).toMatchObject({ removals: 1, frozen: 0 })
      expect([await rowsOfAda(news), await rowsOfAda(shop)]).toEqual([1, 0])
    }, ignoring),
  },

  ...(['add', 'preview'] as const).map((way) => ({
    title: `an import at one site (${way}) knows nobody of another, forgotten, expired or not`,
    run: inTwoSites(async (news, shop) => {
      for (const site of [news, shop]) await append(site, ada, 'bob@example.com')
      await append(news, 'eve@example.com', 'dan@example.com', 'fay@example.com')
      for (const email of [ada, 'fay@example.com']) await forget(news, email)
      await deliver(news)
      await expire(news)
      await append(news, 'eve@example.com')
      const people = () =>
        ['ada', 'bob', 'eve', 'dan', 'fay', 'new'].map((name) =>
          makeSignup({ email: `${name}@example.com` }),
        )
      expect(await news.imports[way](people())).toEqual([
        'forgotten',
        'known',
        'known',
        'known',
        'forgotten',
        'added',
      ])
      expect(await shop.imports[way](people())).toEqual([
        'known',
        'known',
        'added',
        'added',
        'added',
        'added',
      ])
    }, ignoring),
  })),

  {
    title: 'a signup that waits at one site has no row because another site was restored',
    run: inTwoSites(async (news, shop) => {
      for (const site of [news, shop]) await append(site, ada)
      await shop.delivery.noteFact(restoredFact, '2')
      expect(await forget(news)).toMatchObject({ written: [], unwritten: 1 })
      expect(await forget(shop)).toMatchObject({ written: [2], unwritten: 0 })
    }),
  },
]
