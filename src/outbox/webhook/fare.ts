import { type EndpointFare, workingFare } from '../../journal/contracts/webhook-log.ts'
import { type Clock, day, hour, type Random } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { probePauseMs } from '../ladder.ts'
import type { Unreceived } from './send.ts'

const atOnceMax = 10
/** So many failures in a row are not the fault of the messages. */
const failuresMax = 20
const failingMaxMs = 5 * day
/** For so long this instance has seen failures itself. */
const failingHereMinMs = hour
const retryAfterMaxMs = hour

interface Failure {
  /** Whether the message was sent to find out whether the endpoint works again. */
  readonly isProbe: boolean
  /** Whether as many messages are set aside as may be. */
  readonly isLast: boolean
}

/** How an endpoint does, and so how many messages it may get at the same time. */
export class Fare {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #now: () => Millis
  readonly #random: Random
  #fare = workingFare
  /** In a row. */
  #failures = 0
  #failedProbes = 0
  /** When the first one of these failures was, by the clock that never jumps. */
  #failingFrom: number | undefined
  #isOverloaded = false
  #pausedUntil = 0

  constructor(clock: Pick<Clock, 'elapsed'>, now: () => Millis, random: Random) {
    this.#clock = clock
    this.#now = now
    this.#random = random
  }

  get current(): EndpointFare {
    return this.#fare
  }

  get isHalted(): boolean {
    return this.#fare.haltedAt !== undefined
  }

  get atOnce(): number {
    const { disabledAt } = this.#fare
    if (disabledAt !== undefined || this.#clock.elapsed() < this.#pausedUntil) return 0
    return this.isHalted || this.#isOverloaded ? 1 : atOnceMax
  }

  /** Takes over what the journal says: another instance, or a command, may have noted it. */
  follow({ failingSince, haltedAt, disabledAt, reason }: EndpointFare): void {
    const isStill = (this.#fare.disabledAt ?? this.#fare.haltedAt) !== undefined
    if (isStill && (disabledAt ?? haltedAt) === undefined) this.#begin()
    this.#fare = { failingSince, haltedAt, disabledAt, reason }
  }

  works(): void {
    this.#begin()
    const { failingSince, disabledAt } = this.#fare
    // What was on its way when the endpoint was disabled enables nothing.
    if (failingSince !== undefined && disabledAt === undefined) this.#fare = workingFare
  }

  #begin(): void {
    if (this.isHalted) this.#pausedUntil = 0
    this.#failures = this.#failedProbes = 0
    this.#failingFrom = undefined
    this.#isOverloaded = false
  }

  fails(sent: Unreceived, { isProbe, isLast }: Failure): void {
    const now = this.#now()
    const { failingSince = now, haltedAt, disabledAt } = this.#fare
    this.#failures += 1
    this.#isOverloaded ||= sent.isOverloaded ?? false
    // Neither a jump of the clock nor a stop of some days is nothing but failures.
    const elapsed = this.#clock.elapsed()
    this.#failingFrom ??= elapsed
    const isOverdue =
      now - failingSince >= failingMaxMs && elapsed - this.#failingFrom >= failingHereMinMs
    const isOver = sent.kind === 'refused' || isOverdue
    const isHalted = this.isHalted || this.#failures >= failuresMax || isLast
    const isProbed = isProbe || (isHalted && !this.isHalted)
    const pauseMs = isProbed ? probePauseMs(++this.#failedProbes, this.#random) : 0
    // Else it is about this message only.
    const leastMs = sent.isOverloaded ? Math.min(sent.retryAfterMs ?? 0, retryAfterMaxMs) : 0
    const until = elapsed + Math.max(pauseMs, leastMs)
    this.#pausedUntil = Math.max(this.#pausedUntil, until)
    this.#fare = {
      failingSince,
      haltedAt: isHalted ? (haltedAt ?? now) : undefined,
      disabledAt: isOver ? (disabledAt ?? now) : disabledAt,
      reason: sent.reason,
    }
  }
}
