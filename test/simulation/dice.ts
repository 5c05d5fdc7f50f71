import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import type { Random } from '../../src/platform/clock.ts'

export interface Dice {
  readonly random: Random
  /** True with this probability. */
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
