import { type Clock, day, second } from '../platform/clock.ts'
import { type Hmac, isEqual } from '../platform/digest.ts'
import type { Millis } from '../signup/signup.ts'

/** People need longer for a form. */
const leastAgeMs = 2 * second
const mostAgeMs = day
/** The clocks of two instances may differ so much, and a time in the future is still signed by one of them. */
const aheadMaxMs = 10 * second
/** Of the signature, in base64url: 132 bits. */
const signatureCharacters = 22

/** Signs times for forms, and tells later how long a form was open. A stamp may be used any number of times. */
export class Stamps {
  readonly #sign: Hmac
  readonly #clock: Pick<Clock, 'now'>

  /** @param sign with a key that all instances share, and no other site */
  constructor(sign: Hmac, clock: Pick<Clock, 'now'>) {
    this.#sign = sign
    this.#clock = clock
  }

  /** The time of now, signed: at most 34 characters of `[0-9A-Za-z._-]`. */
  make(): string {
    const time = this.#clock.now().toString(36)
    return `${time}.${this.#signature(time)}`
  }

  /** Whether it was made with this key, whenever that was. */
  isOurs(stamp: string): boolean {
    return this.#timeOf(stamp) !== undefined
  }

  /** Whether the stamp is one of ours, at least two seconds old, and at most a day. */
  isGood(stamp: string): boolean {
    const time = this.#timeOf(stamp)
    if (time === undefined) return false
    const age = this.#clock.now() - time
    // From the future: its age is not known, so it may well be old enough.
    return age < 0 ? age >= -aheadMaxMs : age >= leastAgeMs && age <= mostAgeMs
  }

  /** When it was made; undefined when it is none of ours. */
  #timeOf(stamp: string): Millis | undefined {
    const [, time, signature] = /^([0-9a-z]{1,11})\.([\w-]{22})$/.exec(stamp) ?? []
    if (time === undefined || signature === undefined) return undefined
    return isEqual(signature, this.#signature(time)) ? Number.parseInt(time, 36) : undefined
  }

  #signature(time: string): string {
    return this.#sign(`stamp ${time}`).slice(0, signatureCharacters)
  }
}
