import type { Millis, SignupId } from './signup.ts'

/** The counter's 12 bits, `rand_a` in RFC 9562, behind the version. */
const counterMax = 0xfff
const version7 = 0x7000

/**
 * A source of UUIDv7 (RFC 9562, section 5.7) that rise: what is made in one millisecond is counted
 * (section 6.2, method 1), and a clock that is set back, or a counter that is full, lends from the
 * milliseconds to come. 62 bits are random. Not by `uuid`, whose random bytes cost more than storing
 * the signup does (docs/decisions/performance.md).
 */
export function signupIds(): (now: Millis) => SignupId {
  let millis = 0
  let counter = 0
  let timestamp = ''
  return (now) => {
    counter += 1
    if (now > millis || counter > counterMax) {
      millis = Math.max(now, millis + 1)
      counter = 0
      const digits = millis.toString(16).padStart(12, '0')
      timestamp = `${digits.slice(0, 8)}-${digits.slice(8)}-`
    }
    const random = crypto.randomUUID().slice('xxxxxxxx-xxxx-xxxx-'.length)
    return `${timestamp}${(version7 + counter).toString(16)}-${random}` as SignupId
  }
}
