import { hour } from '../platform/clock.ts'
import type { Millis } from './signup.ts'

interface Coming {
  readonly member: unknown
  readonly at: Millis
}

/**
 * Finds keys that come with many different members within an hour. Its memory is bounded: of each key it
 * keeps the newest members, and it keeps the keys that came last, none for more than two hours.
 */
export class HourlyCount {
  readonly #most: number
  readonly #keysMax: number
  /** Keys that came since `#began`. */
  #newer = new Map<string, Coming[]>()
  /** Keys that came before, and not since. Two maps, as the first key of one is slow to find and to remove. */
  #older = new Map<string, Coming[]>()
  #began = -Infinity

  /**
   * @param most so many members of a key within an hour are not many yet
   * @param keysMax the most keys at once
   */
  constructor(most: number, keysMax: number) {
    this.#most = most
    this.#keysMax = keysMax
  }

  /** How many keys are kept. */
  get size(): number {
    return this.#newer.size + this.#older.size
  }

  /**
   * Counts a member of the key. Returns whether the key had many within the last hour, together with this one.
   *
   * @param member undefined when each counts, whoever it is
   * @param elapsed the time of a clock that never runs backwards
   */
  add(key: string, member: unknown, elapsed: Millis): boolean {
    const comings = this.#comingsOf(key, elapsed)
    const before =
      member === undefined ? -1 : comings.findIndex((coming) => coming.member === member)
    if (before !== -1) comings.splice(before, 1)
    comings.push({ member, at: elapsed })
    if (comings.length <= this.#most) return false
    if (comings.length > this.#most + 1) comings.shift()
    return elapsed - (comings[0]?.at ?? 0) < hour
  }

  #comingsOf(key: string, elapsed: Millis): Coming[] {
    if (elapsed - this.#began >= hour || this.#newer.size >= this.#keysMax / 2) {
      this.#older = elapsed - this.#began >= 2 * hour ? new Map<string, Coming[]>() : this.#newer
      this.#newer = new Map()
      this.#began = elapsed
    }
    const known = this.#newer.get(key)
    if (known) return known
    const comings = this.#older.get(key) ?? []
    this.#older.delete(key)
    this.#newer.set(key, comings)
    return comings
  }
}
