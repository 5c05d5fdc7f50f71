import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import { guessedFact } from '../../../src/journal/tables/seats.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import { link } from './confirmation-contract.ts'
import { type ContractTest, inTwo, nth, resultsOf, underPolicy } from './contract.ts'
import { deliver, forget } from './erasure-contract.ts'
import { ask, confirming, noon } from './outbox-contract.ts'

const overflowTab = 'Waiting list'
const namedTabs = ['Sheet1', overflowTab]
/** Three seats, and a tab for those beyond. */
const three = { closing: { after: 3, overflowTab }, namedTabs } satisfies Partial<JournalPolicy>
/** Three seats, and nothing beyond. */
const threeOnly = { closing: { after: 3 } } satisfies Partial<JournalPolicy>
const ignoring = { ...three, duplicates: 'ignore' } satisfies Partial<JournalPolicy>

const one = (name: string, given: Partial<Signup> = {}) =>
  makeSignup({ email: `${name}@example.com`, receivedAt: noon, ...given })

/** Where each signup went, in the order of the request. */
async function append({ intake }: Pick<Journal, 'intake'>, ...signups: readonly Signup[]) {
  return resultsOf(await intake.append(signups)).map((told) => told?.sheetTab)
}

async function taken({ reader }: Pick<Journal, 'reader'>): Promise<number> {
  return reader.seatsTaken()
}

async function openness({ intake }: Pick<Journal, 'intake'>, now = noon) {
  // Each instance looks for itself.
  for (let instance = 0; instance < 6; instance++) await intake.lookAtSeats()
  return intake.openness(now)
}

async function addresses({ reader }: Pick<Journal, 'reader'>): Promise<Record<string, string[]>> {
  const all = (await reader.page(0, 10_000)).map(({ signup }) => signup)
  return addressesOf({
    ...{ number: 0, marker: 0, fingerprint: '' },
    tabs: Array.from(
      Map.groupBy(all, ({ sheetTab }) => sheetTab),
      ([tab, signups]) => ({ tab, signups }),
    ),
  })
}

/** The first signups that count get the seats. */
export const seats: readonly ContractTest[] = [
  {
    title:
      'the first ones get the seats, also within one request, and later ones go to the overflow tab',
    run: underPolicy(three, async (journal) => {
      expect(await append(journal, one('a'), one('b'))).toEqual(['Sheet1', 'Sheet1'])
      expect(await openness(journal)).toBe('open')
      const rest = ['c', 'd', 'e'].map((name) => one(name, { sheetTab: 'News' }))
      expect(await append(journal, ...rest)).toEqual(['News', overflowTab, overflowTab])
      expect(await openness(journal)).toBe('overflow')
      expect(await append(journal, one('f'))).toEqual([overflowTab])
      expect(await taken(journal)).toBe(3)
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({
        Sheet1: ['a@example.com', 'b@example.com'],
        News: ['c@example.com'],
        [overflowTab]: ['d@example.com', 'e@example.com', 'f@example.com'],
      })
    }),
  },

  {
    title:
      'without an overflow tab those beyond are left out, and a repeated request is answered as it was',
    run: underPolicy(threeOnly, async (journal) => {
      const idempotency = { space: '', key: 'key', fingerprint: 'content' }
      const five = makeSignups(5, { receivedAt: noon })
      const first = await journal.intake.append(five, { idempotency })
      expect(resultsOf(first).map((told) => told?.id)).toEqual(five.slice(0, 3).map(({ id }) => id))
      const refused = { space: '', key: 'refused', fingerprint: 'content' }
      expect(await journal.intake.append([one('late')], { idempotency: refused })).toEqual({
        kind: 'appended',
        results: [],
      })
      expect(await openness(journal)).toBe('closed')
      expect(await journal.intake.knows(refused)).toBe(false)
      const again = await journal.intake.append(makeSignups(5), { idempotency })
      expect(again).toEqual({ kind: 'replayed', results: resultsOf(first) })
      expect(await journal.reader.backlog()).toBe(3)
    }),
  },

  {
    title: 'a signup whose tab is one too many takes no seat, and is told apart from those beyond',
    run: underPolicy({ ...threeOnly, newTabsMax: 1 }, async (journal) => {
      const idempotency = { space: '', key: 'key', fingerprint: 'content' }
      const tabs = ['A', 'B', 'A', 'A', 'A']
      const signups = tabs.map((sheetTab, index) => one(`p${index}`, { sheetTab }))
      const results = resultsOf(await journal.intake.append(signups, { idempotency }))
      expect(results.map((told) => told?.sheetTab)).toEqual(['A', undefined, 'A', 'A'])
      expect(await journal.intake.recall(idempotency)).toEqual({ kind: 'replayed', results })
    }),
  },

  {
    title:
      'seats are counted from the first signup on: not what is ignored, held or in the overflow tab, but what was erased',
    run: async (world) => {
      {
        await using before = await world.open({ duplicates: 'ignore', holdsSuspects: true })
        await append(before, one('a'), one('A'), one('x', { suspect: ['links'] }))
        await append(before, one('a'), one('gone'))
        await forget(before, 'gone@example.com')
        expect(await taken(before)).toBe(2)
      }
      await using journal = await world.open({ ...ignoring, holdsSuspects: true })
      expect(await append(journal, one('a'), one('A'), one('b'))).toEqual(Array(3).fill('Sheet1'))
      expect(await append(journal, one('c'), one('y', { suspect: ['links'] }))).toEqual([
        overflowTab,
        overflowTab,
      ])
      await forget(journal, 'b@example.com')
      expect(await append(journal, one('d'))).toEqual([overflowTab])
      expect(await taken(journal)).toBe(3)
    },
  },

  {
    title:
      'what was in a tab before it became the overflow tab takes no seat, however often it starts',
    run: async (world) => {
      const later = { sheetTab: overflowTab }
      {
        await using journal = await world.open()
        await append(journal, one('a'), one('b', later), one('c', later))
        expect(await taken(journal)).toBe(3)
      }
      for (const policy of [three, threeOnly, three]) {
        await using journal = await world.open(policy)
        expect(await taken(journal)).toBe(1)
      }
    },
  },

  {
    title: 'when all seats are taken, who has one or waits already gets the same answer and no row',
    run: underPolicy(ignoring, async (journal) => {
      const news = { sheetTab: 'News' }
      await append(journal, one('a'), one('b', news), one('c'))
      const again = [one('A'), one('b'), one('d'), one('c', news), one('D'), one('d', news)]
      const answer = await journal.intake.append(again)
      expect(answer).toMatchObject({ duplicates: 5 })
      expect(new Set(resultsOf(answer).map((told) => told?.sheetTab))).toEqual(
        new Set([overflowTab]),
      )
      expect(await append(journal, one('d'), one('b'))).toEqual([overflowTab, overflowTab])
      expect(addressesOf(await freezeNext(journal.delivery))[overflowTab]).toEqual([
        'd@example.com',
      ])
      expect(await taken(journal)).toBe(3)
    }),
  },

  {
    title: 'whoever is on the list within the request that takes the last seat waits for none',
    run: underPolicy(ignoring, async (journal) => {
      const tabs = await append(
        journal,
        ...['a', 'b', 'a', 'c', 'a', 'd', 'd'].map((it) => one(it)),
      )
      expect(tabs).toEqual([
        ...Array<string>(4).fill('Sheet1'),
        ...Array<string>(3).fill(overflowTab),
      ])
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({
        Sheet1: ['a', 'b', 'c'].map((it) => `${it}@example.com`),
        [overflowTab]: ['d@example.com'],
      })
    }),
  },

  {
    title:
      'from its closing time on it takes nothing, not even into the overflow tab, and answers what it has answered',
    run: underPolicy({ ...three, closing: { ...three.closing, at: noon } }, async (journal) => {
      const idempotency = { space: '', key: 'key', fingerprint: 'content' }
      const early = one('a', { receivedAt: noon - 1 })
      const first = resultsOf(await journal.intake.append([early], { idempotency }))
      expect(await append(journal, one('b'))).toEqual([])
      expect(await openness(journal, noon - 1)).toBe('open')
      expect(await openness(journal)).toBe('closed')
      const again = await journal.intake.append([one('a')], { idempotency })
      expect(again).toEqual({ kind: 'replayed', results: first })
      expect(resultsOf(await ask(journal, { receivedAt: noon }))).toEqual([])
    }),
  },

  {
    title: 'when all instances append at once, exactly as many get a seat as there are',
    run: inTwo(
      async (...journals) => {
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, round) => {
            const journal = journals[round % 2] ?? expect.fail()
            return append(journal, ...makeSignups(1 + (round % 4), { receivedAt: noon }))
          }),
        )
        const told = answers.flat()
        expect(told.filter((tab) => tab === 'Sheet1')).toHaveLength(50)
        expect(told.filter((tab) => tab === overflowTab)).toHaveLength(100)
        const rows = await addresses(journals[0])
        expect([rows['Sheet1']?.length, rows[overflowTab]?.length]).toEqual([50, 100])
      },
      { ...three, closing: { after: 50, overflowTab } },
    ),
  },

  {
    title:
      'what is asked for when all seats are taken waits for the overflow tab, and so does who confirms too late',
    run: underPolicy({ ...ignoring, ...confirming }, async (journal) => {
      await ask(journal, { email: 'late@example.com' })
      const late = await link(journal)
      await journal.imports.add([one('a'), one('b'), one('c')])
      const told = resultsOf(await ask(journal, { email: 'a@example.com' }))
      expect(told).toMatchObject([{ beside: 'pending', sheetTab: overflowTab }])
      const again = await link(journal)
      for (const message of [late, again]) {
        const state = await journal.confirmation.confirm(message, noon)
        expect(state).toMatchObject({ state: 'confirmed', overflow: true })
        expect(await journal.confirmation.look(message, noon)).toEqual(state)
      }
      const batch = addressesOf(await freezeNext(journal.delivery))
      expect(batch[overflowTab]).toEqual(['late@example.com'])
      expect(await taken(journal)).toBe(3)
    }),
  },

  {
    title:
      'the last seat goes to whoever confirms first, and without an overflow tab the other one stays pending',
    run: underPolicy({ ...threeOnly, ...confirming }, async (journal) => {
      await append(journal, one('a'), one('b'))
      const links = []
      for (const name of ['c', 'd']) {
        await ask(journal, { email: `${name}@example.com` })
        links.push(await link(journal))
      }
      const confirm = async (message: string) =>
        (await journal.confirmation.confirm(message, noon))?.state
      const states = await Promise.all(links.map(confirm))
      expect(states.toSorted()).toEqual(['closed', 'confirmed'])
      expect(await journal.reader.pending(0, 10)).toHaveLength(1)
      expect(await confirm(links[states.indexOf('closed')] ?? '')).toBe('closed')
      expect(resultsOf(await ask(journal, { email: 'e@example.com' }))).toEqual([])
    }),
  },

  {
    title: 'what was asked for before the closing time can be confirmed after it',
    run: async (world) => {
      const asked = async () => {
        await using journal = await world.open(confirming)
        await ask(journal)
        return await link(journal)
      }
      const message = await asked()
      await using journal = await world.open({ ...confirming, closing: { at: noon } })
      expect((await journal.confirmation.confirm(message, noon + 1))?.state).toBe('confirmed')
    },
  },

  {
    title:
      'imports and releases are never refused: they take seats beyond the last one, but none in the overflow tab',
    run: underPolicy({ ...three, holdsSuspects: true }, async (journal) => {
      const held = [
        ...(await append(journal, one('x', { suspect: ['links'] }), one('a'), one('b'))),
        ...(await append(journal, one('c'), one('y', { suspect: ['links'] }))),
      ]
      expect(held).toEqual([...Array<string>(4).fill('Sheet1'), overflowTab])
      const brought = [one('i'), one('j'), one('k', { sheetTab: overflowTab.toUpperCase() })]
      expect(await journal.imports.add(brought)).toEqual(Array(3).fill('added'))
      expect(await taken(journal)).toBe(5)
      const positions = (await journal.reader.held(0, 10)).map(({ position }) => position)
      expect(await journal.quarantine.release(positions, noon)).toMatchObject({ signups: 2 })
      expect(await taken(journal)).toBe(6)
      expect(await append(journal, one('d'))).toEqual([overflowTab])
    }),
  },

  {
    title: 'a released duplicate takes no seat',
    run: underPolicy({ ...ignoring, holdsSuspects: true }, async (journal) => {
      await append(journal, one('a', { suspect: ['links'] }), one('a'))
      await journal.quarantine.release([nth(journal, 1)], noon)
      expect(await taken(journal)).toBe(1)
    }),
  },

  {
    title: 'when all seats are taken, no tab is made that a signup names',
    run: underPolicy({ ...three, newTabsMax: 0 }, async (journal) => {
      await append(journal, one('a'), one('b'), one('c'))
      expect(await append(journal, one('d', { sheetTab: 'News' }))).toEqual([overflowTab])
      await deliver(journal)
      expect((await journal.delivery.pending()).map(({ name }) => name)).toEqual([])
    }),
  },

  {
    title:
      'signups that only the spreadsheet has take seats, but not those in the overflow tab, and none gives one back that was known',
    run: underPolicy(three, async ({ compared, delivery, ...journal }) => {
      await append(journal, one('a'))
      const rows = [
        ['Sheet1', 1],
        [overflowTab.toLowerCase(), 7],
      ] as const
      await compared.noteLost(new Map(rows))
      expect(await append(journal, one('b'), one('c'))).toEqual(['Sheet1', overflowTab])
      await compared.noteLost(new Map([['Sheet1', 2]]))
      expect(await taken(journal)).toBe(4)
      await compared.noteLost(new Map([['Sheet1', 1]]))
      expect(await taken(journal)).toBe(4)
      await delivery.noteFact(guessedFact, '')
      for (const count of [1, 0]) {
        await compared.noteLost(new Map([['Sheet1', count]]))
        expect(await taken(journal)).toBe(3)
      }
    }),
  },

  {
    title: 'what went to the overflow tab while a seat was left takes none',
    run: underPolicy(ignoring, async ({ compared, delivery, ...journal }) => {
      await append(journal, one('a', { sheetTab: 'News' }))
      await compared.noteLost(new Map([['Sheet1', 2]]))
      expect(await openness(journal)).toBe('overflow')
      await delivery.noteFact(guessedFact, '')
      await compared.noteLost(new Map())
      expect(await append(journal, one('b'), one('a'))).toEqual([overflowTab, overflowTab])
      expect(await taken(journal)).toBe(1)
      expect(await openness(journal)).toBe('open')
      expect(await append(journal, one('c'), one('d'), one('e'))).toEqual([
        ...['Sheet1', 'Sheet1'],
        overflowTab,
      ])
      expect(addressesOf(await freezeNext(delivery))[overflowTab]).toEqual([
        'b@example.com',
        'e@example.com',
      ])
    }),
  },
]
