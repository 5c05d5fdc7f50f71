import { expect } from 'vitest'

import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { Share } from '../../../src/journal/contracts/reader.ts'
import type { SitesWorld } from '../second-site.ts'
import type { ContractTest } from './contract.ts'
import { forget, noon } from './erasure-contract.ts'
import { inTwoSites } from './sites-contract.ts'

const dayMs = 24 * 60 * 60 * 1000

async function shares({ reader }: Pick<Journal, 'reader'>, to = noon) {
  const all = await reader.shares(noon, to)
  const of = (kind: Share['kind']) =>
    all.filter((it) => it.kind === kind).map(({ name, count }) => ({ name, count }))
  return { tabs: of('tab'), sources: of('source') }
}

/** How signups are counted by tab and source, behind the append. */
export const sharesTests: readonly ContractTest<SitesWorld>[] = [
  {
    title:
      'signups are counted once by tab and source, by day and all together, however many instances count',
    run: async (world) => {
      const policies = new Map(['news', 'shop'].map((name) => [name, { holdsSuspects: true }]))
      await using one = await world.openSites(policies)
      await using other = await world.openSites(policies)
      const [news = expect.fail(), shop = expect.fail()] = [...one.sites.values()]
      const signup = (source: string, sheetTab = 'A', days = 0) =>
        makeSignup({ source, sheetTab, receivedAt: noon + days * dayMs })
      const held = { ...signup('held'), suspect: ['links'] as const }
      await news.intake.append([
        ...makeSignups(2_500, { source: 'ad', sheetTab: 'A', receivedAt: noon }),
        held,
      ])
      await news.intake.append([signup('', 'B'), signup('ad', 'A', 1), signup('x'.repeat(65))])
      await shop.intake.append([signup('ada@example.com', 'A')])
      expect(await one.countNext()).toBe(true)
      await Promise.all([one, other, one, other].map((journal) => journal.countNext()))
      expect(await other.countNext()).toBe(false)
      const { tabs, sources } = await shares(news)
      expect(tabs).toEqual([
        { name: 'A', count: 2_501 },
        { name: 'B', count: 1 },
      ])
      expect(sources).toHaveLength(3)
      expect(sources).toContainEqual({ name: undefined, count: 1 })
      expect(sources).toContainEqual({ name: '', count: 1 })
      expect(await news.reader.shares()).toContainEqual({
        ...{ kind: 'source', name: 'ad', count: 2_501 },
      })
      const all = await shares(other.sites.get('news') ?? expect.fail(), noon + dayMs)
      expect(all.sources[0]).toEqual({ name: 'ad', count: 2_501 })
      expect(await shares(shop)).toEqual({
        tabs: [{ name: 'A', count: 1 }],
        sources: [{ name: undefined, count: 1 }],
      })
      const [{ position } = expect.fail()] = await news.reader.held(0, 1)
      await news.quarantine.release([position], noon)
      while (await one.countNext());
      const after = await shares(news)
      expect(after.sources).toContainEqual({ name: 'held', count: 1 })
    },
  },

  {
    title:
      'the first hundred sources of a site keep their names, and all later ones count as others',
    run: inTwoSites(async (news, shop, journal) => {
      const named = (from: number, count: number) =>
        Array.from({ length: count }, (_, at) =>
          makeSignup({ source: `source ${from + at}`, receivedAt: noon }),
        )
      await news.intake.append(named(0, 99))
      while (await journal.countNext());
      await news.intake.append([...named(200, 3), ...named(0, 2)])
      await shop.intake.append(named(300, 1))
      while (await journal.countNext());
      const { sources } = await shares(news)
      expect(sources).toHaveLength(101)
      expect(sources.slice(0, 3).map(({ count }) => count)).toEqual([2, 2, 2])
      expect(sources).toContainEqual({ name: undefined, count: 2 })
      expect(sources).toContainEqual({ name: 'source 200', count: 1 })
      expect((await shares(shop)).sources).toHaveLength(1)
    }),
  },

  {
    title:
      'an erased signup still counts for its tab, and one that is erased before it is counted has no source',
    run: inTwoSites(async (news, _, journal) => {
      const append = () => news.intake.append([makeSignup({ source: 'ad', receivedAt: noon })])
      for (const _ of [1, 2]) {
        await append()
        await forget(news, 'ada@example.com')
        while (await journal.countNext());
      }
      const { tabs, sources } = await shares(news)
      expect(tabs).toEqual([{ name: 'Sheet1', count: 2 }])
      expect(sources).toEqual([{ name: '', count: 2 }])
    }),
  },
]
