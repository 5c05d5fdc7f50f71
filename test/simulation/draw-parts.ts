import type { Millis } from '../../src/signup/signup.ts'
import type { Dice } from './dice.ts'
import { type Arrival, tabs } from './schedule.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** A schedule without faults, people and traffic. */
export const calm = {
  people: [],
  machine: [],
  jumps: [],
  chance: {
    call: 0,
    token: 0,
    journal: 0,
    commit: 0,
    kill: 0,
    stop: 0,
    foreignMarker: 0,
    slow: 0,
    broken: 0,
  },
  // While others prune markers, and before the access token runs out; or for any time.
  stops: [
    [16 * minute, 58 * minute],
    [minute, 300 * minute],
  ],
  writers: 1,
  store: 'disk',
  quota: { perMinute: 50, perDay: 10_000 },
  duplicates: 'append',
  rowsMax: 5000,
  bytesMax: 2 * 1024 * 1024,
  tokenLifeMs: 3599 * second,
} as const

/** People who sign up for one of the first tabs. */
export function drawArrival(dice: Dice, tabCount: number): Arrival {
  return {
    tab: tabs[dice.between(0, tabCount - 1)] ?? 'News',
    people: dice.chance(0.5) ? 1 : dice.between(2, 8),
    isBulk: dice.chance(0.5),
    hasKeys: dice.chance(0.7),
  }
}

/** A jump of a clock: up to two days, ahead or back. */
export function drawJump(dice: Dice): Millis {
  const size = dice.pick([second, minute, hour, 48 * hour]) * dice.random()
  return Math.round(dice.chance(0.5) ? -size : size)
}
