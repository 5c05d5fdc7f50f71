import { expect } from 'vitest'

import { freezeNext } from '../../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../../harness/make-signup.ts'
import type { SignupRecord } from '../../../src/journal/contracts/reader.ts'
import { type ContractTest, inTwo, none, nothing, nth } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)

/** The journal can be read while it is written. */
export const readerTests: readonly ContractTest[] = [
  {
    title:
      'the reader says since when no waiting signup was written, with some tabs left out, even after a restart',
    run: async (world) => {
      const signups = [1, 3, 5].map((minute, index) =>
        makeSignup({ receivedAt: noon + minute, sheetTab: index === 0 ? 'Locked' : 'Free' }),
      )
      {
        await using journal = await world.open()
        expect(await journal.reader.waitingSince([])).toBeUndefined()
        await journal.intake.append(signups)
        expect(await journal.reader.waitingSince([])).toBe(noon + 1)
        expect(await journal.reader.waitingSince(['locked'])).toBe(noon + 3)
        const isFree = (tab: string) => tab === 'Free'
        const batch = await freezeNext(journal.delivery, { rowsMax: 1, wanted: isFree })
        expect(await journal.reader.waitingSince([]), 'while the batch is on its way').toBe(
          noon + 1,
        )
        await journal.delivery.settle(batch?.number ?? 0, noon + 4)
      }
      await using journal = await world.open()
      expect(await journal.reader.waitingSince(['free'])).toBe(noon + 4)
      expect(await journal.reader.waitingSince(['locked'])).toBe(noon + 5)
      // Nothing of a released batch was written.
      await journal.delivery.release((await freezeNext(journal.delivery)) ?? none)
      expect(await journal.reader.waitingSince([])).toBe(noon + 4)
      const rest = await freezeNext(journal.delivery)
      await journal.delivery.settle(rest?.number ?? 0, noon + 9)
      expect(await journal.reader.waitingSince([])).toBeUndefined()
    },
  },

  {
    title:
      'the figures count by the hour what was accepted and what was written, even after a restart',
    run: async (world) => {
      const hour = 60 * 60 * 1000
      {
        await using journal = await world.open()
        expect(await journal.reader.counted(['accepted', 'written'], 0, noon)).toEqual([])
        expect(await journal.reader.figures()).toEqual({
          all: nothing,
          waiting: 0,
          oldestWaiting: undefined,
          lastWritten: undefined,
        })
        const times = [noon - 1, noon, noon + 5, noon + 6, noon + 2 * hour]
        await journal.intake.append(times.map((receivedAt) => makeSignup({ receivedAt })))
        const released = (await freezeNext(journal.delivery)) ?? none
        await journal.delivery.release(released)
        const batch = await freezeNext(journal.delivery, { rowsMax: 2 })
        await journal.delivery.settle(batch?.number ?? 0, noon + hour)
      }
      await using journal = await world.open()
      expect(await journal.reader.figures()).toEqual({
        all: { ...nothing, accepted: 5, written: 2 },
        waiting: 3,
        oldestWaiting: noon + 5,
        lastWritten: noon + hour,
      })
      const kinds = ['accepted', 'written'] as const
      expect(await journal.reader.counted(kinds, noon - 1, noon + hour)).toEqual([
        { what: 'accepted', at: noon - hour, name: '', count: 1 },
        { what: 'accepted', at: noon, name: '', count: 3 },
        { what: 'written', at: noon + hour, name: '', count: 2 },
      ])
      const day = 24 * hour
      expect(await journal.reader.counted(kinds, noon - 12 * hour, noon + day, day)).toEqual([
        { what: 'accepted', at: noon - 12 * hour, name: '', count: 5 },
        { what: 'written', at: noon - 12 * hour, name: '', count: 2 },
      ])
    },
  },

  {
    title: 'two instances count the signups of one hour together',
    run: inTwo(async (one, other) => {
      const receivedAt = noon
      await Promise.all([
        one.intake.append([makeSignup({ receivedAt }), makeSignup({ receivedAt })]),
        other.intake.append([makeSignup({ receivedAt })]),
      ])
      const hours = await one.reader.counted(['accepted'], noon, noon)
      expect(hours).toEqual([{ what: 'accepted', at: noon, name: '', count: 3 }])
      expect((await other.reader.figures()).all.accepted).toBe(3)
    }),
  },

  {
    title: 'the reader counts the calls of one account, and knows the facts of delivery',
    run: inTwo(async (one, other) => {
      const clock = { now: () => noon, elapsed: () => 0 }
      const quota = { perMinute: 50, perDay: 100 }
      const ledger = one.callLedger('account', clock)
      for (let call = 0; call < 3; call++) expect(await ledger.reserve(quota)).toBe(0)
      expect(await one.callLedger('another', clock).reserve(quota)).toBe(0)
      expect(await other.reader.callsSince('account', noon - 1)).toBe(3)
      expect(await other.reader.callsSince('account', noon)).toBe(0)
      expect(await other.reader.fact('mood')).toBeUndefined()
      await one.delivery.noteFact('mood', 'good')
      expect(await other.reader.fact('mood')).toBe('good')
    }),
  },

  {
    title: 'one instance answers a read while the other one writes',
    run: inTwo(async (one, other) => {
      const signups = makeSignups(100)
      const left = new Set(signups)
      const appends = Promise.all(
        signups.map((signup) => one.intake.append([signup]).then(() => left.delete(signup))),
      )
      // Every read shows what the read before it showed, and what was appended behind that.
      for (let seen: readonly SignupRecord[] = []; left.size > 0;) {
        const page = await other.reader.page(0, signups.length)
        expect(page.slice(0, seen.length)).toEqual(seen)
        expect(page.map(({ position }) => position)).toEqual(
          page.map((_, at) => nth(other, at + 1)),
        )
        seen = page
        await new Promise((resolve) => setImmediate(resolve))
      }
      await appends
      expect(await other.reader.page(0, signups.length + 1)).toHaveLength(signups.length)
    }),
  },
]
