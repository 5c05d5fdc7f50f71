import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import type { DeliveryNote } from '../journal/contracts/delivery-log.ts'
import { noteDelivery } from './delivery-note.ts'

/** The note in a journal that an instance reads and writes. */
function createJournal() {
  const notes: string[] = []
  return {
    notes,
    faults: { isDown: false },
    async fact() {
      if (this.faults.isDown) throw new JournalUnavailable('Down')
      return notes.at(-1)
    },
    async noteFact(_: string, text: string) {
      if (this.faults.isDown) throw new JournalUnavailable('Down')
      notes.push(text)
    },
    get states() {
      return notes.map((text) => (JSON.parse(text) as DeliveryNote).delivery.state)
    },
  }
}

type NotesJournal = ReturnType<typeof createJournal>

/** An instance that holds the lease. */
function createInstance(journal: NotesJournal, clock = new ManualClock(), delivers = () => true) {
  const health = createHealth()
  const events = createEvents(createLog('silent'), health, clock)
  return noteDelivery(events, health, journal, clock, delivers)
}

const refusal = { reason: 'permission', message: 'Not shared', hint: 'Share' } as const

test('delivery that starts again is noted, although this instance has noted the same before', () => {
  const journal = createJournal()
  const [one, other] = [createInstance(journal).events, createInstance(journal).events]
  one.deliveryStarted('the spreadsheet', 'News')
  other.deliveryBlocked(refusal)
  one.deliveryStarted('the spreadsheet', 'News')
  expect(journal.states).toEqual(['ok', 'blocked', 'ok'])
})

test('a state that goes on is noted once', async () => {
  const [journal, clock, stop] = [createJournal(), new ManualClock(), new AbortController()]
  const one = createInstance(journal, clock)
  const repeating = one.repeat(stop.signal)
  one.events.deliveryStarted('the spreadsheet', 'News')
  one.events.deliveryDelayed('No answer', 1000)
  one.events.deliveryDelayed('No answer', 2000)
  await clock.run(60_000)
  stop.abort()
  await repeating
  expect(journal.states).toEqual(['ok', 'delayed'])
})

test('a note that is carried out after a newer one is made right within 10 seconds', async () => {
  const [journal, clock, stop] = [createJournal(), new ManualClock(), new AbortController()]
  const one = createInstance(journal, clock)
  const repeating = one.repeat(stop.signal)
  one.events.deliveryBlocked(refusal)
  const [late = ''] = journal.notes
  one.events.deliveryResumed()
  const [, newest] = journal.notes
  journal.notes.push(late)
  await clock.run(10_000)
  expect(journal.states).toEqual(['blocked', 'ok', 'blocked', 'ok'])
  expect(journal.notes.at(-1)).toBe(newest)
  stop.abort()
  await repeating
})

test('a note that failed is repeated until the journal has it', async () => {
  const [journal, clock, stop] = [createJournal(), new ManualClock(), new AbortController()]
  const one = createInstance(journal, clock)
  const repeating = one.repeat(stop.signal)
  journal.faults.isDown = true
  one.events.deliveryBlocked(refusal)
  await clock.run(30_000)
  journal.faults.isDown = false
  await clock.run(10_000)
  expect(journal.states).toEqual(['blocked'])
  stop.abort()
  await repeating
})

test('an instance that does not deliver leaves the note of another one', async () => {
  const [journal, clock, stop] = [createJournal(), new ManualClock(), new AbortController()]
  let delivers = true
  const one = createInstance(journal, clock, () => delivers)
  const repeating = one.repeat(stop.signal)
  one.events.deliveryStarted('the spreadsheet', 'News')
  delivers = false
  createInstance(journal).events.deliveryBlocked(refusal)
  await clock.run(60_000)
  expect(journal.states).toEqual(['ok', 'blocked'])
  stop.abort()
  await repeating
})

test('an instance that loses its lease while it reads the note leaves that of another one', async () => {
  const [journal, clock, stop] = [createJournal(), new ManualClock(), new AbortController()]
  let delivers = true
  const reading = {
    ...{ notes: journal.notes, faults: journal.faults, states: journal.states },
    noteFact: journal.noteFact,
    async fact() {
      delivers = false
      return 'the note of another instance'
    },
  }
  const one = createInstance(reading, clock, () => delivers)
  const repeating = one.repeat(stop.signal)
  one.events.deliveryStarted('the spreadsheet', 'News')
  await clock.run(10_000)
  expect(delivers).toBe(false)
  expect(journal.states).toEqual(['ok'])
  stop.abort()
  await repeating
})

test('an instance that has not met the spreadsheet yet notes nothing', async () => {
  const [journal, clock, stop] = [createJournal(), new ManualClock(), new AbortController()]
  const repeating = createInstance(journal, clock).repeat(stop.signal)
  await clock.run(60_000)
  expect(journal.notes).toEqual([])
  stop.abort()
  await repeating
})
