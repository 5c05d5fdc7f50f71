import { fieldsOf } from '../../signup/field.ts'
import type { Signup, SignupId } from '../../signup/signup.ts'
import type { Signal } from '../../signup/suspicion.ts'
import type { WaitingSignup } from '../contracts/delivery-log.ts'
import type { SignupRecord } from '../contracts/reader.ts'
import type { Row } from '../sql.ts'
import { rowStatus } from './layout.ts'

/** What `toSignup` reads. */
const signupColumns = `signup.position, signup.id, signup.received_at AS "receivedAt",
  signup.email, signup.source, signup.name, signup.tags, signup.metadata, signup.fields,
  signup.confirmed_at AS "confirmedAt", (
    SELECT suspect.signals || ' ' || suspect.mark || ' ' || asked.name FROM suspect JOIN tab AS asked ON asked.id = suspect.tab
    WHERE suspect.position = signup.position
  ) AS suspect`

/** What `toRecord` reads. */
export const recordColumns = `${signupColumns}, tab.name AS "sheetTab"`

/** What `toWaiting` reads. */
export const waitingColumns = `${signupColumns}, signup.row_status AS "rowStatus",
  octet_length(signup.email || signup.source || signup.name || signup.tags || signup.metadata
    || signup.fields) AS "textBytes"`

/** @param tab the name of the tab that it is in */
function toSignup(row: Row, tab: string): Signup {
  const signup: Signup = {
    id: idOf(row['id']),
    receivedAt: Number(row['receivedAt']),
    email: String(row['email']),
    sheetTab: tab,
    source: String(row['source']),
    name: String(row['name']),
    tags: tagsOf(row['tags']),
    metadata: String(row['metadata']),
    fields: fieldsOf(String(row['fields'])),
    ...(typeof row['confirmedAt'] === 'number' && { confirmedAt: row['confirmedAt'] }),
  }
  const suspect = row['suspect']
  return typeof suspect === 'string' ? heldSignup(signup, suspect) : signup
}

/** The tags of a signup from its column. */
function tagsOf(value: unknown): readonly string[] {
  return value === '' ? [] : (JSON.parse(String(value)) as string[])
}

/** @param suspect its signs, its id if the position has another one, and the tab that it asked for */
function heldSignup(signup: Signup, suspect: string): Signup {
  const [, signals = '', mark = '', sheetTab = ''] = /^(\S*) (\S*) (.*)$/s.exec(suspect) ?? []
  const id = mark === '' ? signup.id : (mark as SignupId)
  return { ...signup, id, sheetTab, suspect: signals.split(',') as Signal[] }
}

export function toRecord(row: Row): SignupRecord {
  return { position: Number(row['position']), signup: toSignup(row, String(row['sheetTab'])) }
}

export function toWaiting(row: Row, sheetTab: string): WaitingSignup {
  return {
    position: Number(row['position']),
    textBytes: Number(row['textBytes']),
    hasNoRow: row['rowStatus'] !== rowStatus.wanted,
    signup: toSignup(row, sheetTab),
  }
}

/** The id of a signup from its column: SQLite keeps 16 bytes. */
export function idOf(value: unknown): SignupId {
  return value instanceof Uint8Array ? idOfBytes(value) : (String(value) as SignupId)
}

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

const digits = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
/** Where the text of each UUID is written. */
const uuid = Buffer.alloc(36, '-')

/** The UUID with these 16 bytes. It is one piece of memory: joined pieces would take eight times as much. */
export function idOfBytes(bytes: Uint8Array): SignupId {
  for (const [index, place] of places.entries()) {
    const byte = bytes[index] ?? 0
    uuid[place] = digits[byte >> 4] ?? 0
    uuid[place + 1] = digits[byte & 15] ?? 0
  }
  return uuid.toString('latin1') as SignupId
}
