import { expect } from 'vitest'

import { freezeNext, markerIdMax } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal, JournalPolicy, OpenJournal } from '../../../src/journal/contracts/journal.ts'
import type { RecentChoice } from '../../../src/journal/contracts/reader.ts'
import { type ContractTest, none } from './contract.ts'
import { ada, ask, claim, confirming, send } from './outbox-contract.ts'
import type { SitesWorld } from '../second-site.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60_000

/** What two sites of one open journal have for themselves, and what they share. */
export const sitesTests: readonly ContractTest<SitesWorld>[] = [
  {
    title: 'the newest signups of a site are its own, in each state',
    run: inTwoSites(
      async (news, shop) => {
        const suspect = { suspect: ['stamp' as const], receivedAt: noon }
        for (const { intake } of [news, shop]) {
          await intake.append([makeSignup(), makeSignup(suspect)])
          await ask({ intake })
          await ask({ intake }, suspect)
        }
        const seen = async (journal: Journal, choice: RecentChoice) => {
          const { signups } = await journal.reader.recent(choice)
          return signups.map((it) => it.state)
        }
        for (const site of [news, shop]) {
          expect(await seen(site, {})).toEqual(['held', 'waiting'])
          expect(await seen(site, { isBeside: true })).toEqual(['held', 'pending'])
          expect(await seen(site, { state: 'waiting' })).toEqual(['waiting'])
          expect(await seen(site, { state: 'held' })).toEqual(['held'])
          expect(await seen(site, { state: 'held', isBeside: true })).toEqual(['held'])
          expect(await seen(site, { state: 'pending', isBeside: true })).toEqual(['pending'])
          const { pending } = await site.confirmation.ofPerson(ada)
          expect(pending.map(({ signup }) => signup.suspect)).toEqual([undefined, ['stamp']])
        }
      },
      { ...confirming, holdsSuspects: true },
    ),
  },

  {
    title: 'what one site holds, in the list or beside it, another one neither sees nor decides on',
    run: inTwoSites(
      async (news, shop) => {
        const suspect = ['stamp' as const]
        await news.intake.append([makeSignup({ suspect })])
        await ask(news, { suspect })
        const held = await news.reader.held(0, 9)
        expect(held).toHaveLength(2)
        const positions = held.map(({ position }) => position)
        expect(await shop.reader.held(0, 9)).toEqual([])
        expect(await shop.reader.held(-99, 9)).toEqual([])
        expect(await shop.quarantine.find(held.map(({ signup }) => signup.id))).toEqual([])
        expect(await shop.quarantine.release(positions, noon)).toEqual({ signups: 0, frozen: [] })
        expect(await shop.quarantine.erase(positions)).toBe(0)
        expect(await news.reader.held(0, 9)).toEqual(held)
      },
      { ...confirming, holdsSuspects: true },
    ),
  },

  {
    title: 'who is on the list of one site is not told so by a mail of another',
    run: inTwoSites(async (news, shop) => {
      await news.intake.append([makeSignup({ email: ada })])
      await ask(shop)
      expect(await claim(shop)).toMatchObject([{ isListed: false }])
    }, confirming),
  },

  {
    title: 'a mailbox gets six mails a day of all sites together, however it is spelled',
    run: async (world) => {
      const names = ['news', 'shop', 'blog']
      await using opened = await world.openSites(new Map(names.map((name) => [name, confirming])))
      const sent: number[] = []
      const sendAll = async (at: number) => {
        for (const [name, site] of opened.sites) {
          const email = `a.da+${name}-${at}@googlemail.com`
          await ask(site, { email, sheetTab: `Tab ${at}` }, name, noon + at * minute)
          if ((await send(site, noon + at * minute)).length > 0) sent.push(at)
        }
      }
      for (let at = 0; at < 120; at += 15) await sendAll(at)
      for (const at of [24 * 60 - 1, 24 * 60]) await sendAll(at)
      expect(sent).toEqual([0, 15, 30, 45, 60, 75, 24 * 60])
    },
  },

  {
    title:
      'who is on the list of one site gets a row on the waiting list of another, wherever they are',
    run: inTwoSites(
      async (news, shop) => {
        for (const sheetTab of ['A', 'B', 'C']) {
          await news.intake.append([makeSignup({ email: ada, sheetTab })])
        }
        await shop.intake.append(makeSignups(3))
        const late = await shop.intake.append([makeSignup({ email: ada })])
        expect(late).toMatchObject({ results: [{ sheetTab: 'Waiting' }] })
        expect(late).not.toHaveProperty('duplicates')
        const again = await news.intake.append([makeSignup({ email: ada })])
        expect(again).toMatchObject({ results: [{ sheetTab: 'Waiting' }], duplicates: 1 })
      },
      { duplicates: 'ignore', closing: { after: 3, overflowTab: 'Waiting' } },
    ),
  },

  {
    title: 'each site has its own backlog, tabs, batch and pages',
    run: inTwoSites(async (news, shop) => {
      await news.intake.append(makeSignups(2, { email: 'news@example.com' }))
      await shop.intake.append([makeSignup({ email: 'shop@example.com' })])
      expect([await news.reader.backlog(), await shop.reader.backlog()]).toEqual([2, 1])
      expect(await shop.reader.waitingSince([])).toBe(makeSignup().receivedAt)
      expect((await shop.delivery.pending()).length).toBe(1)
      expect((await shop.reader.page(0, 10)).map(({ signup }) => signup.email)).toEqual([
        'shop@example.com',
      ])

      const batch = await freezeNext(news.delivery)
      const other = await freezeNext(shop.delivery)
      expect(addressesOf(other)).toEqual({ Sheet1: ['shop@example.com'] })
      expect((await news.delivery.frozen())?.number).toBe(batch?.number)
      await news.delivery.settle(batch?.number ?? 0, noon)
      expect([await news.reader.backlog(), await shop.reader.backlog()]).toEqual([0, 1])
      expect(await news.reader.waitingSince([])).toBeUndefined()
      expect(await shop.intake.cursors(['Sheet1'])).toEqual([{ tab: 'Sheet1', upto: 0 }])
      expect(await shop.reader.waitingSince([])).toBe(makeSignup().receivedAt)
    }),
  },

  {
    title: 'a site can neither end the batch of another site nor see its markers',
    run: inTwoSites(async (news, shop) => {
      await news.intake.append(makeSignups(2))
      const batch = (await freezeNext(news.delivery, { rowsMax: 1 })) ?? none
      await expect(shop.delivery.settle(batch.number, noon)).rejects.toThrow('not frozen')
      await expect(shop.delivery.release(batch)).rejects.toThrow('not frozen')
      await expect(shop.delivery.remark(batch, markerIdMax)).rejects.toThrow('not frozen')
      await expect(shop.delivery.noteFound(batch)).rejects.toThrow('not frozen')
      await shop.intake.append(makeSignups(1))
      const ours = (await freezeNext(shop.delivery)) ?? none
      await news.delivery.settle(batch.number, noon)
      expect(await shop.delivery.frozen()).toEqual({ number: ours.number, marker: ours.marker })

      expect(await shop.delivery.endedMarkers()).toEqual([])
      expect(await shop.delivery.markerCount()).toBe(1)
      await shop.delivery.forgetMarkers([batch.marker])
      expect(await news.delivery.endedMarkers()).toMatchObject([{ id: batch.marker }])
    }),
  },

  {
    title: 'a site whose marker id is taken gets other ids, and the ids of other sites go on',
    run: inTwoSites(async (news, shop) => {
      const freeze = async ({ intake, delivery }: Journal) => {
        await intake.append(makeSignups(1))
        return (await freezeNext(delivery)) ?? none
      }
      const first = await freeze(news)
      await news.delivery.settle(first.number, noon)
      const taken = await freeze(shop)
      const other = await shop.delivery.remark(taken, markerIdMax)
      expect(other.marker).not.toBe(taken.marker)
      const second = await freeze(news)
      const passed = second.number - first.number
      expect(second.marker).toBe(((first.marker + passed - 1) % markerIdMax) + 1)
    }),
  },

  {
    title: 'a site takes in a marker of its own, although another site has one of that id',
    run: inTwoSites(async (news, shop) => {
      const freeze = async ({ intake, delivery }: Journal) => {
        await intake.append(makeSignups(1))
        return (await freezeNext(delivery)) ?? expect.fail()
      }
      const { marker } = await freeze(news)
      const { fingerprint } = await freeze(shop)
      await shop.delivery.adoptMarkers([{ marker, fingerprint }])
      expect((await shop.delivery.endedMarkers()).map(({ id }) => id)).toEqual([marker])
    }),
  },

  {
    title: 'a site whose signups were all refused hears of no append of another site',
    run: async (world) => {
      const policies = new Map([
        ['news', {}],
        ['shop', { newTabsMax: 0 }],
      ])
      await using opened = await world.openSites(policies)
      const [news, shop] = [opened.sites.get('news'), opened.sites.get('shop')]
      const heard: unknown[] = []
      shop?.delivery.onAppend((added) => heard.push(added))
      await Promise.all([
        news?.intake.append(makeSignups(1)),
        shop?.intake.append(makeSignups(1, { sheetTab: 'New' })),
      ])
      expect(heard).toEqual([])
    },
  },

  {
    title: 'two sites can use one marker id, and each notes a life for its own',
    run: inTwoSites(async (news, shop) => {
      for (const { intake, delivery } of [news, shop]) {
        await intake.append(makeSignups(1))
        const [tab = expect.fail()] = await delivery.pending()
        const { number } = await delivery.freeze([{ tab, ...(await delivery.waiting(tab)) }], 1)
        await delivery.settle(number, noon)
      }
      const keepMs = new Map([[1, 500]])
      await news.delivery.noteRunningTime({ by: 'process', ms: 0, seen: undefined, keepMs })
      expect(await news.delivery.endedMarkers()).toMatchObject([{ id: 1, prunableAt: 500 }])
      expect(await shop.delivery.endedMarkers()).toMatchObject([{ id: 1, prunableAt: undefined }])
    }),
  },

  {
    title: 'running time is counted for each site on its own',
    run: inTwoSites(async (news, shop) => {
      const note = { by: 'process', keepMs: new Map<number, number>() }
      const began = await news.delivery.noteRunningTime({ ...note, ms: 0, seen: undefined })
      expect(await news.delivery.noteRunningTime({ ...note, ms: 500, seen: began })).toMatchObject({
        ms: 500,
      })
      expect(
        await shop.delivery.noteRunningTime({ ...note, ms: 0, seen: undefined }),
      ).toMatchObject({
        ms: 0,
      })
    }),
  },

  {
    title: 'an idempotency key and a fact belong to one site',
    run: inTwoSites(async (news, shop) => {
      const idempotency = { space: '', key: 'key', fingerprint: 'content' }
      await news.intake.append([makeSignup()], { idempotency })
      expect(await shop.intake.knows(idempotency)).toBe(false)
      expect(await shop.intake.append([makeSignup()], { idempotency })).toMatchObject({
        kind: 'appended',
      })
      await news.delivery.noteFact('colour', 'blue')
      expect(await shop.delivery.fact('colour')).toBeUndefined()
    }),
  },

  {
    title: 'a challenge token is good for one append at all sites together',
    run: inTwoSites(async (news, shop) => {
      await news.intake.append([makeSignup()], { token: 'digest' })
      expect(await shop.intake.append([makeSignup()], { token: 'digest' })).toEqual({
        kind: 'tokenUsed',
      })
    }),
  },

  {
    title: 'the tabs of one site do not count against the limit of another',
    run: inTwoSites(
      async (news, shop) => {
        const client = '192.0.2.1'
        await news.intake.append([makeSignup({ sheetTab: 'One', receivedAt: noon })], { client })
        expect(await news.intake.takesTab('Two', noon, client)).toBe(false)
        expect(await shop.intake.takesTab('Two', noon, client)).toBe(true)
        expect(await shop.intake.takesTab('One', noon, client)).toBe(true)
      },
      { newTabsMax: 1, newTabsPerHourMax: 1 },
    ),
  },

  {
    title: 'a status is found in its own site only',
    run: inTwoSites(async (news, shop) => {
      const signup = makeSignup()
      await news.intake.append([signup])
      expect(await news.intake.find(signup.id)).toMatchObject({ id: signup.id })
      expect(await shop.intake.find(signup.id)).toBeUndefined()
    }),
  },

  {
    title:
      'a webhook is told of the signups of its own site only, also when one is asked for by its id',
    run: inTwoSites(async (news, shop) => {
      const [ours, theirs] = [makeSignup(), makeSignup()]
      for (const { webhooks } of [news, shop]) await webhooks.follow(['crm'], noon)
      await news.intake.append([ours])
      await shop.intake.append([theirs])
      const { messages } = await news.webhooks.next('crm', 0, noon)
      expect(messages.map(({ signup }) => signup.id)).toEqual([ours.id])
      expect(await news.webhooks.replay('crm', theirs.id)).toBe(false)
      expect((await news.webhooks.next('crm', 0, noon)).messages).toHaveLength(1)
    }),
  },

  {
    title: 'two sites that look for work at once see their own each',
    run: inTwoSites(async (news, shop) => {
      const both = [news, shop]
      await news.intake.append(makeSignups(2, { sheetTab: 'News' }))
      await shop.intake.append(makeSignups(1, { sheetTab: 'Shop' }))
      const pending = await Promise.all(both.map(({ delivery }) => delivery.pending()))
      expect(pending).toMatchObject([[{ name: 'News' }], [{ name: 'Shop' }]])

      const batch = (await freezeNext(shop.delivery)) ?? none
      await shop.delivery.settle(batch.number, noon)
      const [{ signup, position } = expect.fail()] = await shop.reader.page(0, 9)
      await shop.erasure.forget(signup.email)
      await shop.erasure.eraseNext(0, signup.email)
      const removals = await Promise.all(both.map(({ erasure }) => erasure.removals(0)))
      expect(removals).toMatchObject([[], [{ position }]])

      await news.delivery.noteFact('colour', 'blue')
      const facts = await Promise.all(both.map(({ delivery }) => delivery.fact('colour')))
      expect(facts).toEqual(['blue', undefined])
    }),
  },
]

/** A test with the journals of two sites. */
export function inTwoSites(
  story: (news: Journal, shop: Journal, opened: OpenJournal) => Promise<void>,
  policy: Partial<JournalPolicy> = {},
): ContractTest<SitesWorld>['run'] {
  return async (world) => {
    await using opened = await world.openSites(
      new Map([
        ['news', policy],
        ['shop', policy],
      ]),
    )
    const [news, shop] = [opened.sites.get('news'), opened.sites.get('shop')]
    if (!news || !shop) throw new Error('the journal has not both sites')
    await story(news, shop, opened)
  }
}
