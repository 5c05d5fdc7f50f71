import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup } from '../../../harness/make-signup.ts'
import { type ContractTest, nth, underPolicy } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const ignoring = { duplicates: 'ignore' } as const

/** The operator may have duplicates ignored. */
export const duplicateSignups: readonly ContractTest[] = [
  {
    title: 'an ignored duplicate can be found and counts as written, but no batch has a row for it',
    run: underPolicy(ignoring, async (journal) => {
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
    }),
  },

  {
    title: 'a signup is a duplicate when address and tab are the same, letter case aside',
    run: underPolicy(ignoring, async (journal) => {
      const appended = await journal.intake.append([
        makeSignup({ email: 'Ada@example.com', sheetTab: 'News', name: 'first' }),
        makeSignup({ email: 'aDA@example.com', sheetTab: 'news' }),
        makeSignup({ email: 'ada@example.com', sheetTab: 'Events' }),
        makeSignup({ email: 'ada+x@example.com', sheetTab: 'NEWS' }),
      ])
      expect(appended).toMatchObject({ kind: 'appended', duplicates: 1 })
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({
        News: ['Ada@example.com', 'ada+x@example.com'],
        Events: ['ada@example.com'],
      })
    }),
  },

  {
    title:
      'a batch of nothing but duplicates is frozen without rows, and a restart does not change that',
    run: async (world) => {
      let frozen
      {
        await using journal = await world.open(ignoring)
        await journal.intake.append([makeSignup()])
        await journal.delivery.settle((await freezeNext(journal.delivery))?.number ?? 0, noon)
        await journal.intake.append([makeSignup()])
        frozen = await freezeNext(journal.delivery)
        expect(frozen?.tabs).toEqual([{ tab: 'Sheet1', signups: [] }])
      }
      // A new policy does not change a frozen batch.
      await using journal = await world.open({ duplicates: 'append' })
      expect(await journal.delivery.frozenBatch()).toEqual(frozen)
      await journal.delivery.settle(frozen?.number ?? 0, noon)
      expect(await freezeNext(journal.delivery)).toBeUndefined()
      expect(await journal.reader.backlog()).toBe(0)
    },
  },

  {
    title:
      'signups from before the policy was set make later ones duplicates, and no switch loses a signup',
    run: async (world) => {
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
    },
  },

  {
    title: 'everybody from before the policy was set is known, however many they are',
    run: async (world) => {
      const before = Array.from({ length: 1_203 }, (_, n) =>
        makeSignup({ email: `a${n}@example.com` }),
      )
      await using other = await world.open()
      await other.intake.append(before)
      await using journal = await world.open(ignoring)
      const again = [0, 499, 500, 1_202].map((n) => makeSignup({ email: `A${n}@example.com` }))
      expect(await journal.intake.append(again)).toMatchObject({ duplicates: 4 })
      expect(await journal.reader.positionsOf('a500@example.com', 0)).toMatchObject({
        positions: [nth(journal, 501), nth(journal, 1_206)],
        next: undefined,
      })
    },
  },
]
