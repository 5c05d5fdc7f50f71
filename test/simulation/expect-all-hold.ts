import { expect } from 'vitest'

import { personActs } from './acts.ts'
import { replayCommand, runSchedules } from './runner.ts'

/** Runs as many schedules. Fails when one of them breaks a promise, and when a fault happened in none. */
export async function expectAllHold(baseSeed: number, schedules: number): Promise<void> {
  const counts = await expectEachHolds(baseSeed, schedules)
  // A fault that never happened was not tested.
  expect(mustHappen.filter((event) => !counts.has(event))).toEqual([])
}

/** Runs as many schedules. Fails when one of them breaks a promise. Resolves with how often each event happened. */
export async function expectEachHolds(
  baseSeed: number,
  schedules: number,
): Promise<ReadonlyMap<string, number>> {
  console.log(`simulation: ${schedules} schedules from seed ${baseSeed}`)
  const { runs, failures, counts } = await runSchedules(baseSeed, schedules)
  expect(
    failures.map(({ seed, violation }) => `${violation}. See: ${replayCommand(seed)}`),
  ).toEqual([])
  expect(runs).toBe(schedules)
  return counts
}

/** Every kind of fault, and every way in which the writer reacts to one. */
const mustHappen = [
  'refused',
  'unanswered',
  'answer lost',
  'late',
  'applied late',
  'twice',
  'slow',
  'foreign marker',
  'signup accepted',
  'signup refused',
  'signup unanswered',
  'signup repeated',
  'misjudged',
  'in limbo',
  'limbo came back',
  'deliveryOddity',
  ...personActs.map((act) => `person: ${act}`),
  'killed',
  'kill',
  'crash loop',
  'power cut',
  'stop',
  'pause',
  'cut off',
  'fill disk',
  'journal fails',
  'could not start',
  'store: slow',
  'store: not sent',
  'store: lost',
  'store: unanswered',
  'store: late',
  'store down',
  'store cut',
  'deliveryElsewhere',
  'leaseLost',
  'late after a stop',
  'tokens run out',
  'token ends on the way',
  'full by rows',
  'full by bytes',
  'clock jumps',
  'deliveryBlocked',
  'deliveryResumed',
  'tabSetAside',
  'tabResumed',
  'developerMetadata.search',
]
