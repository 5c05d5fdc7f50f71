import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import { noteDelivery } from './delivery-note.ts'

/** An instance that holds the lease, and the notes that are in the journal. */
function createInstance(notes: string[]) {
  const clock = new ManualClock()
  const health = createHealth()
  const journal = { noteFact: async (_: string, text: string) => void notes.push(text) }
  return noteDelivery(
    createEvents(createLog('silent'), health, clock),
    health,
    journal,
    clock,
    () => true,
  )
}

test('delivery that starts again is noted, although this instance has noted the same before', async () => {
  const notes: string[] = []
  const [one, other] = [createInstance(notes), createInstance(notes)]
  one.deliveryStarted('the spreadsheet', 'News')
  other.deliveryBlocked({ reason: 'permission', message: 'Not shared', hint: 'Share' })
  one.deliveryStarted('the spreadsheet', 'News')
  const states = notes.map((text) => (JSON.parse(text) as { delivery: { state: string } }).delivery)
  expect(states).toMatchObject([{ state: 'ok' }, { state: 'blocked' }, { state: 'ok' }])
})

test('a state that goes on is noted once', () => {
  const notes: string[] = []
  const one = createInstance(notes)
  one.deliveryStarted('the spreadsheet', 'News')
  one.deliveryDelayed('No answer', 1000)
  one.deliveryDelayed('No answer', 2000)
  expect(notes).toHaveLength(2)
})
