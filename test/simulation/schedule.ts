import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import type { Random } from '../../src/platform/clock.ts'
import type { Millis } from '../../src/signup/signup.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** What people do to the spreadsheet. */
export type PersonAct =
  | 'rename tab'
  | 'delete tab'
  | 'add tab'
  | 'protect tab'
  | 'free tab'
  | 'narrow tab'
  | 'unshare'
  | 'share'

/**
 * What is done to the machine. `stop` is SIGTERM, `pause` SIGSTOP and, later, SIGCONT; `cut off` takes
 * the network from one process.
 */
export type MachineAct = 'kill' | 'stop' | 'pause' | 'fill disk' | 'tokens run out' | 'cut off'

export interface Timed<T> {
  readonly at: Millis
  readonly what: T
}

/** Everything about a run that is drawn beforehand; the rest is drawn at each step. */
export interface Schedule {
  readonly signups: readonly Timed<string>[]
  readonly people: readonly Timed<PersonAct>[]
  readonly machine: readonly Timed<MachineAct>[]
  /** By how much the wall clock jumps. */
  readonly jumps: readonly Timed<Millis>[]
  /** Nothing goes wrong any more from then on. */
  readonly faultsUntil: Millis
  /** Chance that something goes wrong with a call, a token request, a step of the journal; of a kill at a step. */
  readonly chance: {
    readonly call: number
    readonly token: number
    readonly journal: number
    readonly kill: number
    readonly foreignMarker: number
  }
  readonly writers: 1 | 2
  readonly quota: { readonly perMinute: number; readonly perDay: number }
  readonly markersMax: number
  /** How long after `faultsUntil` the last row may arrive. */
  readonly drainMs: Millis
}

const tabs = ['News', 'Events', 'Jobs']

export interface Dice {
  readonly random: Random
  /** True this often. */
  chance(probability: number): boolean
  /** A whole number, both ends included. */
  between(least: number, most: number): number
  pick<const T>(from: readonly [T, ...T[]]): T
}

export function createDice(seed: number): Dice {
  const random = seededRandom(seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  return {
    random,
    between,
    chance: (probability) => probability > 0 && random() < probability,
    pick: (from) => from[between(0, from.length - 1)] ?? from[0],
  }
}

/** Draws a schedule: mostly short ones with much going wrong, some long ones in which markers are pruned. */
export function drawSchedule(dice: Dice): Schedule {
  const writers = dice.chance(0.12) ? 2 : 1
  const isLong = dice.chance(writers === 1 ? 0.05 : 0.25)
  const hasSmallQuota = writers === 1 && dice.chance(0.12)
  const faultsUntil = isLong ? dice.between(20, 50) * minute : dice.between(5, 300) * second
  const moments = <T>(count: number, draw: () => T): Timed<T>[] =>
    Array.from({ length: count }, () => ({ at: dice.between(0, faultsUntil), what: draw() }))
  const some = (most: number) => (dice.chance(0.4) ? dice.between(1, most) : 0)
  const tabCount = dice.between(1, tabs.length)
  const level = dice.pick([0.02, 0.1, 0.3, 0.5])
  const often = (chance: number, probability: number) => (dice.chance(chance) ? probability : 0)
  return {
    signups: moments(isLong ? dice.between(12, 24) : dice.between(1, 5), () =>
      tabOf(dice, tabCount),
    ),
    people: moments(some(5), () => dice.pick(personActs)),
    machine: moments(some(3), () => dice.pick(machineActs(writers))),
    jumps: moments(dice.chance(0.3) ? dice.between(1, 2) : 0, () => drawJump(dice)),
    faultsUntil,
    chance: {
      call: level,
      token: often(0.3, level),
      journal: often(0.3, level / 4),
      kill: often(0.5, level / 10),
      foreignMarker: often(0.1, 0.3),
    },
    writers,
    quota: hasSmallQuota
      ? { perMinute: dice.between(3, 8), perDay: dice.between(20, 60) }
      : { perMinute: 50, perDay: 10_000 },
    markersMax: isLong && dice.chance(0.3) ? 12 : 100,
    drainMs: hasSmallQuota ? 5 * 24 * hour : 2 * hour,
  }
}

function tabOf(dice: Dice, tabCount: number): string {
  return tabs[dice.between(0, tabCount - 1)] ?? 'News'
}

const personActs = [
  'rename tab',
  'delete tab',
  'add tab',
  'protect tab',
  'protect tab',
  'free tab',
  'narrow tab',
  'unshare',
  'share',
] as const satisfies readonly PersonAct[]

function machineActs(writers: 1 | 2): [MachineAct, ...MachineAct[]] {
  const acts = ['kill', 'stop', 'fill disk', 'tokens run out', 'cut off'] as const
  return writers === 1 ? [...acts, 'pause'] : [...acts, 'cut off', 'cut off']
}

function drawJump(dice: Dice): Millis {
  const size = dice.pick([second, minute, hour, 48 * hour]) * dice.random()
  return Math.round(dice.chance(0.5) ? -size : size)
}
