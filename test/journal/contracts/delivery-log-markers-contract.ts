import { expect } from 'vitest'

import { freezeNext, markerIdMax } from '../../../harness/freeze-next.ts'
import { makeSignups } from '../../../harness/make-signup.ts'
import { type ContractTest, inJournal, none } from './contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)

/** What the journal remembers for the writer: markers, running time and facts. */
export const markers: readonly ContractTest[] = [
  {
    title:
      'the journal remembers a marker until the writer asks to forget it, even across restarts',
    run: async (world) => {
      const markers: number[] = []
      {
        await using journal = await world.open()
        for (let index = 0; index < 3; index++) {
          await journal.intake.append(makeSignups(1))
          const batch = await freezeNext(journal.delivery)
          if (!batch) throw new Error('no batch was frozen')
          markers.push(batch.marker)
          if (index === 1) await journal.delivery.release(batch)
          else if (index === 0) await journal.delivery.settle(batch.number, noon)
        }
      }
      await using journal = await world.open()
      expect(await journal.delivery.markerCount()).toBe(3)
      // The third batch is still frozen, so its marker has not ended.
      expect((await journal.delivery.endedMarkers()).map(({ id }) => id)).toEqual(
        markers.slice(0, 2),
      )
      await journal.delivery.forgetMarkers(markers.slice(0, 1))
      expect((await journal.delivery.endedMarkers()).map(({ id }) => id)).toEqual(
        markers.slice(1, 2),
      )
      expect(await journal.delivery.markerCount()).toBe(2)
    },
  },

  {
    title: 'ended markers come in the order of their batches, whatever their ids',
    run: inJournal(async ({ intake, delivery }) => {
      await intake.append(makeSignups(5))
      const ids: number[] = []
      for (let count = 0; count < 5; count++) {
        const frozen = (await freezeNext(delivery, { rowsMax: 1 })) ?? none
        const { number, marker } = await delivery.remark(frozen, markerIdMax)
        await delivery.settle(number, noon)
        ids.push(marker)
      }
      expect((await delivery.endedMarkers()).map(({ id }) => id)).toEqual(ids)
    }),
  },

  {
    title: 'an ended marker says whether a writer that found its batch frozen has sent it',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(2))
      const first = await freezeNext(journal.delivery, { rowsMax: 1 })
      await journal.delivery.noteFound(first ?? none)
      await journal.delivery.settle(first?.number ?? 0, noon)
      await expect(journal.delivery.noteFound(first ?? none)).rejects.toThrow('not frozen')
      const second = await freezeNext(journal.delivery)
      await journal.delivery.settle(second?.number ?? 0, noon)
      expect(await journal.delivery.endedMarkers()).toEqual([
        { id: first?.marker, isFound: true, prunableAt: undefined },
        { id: second?.marker, isFound: false, prunableAt: undefined },
      ])
    }),
  },

  {
    title: 'what is noted for one marker changes no other one',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(3))
      const ids: number[] = []
      for (const isFound of [false, true, false]) {
        const batch = (await freezeNext(journal.delivery, { rowsMax: 1 })) ?? none
        if (isFound) await journal.delivery.noteFound(batch)
        await journal.delivery.settle(batch.number, noon)
        ids.push(batch.marker)
      }
      const [one = 0, two = 0, three = 0] = ids
      const keepMs = new Map([
        [one, 100],
        [three, 300],
      ])
      await journal.delivery.noteRunningTime({ by: 'a', ms: 0, seen: undefined, keepMs })
      expect(await journal.delivery.endedMarkers()).toEqual([
        { id: one, isFound: false, prunableAt: 100 },
        { id: two, isFound: true, prunableAt: undefined },
        { id: three, isFound: false, prunableAt: 300 },
      ])
    }),
  },

  {
    title: 'the journal takes in a marker of its own that it does not know, and no other one',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(2))
      const known = await freezeNext(journal.delivery, { rowsMax: 1 })
      if (!known) throw new Error('no batch was frozen')
      await journal.delivery.settle(known.number, noon)
      const frozen = await freezeNext(journal.delivery)
      if (!frozen) throw new Error('no batch was frozen')
      const stray = { marker: 7, fingerprint: known.fingerprint }
      const others = ['another:1:ab', `1${known.fingerprint}`, ''].map((fingerprint, index) => {
        return { marker: 8 + index, fingerprint }
      })
      const areOwn = [known, stray, ...others].map(({ fingerprint }) =>
        journal.delivery.isOwn(fingerprint),
      )
      expect(await Promise.all(areOwn)).toEqual([true, true, false, false, false])
      for (const time of ['first', 'again']) {
        await journal.delivery.adoptMarkers([known, frozen, stray, ...others])
        expect(await journal.delivery.endedMarkers(), time).toEqual([
          { id: 7, isFound: true, prunableAt: undefined },
          { id: known.marker, isFound: false, prunableAt: undefined },
        ])
      }
      expect((await journal.delivery.frozen())?.marker).toBe(frozen.marker)
      await journal.delivery.forgetMarkers([7])
      expect(await journal.delivery.markerCount()).toBe(2)
    }),
  },

  {
    title:
      'a marker gets its lifetime once, after its batch has ended, and keeps it across restarts',
    run: async (world) => {
      const note = { by: 'a', ms: 100, seen: undefined }
      {
        await using journal = await world.open()
        await journal.intake.append(makeSignups(1))
        const batch = await freezeNext(journal.delivery)
        const keepMs = new Map([[batch?.marker ?? 0, 1000]])
        const seen = await journal.delivery.noteRunningTime({ ...note, keepMs })
        expect(seen.ms).toBe(0)
        await journal.delivery.settle(batch?.number ?? 0, noon)
        // The batch was still frozen at the first note, so the lifetime did not begin.
        expect((await journal.delivery.endedMarkers())[0]?.prunableAt).toBeUndefined()
        expect((await journal.delivery.noteRunningTime({ ...note, seen, keepMs })).ms).toBe(100)
      }
      await using journal = await world.open()
      const [ended] = await journal.delivery.endedMarkers()
      expect(ended?.prunableAt).toBe(1100)
      await journal.delivery.noteRunningTime({ ...note, keepMs: new Map([[ended?.id ?? 0, 1]]) })
      expect((await journal.delivery.endedMarkers())[0]?.prunableAt).toBe(1100)
    },
  },

  {
    title: 'one process at a time counts running time, and another one takes over when it is gone',
    run: inJournal(async (journal) => {
      const none = new Map<number, number>()
      const a1 = await journal.delivery.noteRunningTime({
        by: 'a',
        ms: 5,
        seen: undefined,
        keepMs: none,
      })
      const a2 = await journal.delivery.noteRunningTime({
        by: 'a',
        ms: 30,
        seen: a1,
        keepMs: none,
      })
      expect(a2).toEqual({ by: 'a', ms: 30 })
      const b1 = await journal.delivery.noteRunningTime({ by: 'b', ms: 9, seen: a1, keepMs: none })
      expect(b1).toEqual(a2)
      const b2 = await journal.delivery.noteRunningTime({
        by: 'b',
        ms: 30,
        seen: b1,
        keepMs: none,
      })
      expect(b2).toEqual({ by: 'b', ms: 30 })
      const b3 = await journal.delivery.noteRunningTime({
        by: 'b',
        ms: 30,
        seen: b2,
        keepMs: none,
      })
      expect(b3).toEqual({ by: 'b', ms: 60 })
      // Process `a` was stopped since its last note. That time is not counted, however long it was.
      const keepMs = new Map([[1, 1]])
      const woken = await journal.delivery.noteRunningTime({ by: 'a', ms: 1e9, seen: a2, keepMs })
      expect(woken).toEqual({ by: 'a', ms: 60 })
    }),
  },

  {
    title: 'the id of a marker is never larger than the given maximum',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(6))
      for (let count = 0; count < 6; count++) {
        const [tab = expect.fail()] = await journal.delivery.pending()
        const { signups } = await journal.delivery.waiting(tab)
        const share = { tab, signups: signups.slice(0, 1) }
        const { number, marker } = await journal.delivery.freeze([share], 2)
        expect([1, 2]).toContain(marker)
        await journal.delivery.settle(number, noon)
        await journal.delivery.forgetMarkers([marker])
      }
    }),
  },

  {
    title:
      'a frozen batch that gets a new marker stays the same otherwise, and the next marker id follows the new one',
    run: inJournal(async (journal) => {
      await journal.intake.append(makeSignups(3))
      const ended = await freezeNext(journal.delivery, { rowsMax: 1 })
      await journal.delivery.settle(ended?.number ?? 0, noon)
      const before = await freezeNext(journal.delivery, { rowsMax: 1 })
      const after = await journal.delivery.remark(before ?? none, markerIdMax)
      await expect(journal.delivery.remark(before ?? none, markerIdMax)).rejects.toThrow(
        'not frozen',
      )
      await expect(journal.delivery.release(before ?? none)).rejects.toThrow('not frozen')
      expect(after).toEqual({ ...before, marker: after.marker })
      expect(after.marker).not.toBe(before?.marker)
      expect(await journal.delivery.frozenBatch()).toEqual(after)
      expect(await journal.delivery.endedMarkers()).toMatchObject([{ id: ended?.marker }])
      await journal.delivery.settle(after.number, noon)
      const next = await freezeNext(journal.delivery)
      expect(next?.marker).toBe((after.marker % (2 ** 31 - 1)) + 1)
    }),
  },

  {
    title: 'a fact is remembered across restarts, with its last value',
    run: async (world) => {
      {
        await using journal = await world.open()
        expect(await journal.delivery.fact('fence of x')).toBeUndefined()
        await journal.delivery.noteFact('fence of x', 'unknown')
        await journal.delivery.noteFact('fence of x', 'holds')
      }
      await using journal = await world.open()
      expect(await journal.delivery.fact('fence of x')).toBe('holds')
    },
  },
]
