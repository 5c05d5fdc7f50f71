import type { SignupId } from '../../signup/signup.ts'

const digitsOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
/** Where in the text of a UUID each byte begins. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const valueOfDigit = new Uint8Array(128)
for (let value = 0; value < 16; value++) valueOfDigit[value.toString(16).charCodeAt(0)] = value

/** The 16 bytes of a UUID in lower case. They come from Node's pool, which saves a fifth of the time to bind them. */
export function bytesOfId(id: SignupId): Uint8Array {
  const bytes = Buffer.allocUnsafe(16)
  for (let index = 0; index < 16; index++) {
    const place = places[index] ?? 0
    const high = valueOfDigit[id.charCodeAt(place)] ?? 0
    bytes[index] = (high << 4) | (valueOfDigit[id.charCodeAt(place + 1)] ?? 0)
  }
  return bytes
}

/** The UUID with these 16 bytes. */
export function idOfBytes(bytes: Uint8Array): SignupId {
  let id = ''
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) id += '-'
    id += digitsOfByte[bytes[index] ?? 0] ?? ''
  }
  return id as SignupId
}
