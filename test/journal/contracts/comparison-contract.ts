import { expect } from 'vitest'
import { freezeNext } from '../../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import { type Comparison, comparisonOf } from '../../../src/operations/compare.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import { type ContractTest, nth, underPolicy } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60_000

/** A test that needs one journal, for the spreadsheet `here`. */
function inJournal(work: (journal: Journal) => Promise<void>): ContractTest['run'] {
  return underPolicy({ spreadsheet: 'here' }, work)
}

async function deliver(journal: Journal): Promise<readonly string[]> {
  const batch = await freezeNext(journal.delivery)
  if (batch) await journal.delivery.settle(batch.number, noon)
  return Object.values(addressesOf(batch)).flat()
}

const rowOf = ({ email, receivedAt: at }: Signup) => ({ email, at })

async function read(comparison: Comparison, signups: readonly Signup[], tab = 'Sheet1') {
  comparison.begin()
  await comparison.note({ place: tab, tab, rows: signups.map(rowOf) })
}

const nothing = {
  ...{ present: 0, missing: 0, edited: 0, elsewhere: 0, waiting: 0, unknown: 0 },
  ...{ double: 0, others: 0, rows: 0 },
}

/** Three signups of different moments that were written, and one that waits. */
async function threeWritten(journal: Journal): Promise<readonly Signup[]> {
  const signups = makeSignups(3).map((signup, at) => ({ ...signup, receivedAt: noon + at }))
  await journal.intake.append(signups)
  await deliver(journal)
  await journal.intake.append([makeSignup({ email: 'waits@example.com' })])
  return signups
}

/** A journal is compared with the rows of a spreadsheet. */
export const comparisonTests: readonly ContractTest[] = [
  {
    title: 'each signup is present, missing, edited or waiting, and other rows are counted',
    run: inJournal(async (journal) => {
      const [a = makeSignup(), b = makeSignup(), c = makeSignup()] = await threeWritten(journal)
      using comparison = await comparisonOf(journal.compared)
      const typed = makeSignup({ email: 'typed@example.com' })
      await read(comparison, [a, { ...b, email: 'corrected@example.com' }, typed])
      expect(await comparison.compare(() => {})).toEqual({
        ...nothing,
        ...{ present: 1, missing: 1, edited: 1, waiting: 1, others: 2, rows: 3 },
      })
      expect((await comparison.found('missing', 9)).map(({ signup }) => signup.id)).toEqual([c.id])
      expect((await comparison.found('edited', 9)).map(({ signup }) => signup.id)).toEqual([b.id])
    }),
  },

  {
    title: 'a row that somebody doubled is told, and a copy in another tab is none',
    run: inJournal(async (journal) => {
      const [a = makeSignup(), b = makeSignup(), c = makeSignup()] = await threeWritten(journal)
      using comparison = await comparisonOf(journal.compared)
      await read(comparison, [a, b, b, b, c])
      await comparison.note({ place: 'Called', tab: 'Called', rows: [rowOf(a)] })
      expect(await comparison.compare(() => {})).toMatchObject({ present: 3, double: 2, others: 1 })
      expect(comparison.doubles(9)).toEqual([{ at: noon + 1, tab: 'Sheet1', extra: 2 }])
    }),
  },

  {
    title: 'two signups of one address and one moment need two rows, wherever these are',
    run: inJournal(async (journal) => {
      const twin = { email: 'twin@example.com', receivedAt: noon }
      const twins = [makeSignup(twin), makeSignup({ ...twin, sheetTab: 'Other' })]
      await journal.intake.append(twins)
      await deliver(journal)
      using comparison = await comparisonOf(journal.compared)
      await read(comparison, twins)
      expect(await comparison.compare(() => {})).toMatchObject({ present: 2, missing: 0 })
      await read(comparison, twins.slice(1))
      expect(await comparison.compare(() => {})).toMatchObject({
        present: 1,
        missing: 1,
        edited: 0,
      })
    }),
  },

  {
    title:
      'what is put back into the pending work is delivered once, also when it is put there twice',
    run: inJournal(async (journal) => {
      await threeWritten(journal)
      await deliver(journal)
      using comparison = await comparisonOf(journal.compared)
      using other = await comparisonOf(journal.compared)
      await read(comparison, [])
      await comparison.compare(() => {})
      const missing = (await comparison.found('missing', 9)).map(({ position }) => position)
      expect(missing).toHaveLength(4)
      expect(await comparison.deliverAgain(missing, noon)).toBe(4)
      expect(await journal.reader.backlog()).toBe(4)
      expect(await other.deliverAgain(missing, noon)).toBe(0)
      expect(await deliver(journal)).toHaveLength(4)
      expect(await other.deliverAgain(missing, noon)).toBe(0)
      expect(await deliver(journal)).toEqual([])
      expect(await journal.reader.backlog()).toBe(0)
    }),
  },

  {
    title:
      'of the tabs with signups to be delivered again, the one with the oldest is the first one',
    run: inJournal(async (journal) => {
      const tabs = ['A', 'B', 'A', 'B']
      await journal.intake.append(tabs.map((sheetTab) => makeSignup({ sheetTab })))
      await deliver(journal)
      using comparison = await comparisonOf(journal.compared)
      await comparison.deliverAgain(
        [2, 3].map((place) => nth(journal, place)),
        noon,
      )
      expect(await journal.delivery.pending()).toMatchObject([
        { name: 'B', isAgain: true },
        { name: 'A', isAgain: true },
      ])
    }),
  },

  {
    title:
      'a batch with signups that are delivered again is the same after a restart, and its release undoes it',
    run: async (world) => {
      const open = () => world.open({ spreadsheet: 'here' })
      let frozen
      {
        await using journal = await open()
        await threeWritten(journal)
        using comparison = await comparisonOf(journal.compared)
        await read(comparison, [])
        await comparison.compare(() => {})
        await comparison.deliverAgain(
          [1, 3].map((place) => nth(journal, place)),
          noon,
        )
        frozen = await freezeNext(journal.delivery)
        expect(addressesOf(frozen)).toEqual({
          Sheet1: ['person1@example.com', 'person3@example.com', 'waits@example.com'],
        })
      }
      await using journal = await open()
      expect(await journal.delivery.frozenBatch()).toEqual(frozen)
      await journal.delivery.release(frozen ?? { number: 0, marker: 0 })
      expect(await deliver(journal)).toHaveLength(3)
      expect(await journal.reader.backlog()).toBe(0)
    },
  },

  {
    title: 'what another spreadsheet got is known from what this one got',
    run: async (world) => {
      const open = (spreadsheet: string) => world.open({ spreadsheet })
      {
        await using journal = await open('before')
        await threeWritten(journal)
      }
      await using journal = await open('here')
      await deliver(journal)
      using comparison = await comparisonOf(journal.compared)
      await read(comparison, [])
      expect(await comparison.compare(() => {})).toEqual({ ...nothing, missing: 1, elsewhere: 3 })
      await comparison.deliverAgain(
        [1, 2, 3].map((place) => nth(journal, place)),
        noon,
      )
      await deliver(journal)
      using again = await comparisonOf(journal.compared)
      await read(again, [])
      expect(await again.compare(() => {})).toEqual({ ...nothing, missing: 4 })
    },
  },

  {
    title:
      'a row with another timestamp that can be read is not that of a signup of another spreadsheet',
    run: async (world) => {
      {
        await using journal = await world.open({ spreadsheet: 'before' })
        await threeWritten(journal)
        await deliver(journal)
      }
      await using journal = await world.open({ spreadsheet: 'here' })
      const [a, b, c] = (await journal.reader.page(0, 9)).map(({ signup }) => rowOf(signup))
      if (!a || !b || !c) expect.fail()
      using comparison = await comparisonOf(journal.compared)
      comparison.begin()
      const rows = [
        { ...a, at: a.at + minute },
        { ...b, at: undefined },
        { ...c, email: 'corrected@example.com' },
      ]
      await comparison.note({ place: 'Sheet1', tab: 'Sheet1', rows })
      expect(await comparison.compare()).toEqual({
        ...nothing,
        ...{ edited: 2, elsewhere: 2, others: 3, rows: 3 },
      })
    },
  },

  {
    title: 'a signup that was forgotten while its batch was on its way counts as written',
    run: inJournal(async (journal) => {
      const [given = makeSignup(), kept = makeSignup()] = makeSignups(2)
      await journal.intake.append([given, kept])
      const batch = await freezeNext(journal.delivery)
      await journal.erasure.forget(given.email)
      await journal.erasure.eraseNext(0, given.email)
      await journal.delivery.settle(batch?.number ?? 0, noon)
      using comparison = await comparisonOf(journal.compared)
      await read(comparison, [kept])
      const counts = { ...nothing, present: 1, unknown: 1, rows: 1 }
      expect(await comparison.compare(() => {})).toEqual(counts)
    }),
  },

  {
    title: 'what the frozen batch delivers once more does not wait besides',
    run: inJournal(async (journal) => {
      await threeWritten(journal)
      using comparison = await comparisonOf(journal.compared)
      await read(comparison, [])
      await comparison.compare(() => {})
      await comparison.deliverAgain([nth(journal, 1)], noon)
      await freezeNext(journal.delivery)
      expect((await journal.delivery.pending()).filter(({ isAgain }) => isAgain)).toEqual([])
    }),
  },

  {
    title: 'a signup that has its row and waited for another one is unknown when it is forgotten',
    run: inJournal(async (journal) => {
      const signup = makeSignup()
      await journal.intake.append([signup])
      await deliver(journal)
      const { compared, erasure } = journal
      const position = nth(journal, 1)
      await compared.deliverAgain([position], noon, await compared.lastSettled())
      await compared.noteArrived([position])
      await erasure.forget(signup.email)
      await erasure.eraseNext(0, signup.email)
      const page = await compared.page(position - 1, 9, await compared.lastSettled())
      expect(page.map(({ row }) => row)).toEqual(['unknown'])
    }),
  },

  {
    title: 'a forgotten signup that waits to be delivered again is not delivered',
    run: inJournal(async (journal) => {
      const [a = makeSignup(), b = makeSignup()] = await threeWritten(journal)
      await deliver(journal)
      using comparison = await comparisonOf(journal.compared)
      await read(comparison, [])
      await comparison.compare(() => {})
      await comparison.deliverAgain(
        [1, 2].map((place) => nth(journal, place)),
        noon,
      )
      const erase = async (address: string) => {
        await journal.erasure.forget(address)
        await journal.erasure.eraseNext(0, address)
      }
      await erase(a.email)
      expect(await journal.reader.backlog()).toBe(1)
      const batch = await freezeNext(journal.delivery)
      await erase(b.email)
      await journal.delivery.release(batch ?? { number: 0, marker: 0 })
      expect(await journal.reader.backlog()).toBe(0)
      expect(await journal.delivery.pending()).toEqual([])
      expect(await deliver(journal)).toEqual([])
      expect(await journal.reader.backlog()).toBe(0)
      using again = await comparisonOf(journal.compared)
      await read(again, [])
      expect(await again.compare(() => {})).toEqual({ ...nothing, missing: 2, unknown: 2 })
      expect(
        await again.deliverAgain(
          [1, 2].map((place) => nth(journal, place)),
          noon,
        ),
      ).toBe(0)
    }),
  },

  {
    title:
      'the row of a forgotten signup is removed when the batch that held it once more was given up',
    run: inJournal(async (journal) => {
      const signup = makeSignup()
      await journal.intake.append([signup])
      await deliver(journal)
      using comparison = await comparisonOf(journal.compared)
      await comparison.deliverAgain([nth(journal, 1)], noon)
      const batch = (await freezeNext(journal.delivery)) ?? expect.fail()
      await journal.erasure.forget(signup.email)
      await journal.erasure.eraseNext(0, signup.email)
      await journal.delivery.release(batch)
      expect(await journal.erasure.removals(0)).toMatchObject([{ position: nth(journal, 1) }])
    }),
  },

  {
    title: 'a reading is steady when it gives the rows of the one before, and only new ones below',
    run: inJournal(async (journal) => {
      const signups = makeSignups(3)
      using comparison = await comparisonOf(journal.compared)
      const isSteady = async (rows: readonly Signup[]) => {
        await read(comparison, rows)
        return comparison.isSteady
      }
      expect(await isSteady(signups)).toBe(false)
      expect(await isSteady(signups)).toBe(true)
      expect(await isSteady([...signups, makeSignup()])).toBe(true)
      expect(await isSteady(signups)).toBe(false)
      expect(await isSteady(signups.toReversed())).toBe(false)
      expect(await isSteady([])).toBe(false)
      expect(await isSteady([])).toBe(true)
      expect(await isSteady(signups)).toBe(true)
    }),
  },

  {
    title:
      'what is put back, on its way, or written after the beginning is waiting, and not missing',
    run: inJournal(async (journal) => {
      await threeWritten(journal)
      using before = await comparisonOf(journal.compared)
      await read(before, [])
      await deliver(journal)
      expect(await before.compare(() => {})).toEqual({ ...nothing, missing: 3, waiting: 1 })
      await before.deliverAgain(
        [1, 2].map((place) => nth(journal, place)),
        noon,
      )
      const compared = async () => {
        using comparison = await comparisonOf(journal.compared)
        await read(comparison, [])
        return await comparison.compare(() => {})
      }
      expect(await compared()).toEqual({ ...nothing, missing: 2, waiting: 2 })
      const batch = (await freezeNext(journal.delivery)) ?? expect.fail()
      expect(await compared()).toEqual({ ...nothing, missing: 2, waiting: 2 })
      using during = await comparisonOf(journal.compared)
      await read(during, [])
      await journal.delivery.settle(batch.number, noon)
      expect(await during.compare(() => {})).toEqual({ ...nothing, missing: 2, waiting: 2 })
      expect(await compared()).toEqual({ ...nothing, missing: 4 })
    }),
  },

  {
    title: 'a signup whose row was there after a restore gets one again when that row is deleted',
    run: inJournal(async (journal) => {
      const signups = await threeWritten(journal)
      using restored = await comparisonOf(journal.compared)
      await read(restored, [...signups, makeSignup({ email: 'waits@example.com' })])
      await restored.noteArrived(nth(journal, 4))
      expect(await deliver(journal)).toEqual([])
      using comparison = await comparisonOf(journal.compared)
      await read(comparison, signups)
      expect(await comparison.compare(() => {})).toEqual({
        ...nothing,
        ...{ present: 3, missing: 1, rows: 3 },
      })
      expect(
        await comparison.deliverAgain(
          [4].map((place) => nth(journal, place)),
          noon,
        ),
      ).toBe(1)
      expect(await deliver(journal)).toEqual(['waits@example.com'])
    }),
  },

  {
    title: 'a signup that is delivered once more keeps its cells until that is long ago, too',
    run: inJournal(async (journal) => {
      const [, gone = makeSignup()] = await threeWritten(journal)
      const rest = (await journal.reader.page(0, 9)).filter(({ signup }) => signup.id !== gone.id)
      using comparison = await comparisonOf(journal.compared)
      await read(
        comparison,
        rest.map(({ signup }) => signup),
      )
      await comparison.compare(() => {})
      const positions = (await comparison.found('missing', 9)).map(({ position }) => position)
      await comparison.deliverAgain(positions, noon)
      const expire = async (before: number) => {
        while (await journal.retention.expire(before));
        return (await journal.reader.page(0, 9)).map(({ signup }) => signup.email)
      }
      expect(await expire(noon + 1)).toEqual([gone.email, 'waits@example.com'])
      const batch = await freezeNext(journal.delivery)
      await journal.delivery.settle(batch?.number ?? 0, noon + 2)
      expect(await expire(noon + 2)).toEqual([gone.email, 'waits@example.com'])
      expect(await expire(noon + 3)).toEqual([])
    }),
  },
]
