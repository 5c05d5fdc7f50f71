import {
  type EndpointFare,
  type EndpointRecord,
  workingFare,
} from '../../journal/contracts/webhook-log.ts'
import { type Clock, day, hour, type Random } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { webhookRestMs } from '../ladder.ts'

const failingMaxMs = 5 * day
/** For so long this instance has seen failures itself: a clock may jump, and a machine may sleep. */
const failingHereMinMs = hour

/** How an endpoint does, and until when it rests. */
export class Fare {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #now: () => Millis
  readonly #random: Random
  #current = workingFare
  /** How often it has rested in a row. */
  #rests = 0
  /** When it rested first, by the clock that never jumps. */
  #restedAt: Millis | undefined
  #pausedUntil = 0
  /** How often somebody had enabled it. */
  #enabled: number | undefined

  constructor(clock: Pick<Clock, 'elapsed'>, now: () => Millis, random: Random) {
    this.#clock = clock
    this.#now = now
    this.#random = random
  }

  get current(): EndpointFare {
    return this.#current
  }

  /** For how long nothing is sent. */
  get pauseMs(): Millis {
    if (this.#current.disabledAt !== undefined) return Infinity
    return Math.max(0, this.#pausedUntil - this.#clock.elapsed())
  }

  /** Takes over what the journal says: another instance, or a command, may have noted it. */
  follow({ failingSince, disabledAt, reason, enabled }: EndpointRecord): void {
    if (enabled !== this.#enabled) this.#pausedUntil = this.#rests = 0
    this.#enabled = enabled
    this.#current = { failingSince, disabledAt, reason }
  }

  works(): void {
    this.#rests = 0
    this.#restedAt = undefined
    // What was on its way when the endpoint was disabled enables nothing.
    const { failingSince, disabledAt } = this.#current
    if (failingSince !== undefined && disabledAt === undefined) this.#current = workingFare
  }

  /** It has taken nothing: it rests, longer each time, and is disabled at last. */
  rest(reason: string): void {
    const elapsed = this.#clock.elapsed()
    this.#restedAt ??= elapsed
    this.pause(webhookRestMs(++this.#rests, this.#random))
    const { failingSince: since = this.#now() } = this.#current
    const isLong = elapsed - this.#restedAt >= failingHereMinMs
    if (isLong && this.#now() - since >= failingMaxMs) this.disable(reason)
    else this.#current = { ...this.#current, failingSince: since, reason }
  }

  disable(reason: string): void {
    const { failingSince = this.#now(), disabledAt = this.#now() } = this.#current
    this.#current = { failingSince, disabledAt, reason }
  }

  pause(ms: Millis): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.elapsed() + ms)
  }
}
