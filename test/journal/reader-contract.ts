import { expect } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { type ContractTest, inTwo, none } from './contract.ts'

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
    title: 'a page shows the signups that both instances have appended, in order',
    run: inTwo(async (one, other) => {
      const signups = makeSignups(5)
      await one.intake.append(signups.slice(0, 3))
      await other.intake.append(signups.slice(3))
      const first = await one.reader.page(0, 4)
      const rest = await other.reader.page(first.at(-1)?.position ?? 0, 4)
      expect([...first, ...rest].map(({ signup }) => signup)).toEqual(signups)
      expect([first.length, rest.length]).toEqual([4, 1])
    }),
  },

  {
    title: 'one instance answers a read while the other one writes',
    run: inTwo(async (one, other) => {
      await one.intake.append(makeSignups(1))
      const appends = Promise.all(makeSignups(50).map((signup) => one.intake.append([signup])))
      expect((await other.reader.page(0, 10)).length).toBeGreaterThan(0)
      await appends
    }),
  },
]
