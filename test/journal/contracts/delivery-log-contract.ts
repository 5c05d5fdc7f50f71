import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import { Overtaken } from '../../../src/journal/contracts/errors.ts'
import { type ContractTest, inJournal, inTwo, none, underPolicy } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)

/** A batch is frozen, then settled or released. There is one at a time. */
export const frozenBatches: readonly ContractTest[] = [
  {
    title: 'a slice of waiting signups says whether more follow, however few were wanted',
    run: inJournal(async ({ intake, delivery }) => {
      await intake.append(makeSignups(2))
      const [tab = expect.fail()] = await delivery.pending()
      const first = await delivery.waiting(tab, undefined, 1)
      expect(first).toMatchObject({ signups: [{}], hasMore: true })
      const rest = await delivery.waiting(tab, first.signups[0]?.position, 2)
      expect(rest).toMatchObject({ signups: [{}], hasMore: false })
    }),
  },

  {
    title: 'neither new signups nor a restart change a frozen batch',
    run: async (world) => {
      let frozen
      {
        await using journal = await world.open()
        await journal.intake.append(makeSignups(3))
        frozen = await freezeNext(journal.delivery, { rowsMax: 2 })
        await journal.intake.append(makeSignups(3))
        expect(await journal.delivery.frozenBatch()).toEqual(frozen)
      }
      await using journal = await world.open()
      expect(frozen).toBeDefined()
      expect(await journal.delivery.frozenBatch()).toEqual(frozen)
    },
  },

  {
    title:
      'all waiting signups of a tab come in slices, in order, and other work runs between them',
    run: inJournal(async (journal) => {
      const signups = makeSignups(250)
      await journal.intake.append(signups)
      const [tab = expect.fail()] = await journal.delivery.pending()
      let slice = await journal.delivery.waiting(tab)
      const read = [...slice.signups]
      while (slice.hasMore) {
        let hasOtherRun = false
        setImmediate(() => (hasOtherRun = true))
        slice = await journal.delivery.waiting(tab, read.at(-1)?.position)
        expect(hasOtherRun).toBe(true)
        read.push(...slice.signups)
      }
      expect(read.map(({ signup }) => signup)).toEqual(signups)
    }),
  },

  {
    title: 'signups for a tab that is left out wait, and keep their order',
    run: inJournal(async (journal) => {
      await journal.intake.append([
        makeSignup({ sheetTab: 'A', email: 'a1@example.com' }),
        makeSignup({ sheetTab: 'B', email: 'b1@example.com' }),
      ])
      const withoutA = await freezeNext(journal.delivery, { wanted: (tab) => tab !== 'A' })
      expect(addressesOf(withoutA)).toEqual({ B: ['b1@example.com'] })
      await journal.delivery.settle(withoutA?.number ?? 0, noon)
      await journal.intake.append([makeSignup({ sheetTab: 'A', email: 'a2@example.com' })])
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({
        A: ['a1@example.com', 'a2@example.com'],
      })
    }),
  },

  {
    title: 'a settled signup counts as written and is never frozen again, even after a restart',
    run: async (world) => {
      const [first, second] = makeSignups(2)
      if (!first || !second) throw new Error('two signups were asked for')
      {
        await using journal = await world.open()
        await journal.intake.append([first, second])
        expect(await journal.reader.backlog()).toBe(2)
        const batch = await freezeNext(journal.delivery, { rowsMax: 1 })
        expect((await journal.intake.find(first.id))?.writtenAt).toBeUndefined()
        await journal.delivery.settle(batch?.number ?? 0, noon)
        expect(await journal.reader.backlog()).toBe(1)
      }
      await using journal = await world.open()
      expect(await journal.reader.backlog()).toBe(1)
      expect((await journal.intake.find(first.id))?.writtenAt).toBe(noon)
      expect((await journal.intake.find(second.id))?.writtenAt).toBeUndefined()
      expect(addressesOf(await freezeNext(journal.delivery))).toEqual({ Sheet1: [second.email] })
    },
  },

  {
    title:
      'a signup was written when its own batch was settled, whatever is settled or released later',
    run: inJournal(async (journal) => {
      const [a1, b1, a2] = ['A', 'B', 'A'].map((sheetTab) => makeSignup({ sheetTab }))
      if (!a1 || !b1 || !a2) throw new Error('three signups were asked for')
      await journal.intake.append([a1, b1, a2])
      const times = async () => {
        const found = [a1, b1, a2].map(({ id }) => journal.intake.find(id))
        return (await Promise.all(found)).map((status) => status?.writtenAt)
      }
      const freeze = async (tab: string) =>
        (await freezeNext(journal.delivery, { rowsMax: 1, wanted: (name) => name === tab })) ?? none
      await journal.delivery.settle((await freeze('B')).number, noon)
      expect(await times()).toEqual([undefined, noon, undefined])
      expect(await journal.reader.backlog()).toBe(2)
      await journal.delivery.settle((await freeze('A')).number, noon + 1)
      expect(await journal.reader.backlog()).toBe(1)
      await journal.delivery.release(await freeze('A'))
      expect(await times()).toEqual([noon + 1, noon, undefined])
      await journal.delivery.settle((await freeze('A')).number, noon + 2)
      expect(await times()).toEqual([noon + 1, noon, noon + 2])
    }),
  },

  {
    title: 'the tab whose oldest signup has waited longest is the first one',
    run: inJournal(async (journal) => {
      const names = async () => (await journal.delivery.pending()).map(({ name }) => name)
      const tabs = ['A', 'B', 'B', 'A']
      await journal.intake.append(tabs.map((sheetTab) => makeSignup({ sheetTab })))
      expect(await names()).toEqual(['A', 'B'])
      const batch = await freezeNext(journal.delivery, { rowsMax: 1, wanted: (tab) => tab === 'A' })
      expect(await names(), 'while the batch is on its way').toEqual(['A', 'B'])
      await journal.delivery.settle(batch?.number ?? 0, noon)
      expect(await names()).toEqual(['B', 'A'])
    }),
  },

  {
    title: 'a waiting signup tells the size of its texts in bytes of UTF-8',
    run: inJournal(async (journal) => {
      const texts = {
        email: 'ada@example.com',
        source: 'formulär',
        name: '東京 🌵',
        metadata: '{"a":"ß"}',
      }
      const tags = ['ü', 'press']
      const fields = { straße: '東', seats: 3 }
      await journal.intake.append([makeSignup({ ...texts, tags, fields })])
      const [tab = expect.fail()] = await journal.delivery.pending()
      const { signups } = await journal.delivery.waiting(tab)
      const all = [...Object.values(texts), ...[tags, fields].map((it) => JSON.stringify(it))].join(
        '',
      )
      expect(signups.map(({ textBytes }) => textBytes)).toEqual([Buffer.byteLength(all)])
    }),
  },

  {
    title: 'the signups of a released batch are frozen again, with a new number and a new marker',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(2))
      const first = await freezeNext(journal.delivery)
      await journal.delivery.release(first ?? none)
      expect(await journal.delivery.frozenBatch()).toBeUndefined()
      const second = await freezeNext(journal.delivery)
      expect(addressesOf(second)).toEqual(addressesOf(first))
      expect(second?.number).toBeGreaterThan(first?.number ?? Infinity)
      expect(second?.marker).not.toBe(first?.marker)
    }),
  },

  {
    title: 'a batch that is not frozen can be neither settled nor released',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(1))
      const batch = await freezeNext(journal.delivery)
      const number = batch?.number ?? 0
      await journal.delivery.settle(number, noon)
      await expect(journal.delivery.settle(number, noon)).rejects.toThrow(Overtaken)
      await expect(journal.delivery.release(batch ?? none)).rejects.toThrow(Overtaken)
      await expect(journal.delivery.settle(number + 1, noon)).rejects.toMatchObject({
        message: `Batch ${number + 1} is not frozen.`,
      })
    }),
  },

  {
    title: 'batches of different journals and contents have different fingerprints',
    run: async (_world, createWorld) => {
      const seen = new Set<string>()
      const same = makeSignups(2)
      for (const signups of [same, same, makeSignups(2)]) {
        await inJournal(async (journal) => {
          await journal.intake.append(signups)
          const batch = await freezeNext(journal.delivery)
          expect(batch?.fingerprint.length).toBeLessThanOrEqual(60)
          seen.add(batch?.fingerprint ?? '')
        })(await createWorld(), createWorld)
      }
      expect(seen.size).toBe(3)
    },
  },

  {
    title: 'listeners hear how many signups every append has added, until they unsubscribe',
    run: underPolicy({ newTabsMax: 1 }, async (journal) => {
      const heard: number[] = []
      const unsubscribe = journal.delivery.onAppend((added) => heard.push(added))
      const idempotency = { space: '', key: 'k', fingerprint: 'A' }
      const three = ['A', 'A', 'One too many'].map((sheetTab) => makeSignup({ sheetTab }))
      await journal.intake.append(three, { idempotency })
      expect(heard).toEqual([2])
      await journal.intake.append(three, { idempotency })
      await journal.intake.append([makeSignup({ sheetTab: 'Another' })])
      expect(heard, 'after appends that add nothing').toEqual([2])
      unsubscribe()
      await journal.intake.append([makeSignup({ sheetTab: 'A' })])
      expect(heard).toEqual([2])
    }),
  },
]

/** Two instances of the journal have one store open. */
export const sharedBatches: readonly ContractTest[] = [
  {
    title: 'signups that one instance appends are counted by the other, which can freeze them',
    run: inTwo(async (one, other) => {
      expect(await other.delivery.pending()).toEqual([])
      await one.intake.append(makeSignups(3))
      expect(await other.reader.backlog()).toBe(3)
      expect((await other.delivery.pending()).map(({ name }) => name)).toEqual(['Sheet1'])
      expect((await freezeNext(other.delivery))?.tabs[0]?.signups).toHaveLength(3)
    }),
  },

  {
    title:
      'while one instance has a batch frozen, the other can settle it and cannot freeze another one',
    run: inTwo(async (one, other) => {
      await one.intake.append(makeSignups(2))
      const batch = await freezeNext(one.delivery, { rowsMax: 1 })
      await expect(freezeNext(other.delivery)).rejects.toThrow(Overtaken)
      await other.delivery.settle(batch?.number ?? 0, noon)
      await expect(one.delivery.settle(batch?.number ?? 0, noon)).rejects.toThrow('not frozen')
      expect(await one.reader.backlog()).toBe(1)
    }),
  },

  {
    title: 'when the other instance has settled one of two tabs meanwhile, neither is frozen',
    run: inTwo(async (one, other) => {
      await one.intake.append(['A', 'B', 'A'].map((sheetTab) => makeSignup({ sheetTab })))
      const shares = await Promise.all(
        (await one.delivery.pending()).map(async (tab) => ({
          tab,
          signups: (await one.delivery.waiting(tab)).signups,
        })),
      )
      const options = { rowsMax: 1, wanted: (tab: string) => tab === 'A' }
      const batch = await freezeNext(other.delivery, options)
      await other.delivery.settle(batch?.number ?? 0, noon)
      await expect(one.delivery.freeze(shares, 1000)).rejects.toThrow(Overtaken)
      expect(await one.delivery.frozen()).toBeUndefined()
      expect(await one.reader.backlog()).toBe(2)
    }),
  },
]
