import { describe, expect, test } from 'vitest'

import type { Appended } from '../../src/journal/intake-log.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalPolicy } from '../../src/journal/policy.ts'
import { freezeNext, markerIdMax } from '../../harness/freeze-next.ts'
import { addressesOf, makeSignup, makeSignups } from '../../harness/make-signup.ts'

export interface JournalWorld extends AsyncDisposable {
  /** Opens the journal of this world, again after it was disposed: a restart. */
  open(policy?: Partial<JournalPolicy>): Promise<Journal>
}

/** No batch has this number. */
const none = { number: 0, marker: 0 }
const noon = Date.UTC(2026, 10, 20, 12)

/** The tabs that receipts name. */
function tabsOf(answer: Appended): (string | undefined)[] {
  return 'results' in answer ? answer.results.map((result) => result?.sheetTab) : []
}

/** What every engine of the journal must do; the words are those of `src/journal/journal.ts`. */
export function journalContract(name: string, createWorld: () => Promise<JournalWorld>): void {
  const withJournal = async (work: (journal: Journal, world: JournalWorld) => Promise<void>) => {
    await using world = await createWorld()
    await using journal = await world.open()
    await work(journal, world)
  }

  describe(`${name}: accepted signups`, () => {
    test('a signup that was appended is found by its id, also after a restart', async () => {
      await using world = await createWorld()
      const signup = makeSignup({ sheetTab: 'News' })
      {
        await using journal = await world.open()
        await journal.intake.append([signup])
      }
      await using journal = await world.open()
      expect(await journal.intake.find(signup.id)).toEqual({
        id: signup.id,
        position: expect.any(Number),
        sheetTab: 'News',
        receivedAt: signup.receivedAt,
      })
    })

    test('an unknown id is not found', () =>
      withJournal(async (journal) => {
        expect(await journal.intake.find(makeSignup().id)).toBeUndefined()
      }))

    test('receipts carry the name of the tab as it was first used, also after a restart', async () => {
      await using world = await createWorld()
      {
        await using journal = await world.open()
        const answer = await journal.intake.append([
          makeSignup({ sheetTab: 'News' }),
          makeSignup({ sheetTab: 'NEWS' }),
        ])
        expect(tabsOf(answer)).toEqual(['News', 'News'])
      }
      await using journal = await world.open()
      expect(tabsOf(await journal.intake.append([makeSignup({ sheetTab: 'news' })]))).toEqual([
        'News',
      ])
    })

    test('an append is all or none', () =>
      withJournal(async (journal) => {
        const twice = makeSignup()
        const other = makeSignup({ sheetTab: 'Never made' })
        await expect(journal.intake.append([other, twice, twice])).rejects.toThrow()
        expect(await journal.intake.find(other.id)).toBeUndefined()
        expect(await journal.reader.backlog()).toBe(0)
        const answer = await journal.intake.append([makeSignup({ sheetTab: 'never made' })])
        expect(tabsOf(answer)).toEqual(['never made'])
      }))

    test('one append that fails does not take down those that arrive with it', () =>
      withJournal(async (journal) => {
        const twice = makeSignup()
        const good = makeSignup()
        const results = await Promise.allSettled([
          journal.intake.append([twice, twice]),
          journal.intake.append([good]),
        ])
        expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
        expect(await journal.intake.find(good.id)).toBeDefined()
      }))

    test('listeners hear of every append until they unsubscribe', () =>
      withJournal(async (journal) => {
        let heard = 0
        const unsubscribe = journal.delivery.onAppend((added) => (heard += added))
        await journal.intake.append([makeSignup()])
        expect(heard).toBe(1)
        unsubscribe()
        await journal.intake.append([makeSignup()])
        expect(heard).toBe(1)
      }))

    test('every text comes back as it went in', () =>
      withJournal(async (journal) => {
        const signup = makeSignup({
          sheetTab: "Jon's 🌵 'tab'",
          source: 'a "source"',
          name: 'Ålesund, 東京; DROP TABLE signup',
          tags: ['a, b', '"', '=1+1'],
          metadata: '{"a":[1,{"b":null}]}',
        })
        await journal.intake.append([signup])
        const batch = await freezeNext(journal.delivery)
        expect(batch?.tabs).toEqual([{ tab: signup.sheetTab, signups: [signup] }])
      }))
  })

  describe(`${name}: batches`, () => {
    test('a batch holds the oldest signups of each tab, in order, up to its limit of rows', () =>
      withJournal(async (journal) => {
        await journal.intake.append([
          ...makeSignups(8, { sheetTab: 'A' }),
          ...makeSignups(2, { sheetTab: 'B' }),
        ])
        const batch = await freezeNext(journal.delivery, { rowsMax: 6 })
        expect(addressesOf(batch)).toEqual({
          A: [1, 2, 3, 4].map((n) => `person${n}@example.com`),
          B: [1, 2].map((n) => `person${n}@example.com`),
        })
      }))

    test('a batch keeps to its limit of bytes, but a signup larger than that still goes', () =>
      withJournal(async (journal) => {
        const metadata = `{"a":"${'x'.repeat(5000)}"}`
        await journal.intake.append(makeSignups(4, { metadata }))
        const first = await freezeNext(journal.delivery, { rowsMax: 100, bytesMax: 11_000 })
        expect(addressesOf(first)['Sheet1']).toHaveLength(2)
        await journal.delivery.settle(first?.number ?? 0, noon)
        const second = await freezeNext(journal.delivery, { rowsMax: 100, bytesMax: 1000 })
        expect(addressesOf(second)['Sheet1']).toEqual(['person3@example.com'])
      }))

    test('no frozen batch changes: not by new signups, not by a restart', async () => {
      await using world = await createWorld()
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
    })

    test('only one batch is frozen at a time', () =>
      withJournal(async (journal) => {
        await journal.intake.append(makeSignups(3))
        await freezeNext(journal.delivery, { rowsMax: 1 })
        await expect(freezeNext(journal.delivery)).rejects.toThrow('frozen already')
      }))

    test('with nothing to deliver there is no batch', () =>
      withJournal(async (journal) => {
        expect(await freezeNext(journal.delivery)).toBeUndefined()
        expect(await journal.delivery.frozenBatch()).toBeUndefined()
      }))

    test('tabs that are not wanted wait, and keep their order', () =>
      withJournal(async (journal) => {
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
      }))

    test('settled signups are written and never frozen again, also after a restart', async () => {
      await using world = await createWorld()
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
    })

    test('since when nothing was written of what waits is known, by tabs, also after a restart', async () => {
      await using world = await createWorld()
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
        expect(await journal.reader.waitingSince([]), 'while it is on its way').toBe(noon + 1)
        await journal.delivery.settle(batch?.number ?? 0, noon + 4)
      }
      await using journal = await world.open()
      expect(await journal.reader.waitingSince(['free'])).toBe(noon + 4)
      expect(await journal.reader.waitingSince(['locked'])).toBe(noon + 5)
      // Of one that was given up nothing was written.
      await journal.delivery.release((await freezeNext(journal.delivery)) ?? none)
      expect(await journal.reader.waitingSince([])).toBe(noon + 4)
      const rest = await freezeNext(journal.delivery)
      await journal.delivery.settle(rest?.number ?? 0, noon + 9)
      expect(await journal.reader.waitingSince([])).toBeUndefined()
    })

    test('released signups are frozen anew, under a number that was never used', () =>
      withJournal(async (journal) => {
        await journal.intake.append(makeSignups(2))
        const first = await freezeNext(journal.delivery)
        await journal.delivery.release(first ?? none)
        expect(await journal.delivery.frozenBatch()).toBeUndefined()
        const second = await freezeNext(journal.delivery)
        expect(addressesOf(second)).toEqual(addressesOf(first))
        expect(second?.number).toBeGreaterThan(first?.number ?? Infinity)
        expect(second?.marker).not.toBe(first?.marker)
      }))

    test('a batch that is not frozen can be neither settled nor released', () =>
      withJournal(async (journal) => {
        await journal.intake.append(makeSignups(1))
        const batch = await freezeNext(journal.delivery)
        const number = batch?.number ?? 0
        await journal.delivery.settle(number, noon)
        await expect(journal.delivery.settle(number, noon)).rejects.toThrow('not frozen')
        await expect(journal.delivery.release(batch ?? none)).rejects.toThrow('not frozen')
        await expect(journal.delivery.settle(number + 1, noon)).rejects.toThrow('not frozen')
      }))

    test('the fingerprint tells batches of different journals and contents apart', async () => {
      const seen = new Set<string>()
      for (let index = 0; index < 2; index++) {
        await withJournal(async (journal) => {
          await journal.intake.append(makeSignups(2))
          const batch = await freezeNext(journal.delivery)
          expect(batch?.fingerprint.length).toBeLessThanOrEqual(60)
          seen.add(batch?.fingerprint ?? '')
        })
      }
      expect(seen.size).toBe(2)
    })
  })

  describe(`${name}: markers and calls`, () => {
    test('markers are remembered until they are forgotten, across restarts', async () => {
      await using world = await createWorld()
      const markers: number[] = []
      {
        await using journal = await world.open()
        for (let index = 0; index < 3; index++) {
          await journal.intake.append(makeSignups(1))
          const batch = await freezeNext(journal.delivery)
          if (!batch) throw new Error('a batch was due')
          markers.push(batch.marker)
          if (index === 1) await journal.delivery.release(batch)
          else if (index === 0) await journal.delivery.settle(batch.number, noon)
        }
      }
      await using journal = await world.open()
      expect(await journal.delivery.markerCount()).toBe(3)
      // The third batch is frozen still: its marker has not ended.
      expect((await journal.delivery.endedMarkers()).map(({ id }) => id)).toEqual(
        markers.slice(0, 2),
      )
      await journal.delivery.forgetMarkers(markers.slice(0, 1))
      expect((await journal.delivery.endedMarkers()).map(({ id }) => id)).toEqual(
        markers.slice(1, 2),
      )
      expect(await journal.delivery.markerCount()).toBe(2)
    })

    test('a frozen batch that another writer has found says so when it has ended, and none later', () =>
      withJournal(async (journal) => {
        await journal.intake.append(makeSignups(2))
        const first = await freezeNext(journal.delivery, { rowsMax: 1 })
        await journal.delivery.noteFound(first ?? none)
        await journal.delivery.settle(first?.number ?? 0, noon)
        await expect(journal.delivery.noteFound(first ?? none)).rejects.toThrow('not frozen')
        const second = await freezeNext(journal.delivery)
        await journal.delivery.settle(second?.number ?? 0, noon)
        expect(await journal.delivery.endedMarkers()).toEqual([
          { id: first?.marker, isFound: true, ripeAt: undefined },
          { id: second?.marker, isFound: false, ripeAt: undefined },
        ])
      }))

    test('the life of a marker begins with its note, and is noted once, across restarts', async () => {
      await using world = await createWorld()
      const note = { by: 'a', ms: 100, seen: undefined }
      {
        await using journal = await world.open()
        await journal.intake.append(makeSignups(1))
        const batch = await freezeNext(journal.delivery)
        const lives = new Map([[batch?.marker ?? 0, 1000]])
        const seen = await journal.delivery.noteRunningTime({ ...note, lives })
        expect(seen.ms).toBe(0)
        await journal.delivery.settle(batch?.number ?? 0, noon)
        // While its batch was frozen it could not begin.
        expect((await journal.delivery.endedMarkers())[0]?.ripeAt).toBeUndefined()
        expect((await journal.delivery.noteRunningTime({ ...note, seen, lives })).ms).toBe(100)
      }
      await using journal = await world.open()
      const [ended] = await journal.delivery.endedMarkers()
      expect(ended?.ripeAt).toBe(1100)
      await journal.delivery.noteRunningTime({ ...note, lives: new Map([[ended?.id ?? 0, 1]]) })
      expect((await journal.delivery.endedMarkers())[0]?.ripeAt).toBe(1100)
    })

    test('running time is counted by one process at a time, and another goes on when it is gone', () =>
      withJournal(async (journal) => {
        const none = new Map<number, number>()
        const a1 = await journal.delivery.noteRunningTime({
          by: 'a',
          ms: 5,
          seen: undefined,
          lives: none,
        })
        const a2 = await journal.delivery.noteRunningTime({
          by: 'a',
          ms: 30,
          seen: a1,
          lives: none,
        })
        expect(a2).toEqual({ by: 'a', ms: 30 })
        const b1 = await journal.delivery.noteRunningTime({ by: 'b', ms: 9, seen: a1, lives: none })
        expect(b1).toEqual(a2)
        const b2 = await journal.delivery.noteRunningTime({
          by: 'b',
          ms: 30,
          seen: b1,
          lives: none,
        })
        expect(b2).toEqual({ by: 'b', ms: 30 })
        const b3 = await journal.delivery.noteRunningTime({
          by: 'b',
          ms: 30,
          seen: b2,
          lives: none,
        })
        expect(b3).toEqual({ by: 'b', ms: 60 })
        // Stopped since its last note, for as long as you like.
        const lives = new Map([[1, 1]])
        const woken = await journal.delivery.noteRunningTime({ by: 'a', ms: 1e9, seen: a2, lives })
        expect(woken).toEqual({ by: 'a', ms: 60 })
      }))

    test('a new marker for the frozen batch changes nothing else, and later batches follow it', () =>
      withJournal(async (journal) => {
        await journal.intake.append(makeSignups(2))
        const before = await freezeNext(journal.delivery, { rowsMax: 1 })
        const after = await journal.delivery.remark(before ?? none, markerIdMax)
        await expect(journal.delivery.remark(before ?? none, markerIdMax)).rejects.toThrow(
          'not frozen',
        )
        await expect(journal.delivery.release(before ?? none)).rejects.toThrow('not frozen')
        expect(after).toEqual({ ...before, marker: after.marker })
        expect(after.marker).not.toBe(before?.marker)
        expect(await journal.delivery.frozenBatch()).toEqual(after)
        await journal.delivery.settle(after.number, noon)
        const next = await freezeNext(journal.delivery)
        expect(next?.marker).toBe((after.marker % (2 ** 31 - 1)) + 1)
      }))

    test('a fact is remembered across restarts, and the last word counts', async () => {
      await using world = await createWorld()
      {
        await using journal = await world.open()
        expect(await journal.delivery.fact('fence of x')).toBeUndefined()
        await journal.delivery.noteFact('fence of x', 'unknown')
        await journal.delivery.noteFact('fence of x', 'holds')
      }
      await using journal = await world.open()
      expect(await journal.delivery.fact('fence of x')).toBe('holds')
    })
  })
}
