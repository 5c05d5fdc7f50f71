import { hour, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

const hourSeconds = hour / second
/** Keys that share a place: the one that came last longest ago makes room for a new one. */
const keysOfPlace = 4

/**
 * Finds keys that come with many different members within an hour. Its memory is fixed, and costs the garbage
 * collector nothing. It keeps hashes only: two keys have the same one in one of four billion cases.
 */
export class HourlyCount {
  readonly #membersMax: number
  readonly #keysMax: number
  readonly #seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
  #calls = 0
  /** By key: its hash, at which call it came last, and how many members it has. */
  readonly #keys: Uint32Array
  readonly #last: Uint32Array
  readonly #sizes: Uint8Array
  /** By key and member, the oldest first: hash, and time in seconds. */
  readonly #members: Uint32Array
  readonly #times: Uint32Array

  /**
   * @param most so many members of a key within an hour are not many yet; below 255
   * @param keysMax how many keys there is room for; a multiple of four
   */
  constructor(most: number, keysMax: number) {
    this.#membersMax = most + 1
    this.#keysMax = keysMax
    this.#keys = new Uint32Array(keysMax)
    this.#last = new Uint32Array(keysMax)
    this.#sizes = new Uint8Array(keysMax)
    this.#members = new Uint32Array(keysMax * this.#membersMax)
    this.#times = new Uint32Array(keysMax * this.#membersMax)
  }

  /**
   * Counts a member of the key. Returns whether the key had many within the last hour, together with this one.
   *
   * @param member undefined when each counts, whoever it is
   * @param elapsed the time of a clock that never runs backwards
   */
  add(key: string, member: string | undefined, elapsed: Millis): boolean {
    const now = Math.floor(elapsed / second)
    const slot = this.#slotOf(this.#hashOf(key))
    const id = member === undefined ? 0 : this.#hashOf(member)
    const first = slot * this.#membersMax
    let end = first
    for (let at = first; at < first + (this.#sizes[slot] ?? 0); at++) {
      const time = this.#times[at] ?? 0
      const other = this.#members[at] ?? 0
      if (now - time >= hourSeconds || (member !== undefined && other === id)) continue
      this.#times[end] = time
      this.#members[end++] = other
    }
    if (end - first === this.#membersMax) {
      this.#times.copyWithin(first, first + 1, end)
      this.#members.copyWithin(first, first + 1, end--)
    }
    this.#last[slot] = ++this.#calls
    this.#times[end] = now
    this.#members[end++] = id
    this.#sizes[slot] = end - first
    return end - first === this.#membersMax
  }

  #slotOf(hash: number): number {
    const first = (hash % this.#keysMax) & ~(keysOfPlace - 1)
    let oldest = first
    for (let slot = first; slot < first + keysOfPlace; slot++) {
      if (this.#keys[slot] === hash) return slot
      if ((this.#last[slot] ?? 0) < (this.#last[oldest] ?? 0)) oldest = slot
    }
    this.#keys[oldest] = hash
    this.#sizes[oldest] = 0
    return oldest
  }

  /** FNV-1a over UTF-16 units, seeded, so that nobody can choose keys that share a place. */
  #hashOf(text: string): number {
    let hash = this.#seed
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    }
    return (hash ^ (hash >>> 15)) >>> 0
  }
}
