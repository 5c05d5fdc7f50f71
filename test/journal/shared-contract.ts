import { describe, expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import type { CallLedger, Quota } from '../../src/journal/call-ledger.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalWorld } from './journal-contract.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60_000
const account = 'robot@example.com'

const quota: Quota = { perMinute: 3, perDay: 5 }

/** Reserves calls by turns until so many have been let through; when they were, in seconds. */
async function callByTurns(
  ledgers: readonly CallLedger[],
  clock: ManualClock,
  count: number,
): Promise<number[]> {
  const passed: number[] = []
  for (let turn = 0; passed.length < count; turn++) {
    const wait = await ledgers[turn % ledgers.length]?.reserve(quota)
    if (wait === 0) passed.push(Math.round(clock.elapsed() / 1000))
    else await clock.run(wait ?? 0)
  }
  return passed
}

type Story = (one: Journal, other: Journal) => Promise<void>

/** Tells a story with two instances that have one store open. */
function storyteller(createWorld: () => Promise<JournalWorld>) {
  return async (story: Story) => {
    await using world = await createWorld()
    await using one = await world.open()
    await using other = await world.open()
    await story(one, other)
  }
}

/** What every engine must do when two have one store open, besides what each does alone. */
export function journalSharedContract(
  name: string,
  createWorld: () => Promise<JournalWorld>,
): void {
  const withTwo = storyteller(createWorld)
  describe(`${name}: two at once`, () => {
    test('what one appends, the other finds waiting, counts and can freeze', () =>
      withTwo(async (one, other) => {
        expect(await other.delivery.pending()).toEqual([])
        await one.intake.append(makeSignups(3))
        expect(await other.reader.backlog()).toBe(3)
        expect((await other.delivery.pending()).map(({ name }) => name)).toEqual(['Sheet1'])
        expect((await freezeNext(other.delivery))?.tabs[0]?.signups).toHaveLength(3)
      }))

    test('what one has frozen, the other does not freeze, and may end', () =>
      withTwo(async (one, other) => {
        await one.intake.append(makeSignups(2))
        const batch = await freezeNext(one.delivery, { rowsMax: 1 })
        await expect(freezeNext(other.delivery)).rejects.toThrow('frozen already')
        await other.delivery.settle(batch?.number ?? 0, noon)
        await expect(one.delivery.settle(batch?.number ?? 0, noon)).rejects.toThrow('not frozen')
        expect(await one.reader.backlog()).toBe(1)
      }))

    test('signups that the other has settled meanwhile are not frozen again', () =>
      withTwo(async (one, other) => {
        await one.intake.append(makeSignups(2))
        const pending = await one.delivery.pending()
        const batch = await freezeNext(other.delivery)
        await other.delivery.settle(batch?.number ?? 0, noon)
        const [tab] = pending
        if (!tab) throw new Error('a tab was to wait')
        const share = { tab, signups: (await one.delivery.waiting(tab)).signups }
        await expect(one.delivery.freeze([share], 1000)).rejects.toThrow('ended a batch meanwhile')
      }))

    test('how far a tab is written is seen by who looks, whoever has settled it', () =>
      withTwo(async (one, other) => {
        const heard: unknown[] = []
        one.intake.onSettle((cursors) => heard.push(cursors))
        await one.intake.append([...makeSignups(2), makeSignup({ sheetTab: 'News' })])
        const tabs = ['Sheet1', 'News', 'None']
        expect(await one.intake.cursors(tabs)).toEqual([
          { tab: 'Sheet1', upto: 0 },
          { tab: 'News', upto: 0 },
        ])
        const batch = await freezeNext(other.delivery, { wanted: (tab) => tab === 'Sheet1' })
        await other.delivery.settle(batch?.number ?? 0, noon)
        expect(heard).toEqual([])
        expect(await one.intake.cursors(['SHEET1', 'News'])).toEqual([
          { tab: 'SHEET1', upto: 2 },
          { tab: 'News', upto: 0 },
        ])
      }))

    test('pages of one show what the other has appended, in order', () =>
      withTwo(async (one, other) => {
        const signups = makeSignups(5)
        await one.intake.append(signups.slice(0, 3))
        await other.intake.append(signups.slice(3))
        const first = await one.reader.page(0, 4)
        const rest = await other.reader.page(first.at(-1)?.position ?? 0, 4)
        expect([...first, ...rest].map(({ signup }) => signup)).toEqual(signups)
      }))

    test('a read is answered while the other writes', () =>
      withTwo(async (one, other) => {
        await one.intake.append(makeSignups(1))
        const appends = Promise.all(makeSignups(50).map((signup) => one.intake.append([signup])))
        expect((await other.reader.page(0, 10)).length).toBeGreaterThan(0)
        await appends
      }))
  })
}

/** What every engine must do about the calls of one account, whoever makes them. */
export function callLedgerContract(name: string, createWorld: () => Promise<JournalWorld>): void {
  const withTwo = storyteller(createWorld)
  describe(`${name}: the calls of one account`, () => {
    test('two processes together keep the windows', () =>
      withTwo(async (one, other) => {
        const clock = new ManualClock()
        const ledgers = [one.callLedger(account, clock), other.callLedger(account, clock)]
        expect(await callByTurns(ledgers, clock, 6)).toEqual([0, 0, 0, 61, 61, 86_401])
      }))

    test('each account has windows of its own', () =>
      withTwo(async (one, other) => {
        const clock = new ManualClock()
        const ledger = one.callLedger(account, clock)
        expect(await callByTurns([ledger], clock, 3)).toEqual([0, 0, 0])
        expect(await other.callLedger('else@example.com', clock).reserve(quota)).toBe(0)
        expect(await ledger.reserve(quota)).toBe(61_000)
      }))

    test('calls that are reserved at the same time are counted one by one', () =>
      withTwo(async (one, other) => {
        const clock = new ManualClock()
        const ledgers = [one.callLedger(account, clock), other.callLedger(account, clock)]
        const waits = await Promise.all(
          [...ledgers, ...ledgers, ...ledgers].map((ledger) => ledger.reserve(quota)),
        )
        expect(waits.filter((wait) => wait === 0)).toHaveLength(3)
      }))

    test('a wall clock that is set while both run opens no window early', () =>
      withTwo(async (one, other) => {
        for (const jump of [30 * minute, -30 * minute]) {
          const clock = new ManualClock()
          const named = `${account} ${jump}`
          const first = one.callLedger(named, clock)
          await first.reserve(quota)
          clock.jump(jump)
          // Begins by the clock as it is now, half an hour from the first one's.
          const second = other.callLedger(named, clock)
          expect(await callByTurns([second, first, second], clock, 2)).toEqual([0, 0])
          const waits = [await first.reserve(quota), await second.reserve(quota)]
          expect(Math.min(...waits), String(jump)).toBe(61_000)
        }
      }))
  })
}
