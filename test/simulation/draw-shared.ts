import { type MachineAct, personActs } from './acts.ts'
import type { Dice } from './dice.ts'
import { calm, drawArrival, drawJump } from './draw-parts.ts'
import type { Schedule, Timed } from './schedule.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

const sharedActs = [
  'kill',
  'power cut',
  'crash loop',
  'stop',
  'pause',
  'pause',
  'tokens run out',
  'cut off',
  'store down',
  'store down',
  'store cut',
  'store cut',
] as const satisfies readonly MachineAct[]

/** Two or three instances on several machines, which share a store. One of them delivers. */
export function drawShared(dice: Dice): Schedule {
  const faultsUntil = dice.between(5, 90) * second
  const moments = <T>(count: number, draw: () => T): Timed<T>[] =>
    Array.from({ length: count }, () => ({ at: dice.between(0, faultsUntil), what: draw() }))
  const level = dice.pick([0.02, 0.1, 0.3])
  const often = (chance: number, probability: number) => (dice.chance(chance) ? probability : 0)
  const some = (chance: number, most: number) => (dice.chance(chance) ? dice.between(1, most) : 0)
  return {
    ...calm,
    signups: moments(dice.between(1, 6), () => drawArrival(dice, 2)),
    people: moments(some(0.2, 2), () => dice.pick(personActs)),
    machine: moments(dice.between(0, 3), () => dice.pick(sharedActs)),
    jumps: moments(some(0.15, 2), () => drawJump(dice)),
    faultsUntil,
    chance: {
      ...calm.chance,
      call: often(0.5, level),
      token: often(0.2, level),
      kill: often(0.3, level / 20),
      stop: often(0.3, 0.01),
      foreignMarker: often(0.05, 0.3),
      slow: dice.pick([0, 0.01, 0.05]),
      broken: dice.pick([0, 0.01, 0.05, 0.2]),
    },
    // Longer than the lease keepMs.
    stops: [
      [7 * second, 30 * second],
      [second, 200 * second],
    ],
    writers: dice.pick([2, 2, 3]),
    store: 'shared',
    quota: dice.chance(0.15) ? { perMinute: dice.between(5, 9), perDay: 10_000 } : calm.quota,
    duplicates: dice.chance(0.15) ? 'ignore' : 'append',
    rowsMax: dice.chance(0.3) ? dice.between(1, 3) : calm.rowsMax,
    markersMax: 100,
    drainMs: hour,
  }
}
