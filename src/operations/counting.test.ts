import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { startCounting } from './counting.ts'

test('signups are counted every five seconds, slice after slice, and after a failure again', async () => {
  const warnings: string[] = []
  const answers = [true, true, false, new JournalUnavailable('full'), new Error('odd')]
  let asked = 0
  const countNext = async () => {
    const answer = answers[asked++] ?? false
    if (answer instanceof Error) throw answer
    return answer
  }
  const clock = new ManualClock()
  const log = { warn: (_: object, message: string) => warnings.push(message) }
  await using _ = startCounting({ countNext }, clock, log)
  await clock.run(4_000)
  expect(asked).toBe(0)
  await clock.run(1_500)
  expect(asked).toBe(3)
  await clock.run(5_000)
  expect([asked, warnings]).toEqual([4, []])
  await clock.run(5_000)
  expect([asked, warnings.length]).toEqual([5, 1])
  await clock.run(5_000)
  expect(asked).toBe(6)
})
