import { describe, expect, test } from 'vitest'
import { makeSignup } from '../../../harness/make-signup.ts'
import type { FrozenBatch } from '../../signup/batch.ts'
import { ourHeader, readHeader } from '../header.ts'
import { Landings, type SheetNow } from './landings.ts'
import type { Place } from './place.ts'
import type { TabPlan } from './requests.ts'

const ours: Place = { header: ourHeader }
const theirs: Place = { header: readHeader(['Name', 'Email']) }
const noon = Date.UTC(2026, 10, 20, 12)

const batch = (number: number): FrozenBatch => ({ number, marker: 1, fingerprint: 'x', tabs: [] })

/** The plan for rows in the tab `News`, whose sheet has the id 7. */
function planned(change: Partial<TabPlan> = {}, seconds = [0]): TabPlan {
  const signups = seconds.map((second) => makeSignup({ receivedAt: noon + second * 1000 }))
  const sheet = { isNew: false, missingColumns: 0, isEmpty: false }
  return { rows: { tab: 'News', signups }, sheetId: 7, place: ours, ...sheet, ...change }
}

/** The notices when the sheet with the id 7 is like this. */
function noticesWhen(landings: Landings, now: Partial<SheetNow> | undefined): readonly string[] {
  const sheet = { words: 'the tab at place 2', isOf: () => true, place: ours, ...now }
  landings.verify((sheetId) => (now && sheetId === 7 ? sheet : undefined))
  return landings.takeNotices()
}

const renamed = { isOf: (tab: string) => tab !== 'News' }
const rearranged = { place: theirs }

/** Landings that know of one row of batch 1. */
function landed(plan = planned()): Landings {
  const landings = new Landings()
  landings.note(batch(1), [plan])
  landings.landed(batch(1))
  return landings
}

describe('rows that were written just after a person changed their tab', () => {
  test('have a notice once when the tab was renamed, with the times that find them', () => {
    const landings = landed(planned({}, [5, 0, 9]))
    expect(noticesWhen(landings, renamed)).toEqual([
      'Batch 1: 3 rows with Timestamps from 2026-11-20T12:00:00.000Z to 2026-11-20T12:00:09.000Z ' +
        'went to the tab at place 2, which was renamed.',
    ])
    expect(noticesWhen(landings, renamed)).toEqual([])
  })

  test('have a notice once when the columns were changed', () => {
    const landings = landed()
    expect(noticesWhen(landings, rearranged)).toEqual([
      expect.stringMatching(
        /^Batch 1: 1 row with Timestamps from .* went to the tab at place 2 by the columns or the table/,
      ),
    ])
    expect(noticesWhen(landings, rearranged)).toEqual([])
  })

  test.each<[string, Partial<SheetNow> | undefined]>([
    ['the tab is as it was', {}],
    ['the tab was deleted', undefined],
  ])('have none when %s, and none later', (_, now) => {
    const landings = landed()
    expect(noticesWhen(landings, now)).toEqual([])
    expect(noticesWhen(landings, rearranged)).toEqual([])
  })

  test('have it later when it is not yet known where rows go', () => {
    const landings = landed()
    expect(noticesWhen(landings, { place: undefined })).toEqual([])
    expect(noticesWhen(landings, rearranged)).toHaveLength(1)
  })

  test('have one at once when the tab was renamed and nothing else is known', () => {
    expect(noticesWhen(landed(), { ...renamed, place: undefined })).toHaveLength(1)
  })

  test('have none when a new tab was made for them', () => {
    const landings = new Landings()
    landings.note(batch(1), [planned({ isNew: true })])
    landings.landed(batch(1))
    expect(noticesWhen(landings, rearranged)).toEqual([])
  })
})

describe('rows of which it is not known whether they were written', () => {
  test('have a notice only after it is known that they were', () => {
    const landings = new Landings()
    landings.note(batch(1), [planned()])
    expect(noticesWhen(landings, rearranged)).toEqual([])
    landings.landed(batch(1))
    expect(noticesWhen(landings, rearranged)).toHaveLength(1)
  })

  test('have none when another batch was written', () => {
    const landings = new Landings()
    landings.note(batch(1), [planned()])
    landings.landed(batch(2))
    expect(noticesWhen(landings, renamed)).toEqual([])
  })

  test('have none when they were not, though those of another batch may', () => {
    const landings = new Landings()
    landings.note(batch(1), [planned()])
    landings.drop(batch(2))
    landings.landed(batch(1))
    expect(noticesWhen(landings, renamed)).toHaveLength(1)
    landings.note(batch(3), [planned()])
    landings.drop(batch(3))
    landings.landed(batch(3))
    expect(noticesWhen(landings, renamed)).toEqual([])
  })

  test('are compared with the place of the first try', () => {
    const landings = new Landings()
    landings.note(batch(1), [planned({ place: theirs })])
    landings.note(batch(1), [planned()])
    landings.landed(batch(1))
    expect(noticesWhen(landings, {})).toHaveLength(1)
  })
})
