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

/** An instance that holds the lease, and repeats its note until the end of the test. */
function startInstance(journal: NotesJournal, clock = new ManualClock(), delivers = () => true) {
  const health = createHealth()
  const events = createEvents(createLog('silent'), health, clock)
  const noting = noteDelivery(events, health, journal, clock, delivers)
  const stop = new AbortController()
  const repeating = noting.repeat(stop.signal)
  return {
    ...noting.events,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await repeating
    },
  }
}

const refusal = { reason: 'permission', message: 'Not shared', hint: 'Share' } as const

test('delivery that starts again is noted, although this instance has noted the same before', async () => {
  const journal = createJournal()
  await using one = startInstance(journal)
  await using other = startInstance(journal)
  one.deliveryStarted('the spreadsheet')
  other.deliveryBlocked(refusal)
  one.deliveryStarted('the spreadsheet')
  expect(journal.states).toEqual(['ok', 'blocked', 'ok'])
})

test('a state that goes on is noted once', async () => {
  const [journal, clock] = [createJournal(), new ManualClock()]
  await using one = startInstance(journal, clock)
  one.deliveryStarted('the spreadsheet')
  one.deliveryDelayed('No answer', 1000)
  one.deliveryDelayed('No answer', 2000)
  await clock.run(60_000)
  expect(journal.states).toEqual(['ok', 'delayed'])
})

test('a note that is carried out after a newer one is made right within 10 seconds', async () => {
  const [journal, clock] = [createJournal(), new ManualClock()]
  await using one = startInstance(journal, clock)
  one.deliveryBlocked(refusal)
  const [late = ''] = journal.notes
  one.deliveryResumed()
  const [, newest] = journal.notes
  journal.notes.push(late)
  await clock.run(10_000)
  expect(journal.states).toEqual(['blocked', 'ok', 'blocked', 'ok'])
  expect(journal.notes.at(-1)).toBe(newest)
})

test('a note that failed is repeated until the journal has it', async () => {
  const [journal, clock] = [createJournal(), new ManualClock()]
  await using one = startInstance(journal, clock)
  journal.faults.isDown = true
  one.deliveryBlocked(refusal)
  await clock.run(30_000)
  journal.faults.isDown = false
  await clock.run(10_000)
  expect(journal.states).toEqual(['blocked'])
})

test('an instance that does not deliver leaves the note of another one', async () => {
  const [journal, clock] = [createJournal(), new ManualClock()]
  let delivers = true
  await using one = startInstance(journal, clock, () => delivers)
  one.deliveryStarted('the spreadsheet')
  delivers = false
  await using other = startInstance(journal)
  other.deliveryBlocked(refusal)
  await clock.run(60_000)
  expect(journal.states).toEqual(['ok', 'blocked'])
})

test('an instance that loses its lease while it reads the note leaves that of another one', async () => {
  const [journal, clock] = [createJournal(), new ManualClock()]
  let delivers = true
  const reading = {
    ...{ notes: journal.notes, faults: journal.faults, states: journal.states },
    noteFact: journal.noteFact,
    async fact() {
      delivers = false
      return 'the note of another instance'
    },
  }
  await using one = startInstance(reading, clock, () => delivers)
  one.deliveryStarted('the spreadsheet')
  await clock.run(10_000)
  expect(delivers).toBe(false)
  expect(journal.states).toEqual(['ok'])
})

test('an instance that has not met the spreadsheet yet notes nothing', async () => {
  const [journal, clock] = [createJournal(), new ManualClock()]
  await using _ = startInstance(journal, clock)
  await clock.run(60_000)
  expect(journal.notes).toEqual([])
})
