import type { Millis } from '../../src/signup/signup.ts'
import { type MachineAct, personActs } from './acts.ts'
import type { Dice } from './dice.ts'
import { calm, drawArrival, drawJump } from './draw-parts.ts'
import { drawShared } from './draw-shared.ts'
import { type Arrival, type Schedule, tabs, type Timed } from './schedule.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** How many of all schedules have a shared store. */
const sharedPart = 1 / 3

/** Draws a schedule. Most are short with many faults; some are long, so that markers are pruned. */
export function drawSchedule(dice: Dice): Schedule {
  if (dice.chance(0.0015)) return drawStoppedWriters(dice)
  if (dice.chance(0.0005)) return drawShortLives(dice)
  if (dice.chance(0.012)) return drawBusyPeople(dice)
  if (dice.chance(0.01)) return drawTightBatches(dice)
  if (dice.chance(sharedPart)) return drawShared(dice)
  const writers = dice.chance(0.12) ? 2 : 1
  const isLong = dice.chance(writers === 1 ? 0.05 : 0.1)
  const hasSmallQuota = writers === 1 && dice.chance(0.12)
  const hasSmallPool = isLong && dice.chance(0.3)
  const faultsUntil = isLong ? dice.between(20, 50) * minute : dice.between(5, 300) * second
  const moments = <T>(count: number, draw: () => T): Timed<T>[] =>
    Array.from({ length: count }, () => ({ at: dice.between(0, faultsUntil), what: draw() }))
  const some = (most: number) => (dice.chance(0.4) ? dice.between(1, most) : 0)
  const tabCount = dice.between(1, tabs.length)
  const level = dice.pick([0.02, 0.1, 0.3, 0.5])
  const often = (chance: number, probability: number) => (dice.chance(chance) ? probability : 0)
  return {
    signups: moments(isLong ? dice.between(12, 24) : dice.between(1, 5), () =>
      drawArrival(dice, tabCount),
    ),
    people: moments(some(5), () => dice.pick(personActs)),
    machine: moments(some(3), () => dice.pick(machineActs(writers))),
    jumps: moments(dice.chance(0.3) ? dice.between(1, 2) : 0, () => drawJump(dice)),
    faultsUntil,
    chance: {
      ...calm.chance,
      call: level,
      token: often(0.3, level),
      journal: often(0.3, level / 4),
      commit: often(0.3, level / 4),
      kill: often(0.5, level / 10),
      foreignMarker: often(0.1, 0.3),
    },
    stops: calm.stops,
    writers,
    store: 'disk',
    quota: hasSmallQuota
      ? { perMinute: dice.between(3, 8), perDay: dice.between(20, 60) }
      : calm.quota,
    markersMax: hasSmallPool ? 12 : 100,
    duplicates: dice.chance(0.15) ? 'ignore' : 'append',
    rowsMax: dice.chance(0.3) ? dice.between(1, 3) : calm.rowsMax,
    bytesMax: calm.bytesMax,
    tokenLifeMs: dice.chance(0.2) ? dice.between(310, 900) * second : calm.tokenLifeMs,
    drainMs: hasSmallQuota ? smallQuotaDrainMs : hasSmallPool ? smallPoolDrainMs : 2 * hour,
  }
}

/** Traffic on two tabs while people work in the spreadsheet. Few calls fail, so that they meet many batches. */
function drawBusyPeople(dice: Dice): Schedule {
  const faultsUntil = 8 * minute
  const moments = <T>(count: number, draw: () => T): Timed<T>[] =>
    Array.from({ length: count }, () => ({ at: dice.between(0, faultsUntil), what: draw() }))
  return {
    ...calm,
    signups: moments(dice.between(8, 20), () => drawArrival(dice, 2)),
    people: moments(dice.between(3, 8), () => dice.pick(personActs)),
    faultsUntil,
    chance: { ...calm.chance, call: dice.pick([0, 0.05]) },
    markersMax: 100,
    drainMs: 2 * hour,
  }
}

/** Bursts that take several batches, which are full by their rows or by their bytes. */
function drawTightBatches(dice: Dice): Schedule {
  const faultsUntil = dice.between(2, 4) * minute
  const bursts = Array.from({ length: 2 }, () => dice.between(0, faultsUntil))
  return {
    ...calm,
    signups: bursts.flatMap((at) =>
      Array.from({ length: dice.between(2, 6) }, () => ({ at, what: drawArrival(dice, 3) })),
    ),
    faultsUntil,
    chance: { ...calm.chance, call: dice.pick([0, 0.1]), kill: dice.pick([0, 0.02]) },
    rowsMax: dice.pick([2, 3, 20]),
    bytesMax: dice.between(700, 2500),
    markersMax: 100,
    drainMs: 2 * hour,
  }
}

/** Two writers that may be stopped at any step. They wake up and send with the access token that they have. */
export function drawStoppedWriters(dice: Dice): Schedule {
  const faultsUntil = dice.between(3, 6) * hour
  return {
    ...calm,
    signups: Array.from({ length: faultsUntil / (2 * minute) }, () => ({
      at: dice.between(0, faultsUntil),
      what: onePerson,
    })),
    faultsUntil,
    chance: { ...calm.chance, call: dice.pick([0, 0.02]), stop: dice.pick([0.004, 0.01]) },
    writers: 2,
    markersMax: dice.pick([30, 300]),
    drainMs: 8 * hour,
  }
}

/** Processes that are killed every ten minutes, for hours. The age of markers has to go on across them. */
function drawShortLives(dice: Dice): Schedule {
  const faultsUntil = dice.between(2, 4) * hour
  const every = (step: Millis) =>
    Array.from({ length: Math.floor(faultsUntil / step) }, (_, index) => (index + 1) * step)
  return {
    ...calm,
    signups: every(minute).map((at) => ({ at, what: onePerson })),
    machine: every(10 * minute).map((at) => ({ at, what: 'kill' })),
    faultsUntil,
    chance: { ...calm.chance, call: dice.pick([0, 0.02]) },
    markersMax: 60,
    drainMs: hour,
  }
}

/**
 * 24 arrivals of 8 people may need 192 batches: 16 times the pool of 12 markers, which live up to 65 minutes,
 * or at 20 calls a day 10 days, and as long again for other calls and for jumps of the clock.
 */
const smallPoolDrainMs = 18 * hour
const smallQuotaDrainMs = 20 * 24 * hour

const onePerson: Arrival = { tab: 'News', people: 1, isBulk: false, hasKeys: true }

function machineActs(writers: 1 | 2): [MachineAct, ...MachineAct[]] {
  const acts = [
    'kill',
    'crash loop',
    'power cut',
    'stop',
    'fill disk',
    'tokens run out',
    'cut off',
  ] as const
  return writers === 1 ? [...acts, 'pause'] : [...acts, 'cut off', 'cut off']
}
