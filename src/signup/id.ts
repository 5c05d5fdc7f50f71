import type { Millis, SignupId } from './signup.ts'

/** The counter has 12 bits after the version (`rand_a` in RFC 9562). */
const counterMax = 0xfff
const version7 = 0x7000

/**
 * Makes UUIDv7 (RFC 9562, section 5.7) that always increase. A counter orders the ids of one
 * millisecond (section 6.2, method 1). When the clock is set back or the counter is full, the ids use
 * the next millisecond early. 62 bits are random. The `uuid` library is not used because its random
 * bytes cost more than storing the signup (docs/decisions/performance.md).
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

/** When a signup with this UUIDv7 came into the journal. */
export function timeOfId(id: SignupId): Millis {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The id that somebody has typed, in any letter case; undefined when it is none. */
export function signupIdOf(text: string): SignupId | undefined {
  const id = text.toLowerCase()
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? (id as SignupId) : undefined
}

/** Whether a text is the last eight characters of an id, by which a message in a chat channel names a signup. */
export function isIdEnd(text: string): boolean {
  return /^[0-9a-f]{8}$/i.test(text)
}
