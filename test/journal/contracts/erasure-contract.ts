import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import {
  addressesOf,
  makeFullSignup,
  makeSignup,
  makeSignups,
} from '../../../harness/make-signup.ts'
import type { ErasedSlice } from '../../../src/journal/contracts/erasure.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import { type ContractTest, inJournal, inTwo, none, underPolicy, nth } from './contract.ts'

export const noon = Date.UTC(2026, 10, 20, 12)
export const ada = 'ada@example.com'
const bob = 'bob@example.com'

/** Forgets a person, slice by slice. Returns the sums. */
export async function forget(
  { erasure }: Pick<Journal, 'erasure'>,
  address = ada,
): Promise<Omit<ErasedSlice, 'next'>> {
  await erasure.forget(address)
  const sum = { unwritten: 0, written: [] as number[], frozen: [] as number[], mentions: 0 }
  for (let after: number | undefined = 0; after !== undefined;) {
    const { next, ...slice } = await erasure.eraseNext(after, address)
    sum.unwritten += slice.unwritten
    sum.mentions += slice.mentions
    sum.written.push(...slice.written)
    sum.frozen.push(...slice.frozen)
    after = next
  }
  return sum
}

const nothing = { unwritten: 0, written: [], frozen: [], mentions: 0 }

/** Writes all that waits. */
export async function deliver({ delivery }: Pick<Journal, 'delivery'>): Promise<void> {
  await delivery.settle((await freezeNext(delivery))?.number ?? 0, noon)
}

export async function addressesIn({ reader }: Pick<Journal, 'reader'>): Promise<string[]> {
  return (await reader.page(0, 10_000)).map(({ signup }) => signup.email)
}

function append({ intake }: Pick<Journal, 'intake'>, ...signups: Signup[]) {
  return intake.append(signups)
}

/** A person who is forgotten leaves the journal, and nobody else does. */
export const erasedSignups: readonly ContractTest[] = [
  {
    title: 'a signup that no batch holds is never written, and its cells are gone',
    run: inJournal(async (journal) => {
      const own = { sheetTab: 'Sheet1', fields: { company: 'Analytical Engines' } }
      const signup = makeFullSignup({ email: ada, ...own })
      await append(journal, signup, makeSignup({ email: bob }))
      expect(await forget(journal)).toEqual({ ...nothing, unwritten: 1 })
      const [tab = expect.fail()] = await journal.delivery.pending()
      const { signups } = await journal.delivery.waiting(tab)
      const { id, receivedAt } = signup
      const cells = { email: '', source: '', name: '', tags: [], metadata: '', fields: {} }
      expect(signups[0]?.signup).toEqual({ id, receivedAt, sheetTab: 'Sheet1', ...cells })
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({ Sheet1: [bob] })
      expect(await journal.erasure.removals(0)).toEqual([])
    }),
  },

  {
    title: 'a slice that is searched again finds what it found, and notes nothing twice',
    run: inJournal(async (journal) => {
      await append(journal, makeSignup({ email: ada }))
      await freezeNext(journal.delivery)
      await journal.erasure.forget(ada)
      for (let time = 0; time < 2; time++) {
        expect(await journal.erasure.eraseNext(0, ada)).toMatchObject({ frozen: [nth(journal, 1)] })
      }
    }),
  },

  {
    title: 'the figures count each erased signup once, in the hour of its erasure',
    run: inJournal(async (journal) => {
      const from = Date.now()
      await append(journal, makeSignup({ email: ada }), makeSignup({ email: ada }))
      await append(journal, makeSignup({ email: bob }))
      await freezeNext(journal.delivery, { rowsMax: 1 })
      await forget(journal)
      await forget(journal)
      await journal.delivery.settle((await journal.delivery.frozen())?.number ?? 0, noon)
      await forget(journal)
      await forget(journal, bob)
      const hours = await journal.reader.counted(['erased'], from, Date.now())
      expect(hours.reduce((sum, { count }) => sum + count, 0)).toBe(3)
      expect((await journal.reader.figures()).all.erased).toBe(3)
    }),
  },

  {
    title: 'a signup that is released from quarantine counts as none that was erased',
    run: underPolicy({ holdsSuspects: true }, async (journal) => {
      await append(journal, makeSignup({ suspect: ['links'] }))
      const [{ position } = expect.fail()] = await journal.reader.held(0, 1)
      await journal.quarantine.release([position], noon)
      expect((await journal.reader.figures()).all.erased).toBe(0)
    }),
  },

  {
    title: 'letter case does not count, and other addresses stay',
    run: inJournal(async (journal) => {
      const others = [bob, `x${ada}`, 'ada@example.co', 'ada@example.com.org']
      const emails = ['Ada@example.com', ...others, 'ADA@EXAMPLE.COM']
      await append(journal, ...emails.map((email) => makeSignup({ email })))
      expect(await forget(journal, 'aDa@example.com')).toEqual({ ...nothing, unwritten: 2 })
      expect(await addressesIn(journal)).toEqual(others)
    }),
  },

  {
    title:
      'a signup that a writer has read, but not yet frozen, is not written when it is erased meanwhile',
    run: inTwo(async (journal, other) => {
      await append(journal, makeSignup({ email: ada }), makeSignup({ email: bob }))
      const { delivery } = other
      const [tab = expect.fail()] = await delivery.pending()
      const { signups } = await delivery.waiting(tab)
      await forget(journal)
      const batch = await delivery.freeze([{ tab, signups }], 1000)
      expect(addressesOf(batch)).toEqual({ Sheet1: [bob] })
      expect(await journal.delivery.frozenBatch()).toEqual(batch)
    }),
  },

  {
    title:
      'a frozen batch keeps its contents, and its forgotten signup is erased when it is settled',
    run: inTwo(async (journal, other) => {
      await append(
        journal,
        makeSignup({ email: ada, receivedAt: noon }),
        makeSignup({ email: bob }),
      )
      const batch = (await freezeNext(other.delivery)) ?? none
      expect(await forget(journal)).toEqual({ ...nothing, frozen: [nth(journal, 1)] })
      expect(await other.delivery.frozenBatch()).toEqual(batch)
      const { marker } = await other.delivery.remark(batch, 1000)
      expect(await other.delivery.frozenBatch()).toEqual({ ...batch, marker })
      expect(await journal.erasure.removals(0)).toEqual([])
      expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 1 })

      await other.delivery.settle(batch.number, noon)
      const removal = { position: nth(journal, 1), tab: 'Sheet1', email: ada, receivedAt: noon }
      expect(await journal.erasure.removals(0)).toEqual([{ ...removal, isLeaving: false }])
      expect(await journal.erasure.unfinished()).toMatchObject({ removals: 1, frozen: 0 })
      expect(await forget(journal), 'its cells are gone').toEqual(nothing)
    }),
  },

  ...[{}, { duplicates: 'ignore' } as const].map((policy) => ({
    title: `a new signup with the Timestamp of a row that waits to go is spared once it has its own (${JSON.stringify(policy)})`,
    run: underPolicy(policy, async (journal) => {
      const { erasure, delivery } = journal
      const [old, again] = [{ name: 'Ada' }, { name: 'Ada King' }].map((one) =>
        makeSignup({ email: ada, receivedAt: noon, ...one }),
      )
      if (!old || !again) throw new Error('There are two signups.')
      await append(journal, old)
      await deliver(journal)
      await forget(journal)
      const rows = await erasure.removals(0)
      expect(await erasure.spared(rows)).toEqual([[]])
      await append(journal, { ...again, email: ada.toUpperCase() })
      await append(journal, makeSignup({ email: bob, receivedAt: noon }))
      await append(journal, makeSignup({ email: ada, receivedAt: noon + 1, sheetTab: 'News' }))
      expect(await erasure.spared(rows), 'it waits').toEqual([undefined])
      const batch = await freezeNext(delivery)
      expect(await erasure.spared(rows), 'its batch is on its way').toEqual([undefined])
      await delivery.settle(batch?.number ?? 0, noon)
      expect(await erasure.spared(rows)).toMatchObject([[{ name: 'Ada King' }]])
      await forget(journal)
      const both = await erasure.removals(0)
      expect(await erasure.spared(both), 'all have to go').toEqual([[], [], []])
    }),
  })),

  ...[{}, { hasAdminPage: true }].map((policy) => ({
    title: `rows to go of one person and one time wait as one, while more stay than people make (${JSON.stringify(policy)})`,
    run: underPolicy(policy, async (journal) => {
      const { erasure } = journal
      const made = (count: number, email: string) =>
        Array.from({ length: count }, () => makeSignup({ email, receivedAt: noon }))
      await append(journal, ...made(50, ada), ...made(1, bob))
      await deliver(journal)
      await forget(journal)
      await forget(journal, bob)
      const rows = await erasure.removals(0)
      await append(journal, ...made(3, ada), ...made(2, bob))
      await deliver(journal)
      const spared = await erasure.spared(rows)
      expect(spared.map((one) => one?.length)).toEqual([...made(50, ada).map(() => 3), 2])
      expect(new Set(spared).size, 'read once').toBe(2)
      await append(journal, ...made(90, ada))
      await deliver(journal)
      const waits = made(50, ada).map(() => undefined)
      expect(await erasure.spared(rows)).toMatchObject([...waits, [{ email: bob }, { email: bob }]])
      await forget(journal)
      expect((await erasure.spared(rows))[0], 'all have to go').toEqual([])
    }),
  })),

  {
    title: 'a forgotten signup of a batch that was given up is never written',
    run: inTwo(async (journal, other) => {
      await append(journal, makeSignup({ email: ada }), makeSignup({ email: bob }))
      const batch = (await freezeNext(other.delivery)) ?? none
      await forget(journal)
      await other.delivery.release(batch)
      expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
      expect(addressesOf(await freezeNext(other.delivery))).toEqual({ Sheet1: [bob] })
    }),
  },

  {
    title: 'one slice erases at most a hundred signups, as others wait for it',
    run: inJournal(async (journal) => {
      await append(journal, ...makeSignups(150, { email: ada }))
      await journal.erasure.forget(ada)
      expect(await journal.erasure.eraseNext(0, ada)).toMatchObject({ unwritten: 100 })
      expect(await addressesIn(journal)).toHaveLength(50)
    }),
  },

  {
    title: 'many signups of one person among many are erased, a slice at a time',
    run: inJournal(async (journal) => {
      const emails = Array.from({ length: 2500 }, (_, at) => (at % 10 === 0 ? bob : ada))
      await append(journal, ...emails.map((email) => makeSignup({ email })))
      const { next } = await journal.erasure.eraseNext(0, ada)
      expect(next, 'nobody is forgotten yet').toBeGreaterThan(0)
      expect(await forget(journal)).toEqual({ ...nothing, unwritten: 2250 })
      expect(await addressesIn(journal)).toEqual(Array.from({ length: 250 }, () => bob))
    }),
  },

  {
    title: 'cells of other people that name the address are counted, and stay',
    run: inJournal(async (journal) => {
      const metadata = '{"friend":"ADA@example.com"}'
      const fields = { friend: 'Ada@Example.com' }
      const naming = [{ metadata }, { fields }].map((it) => makeSignup({ email: bob, ...it }))
      // More than one slice erases: they are counted once all the same.
      const own = makeSignups(150, { email: ada })
      await append(journal, ...own, ...naming, makeSignup({ email: bob }))
      expect(await forget(journal)).toEqual({ ...nothing, unwritten: 150, mentions: 2 })
      expect((await journal.reader.page(0, 1))[0]?.signup.metadata).toBe(metadata)
    }),
  },
]

/** A later signup of a forgotten person is a new signup. */
export const laterSignups: readonly ContractTest[] = [
  {
    title: 'a signup that came after its person was forgotten is kept',
    run: inJournal(async (journal) => {
      await append(journal, makeSignup({ email: ada }))
      const upto = await journal.erasure.forget(ada)
      await append(journal, makeSignup({ email: ada }))
      expect(upto).toBe(nth(journal, 1))
      expect(await journal.erasure.eraseNext(0, ada)).toMatchObject({ unwritten: 1 })
      expect(await journal.erasure.eraseNext(0)).toMatchObject({ unwritten: 0 })
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({ Sheet1: [ada] })
      expect(await forget(journal), 'forgotten once more, in a frozen batch').toMatchObject({
        frozen: [nth(journal, 2)],
      })
    }),
  },

  {
    title:
      'with duplicates ignored, a forgotten address is open again, even before its cells are gone',
    run: underPolicy({ duplicates: 'ignore' }, async (journal) => {
      await append(journal, makeSignup({ email: ada }), makeSignup({ email: 'Ada@example.com' }))
      await freezeNext(journal.delivery)
      await forget(journal)
      await append(journal, makeSignup({ email: ada }), makeSignup({ email: ada }))
      const batch = await journal.delivery.frozenBatch()
      await journal.delivery.settle(batch?.number ?? 0, noon)
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({ Sheet1: [ada] })
    }),
  },

  {
    title: 'a duplicate that got no row is erased, and no row of it is to be removed',
    run: underPolicy({ duplicates: 'ignore' }, async (journal) => {
      await append(journal, makeSignup({ email: ada }), makeSignup({ email: ada }))
      await deliver(journal)
      expect(await forget(journal)).toEqual({
        ...nothing,
        written: [nth(journal, 1)],
        unwritten: 1,
      })
      expect(await journal.erasure.removals(0)).toMatchObject([{ position: nth(journal, 1) }])
    }),
  },
]
