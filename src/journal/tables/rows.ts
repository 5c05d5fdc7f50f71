import { fieldsOf } from '../../signup/field.ts'
import type { Signup, SignupId } from '../../signup/signup.ts'
import type { Signal } from '../../signup/suspicion.ts'
import type { WaitingSignup } from '../contracts/delivery-log.ts'
import type { SignupRecord } from '../contracts/reader.ts'
import {
  type Answer,
  type Database,
  type Row,
  rowOf,
  statementsOf,
  type Step,
  textOf,
} from '../sql.ts'
import { rowStatus } from './layout.ts'

const sql = statementsOf('rows', ({ lastPosition }) => ({
  last: `SELECT ${lastPosition} AS position`,
}))

/** Finds the position of the last signup of all sites, or 0, as `positionIn` reads it. */
export const findLast: Step = [sql.last]

/** The position in an answer of one row. */
export function positionIn(answer: Pick<Answer, 'rows'>): number {
  return Number(rowOf(answer)['position'])
}

/** How many positions are looked at at once for a page. That takes SQLite a few milliseconds. */
const lookedAtOnce = 2_000

/**
 * The first rows behind a position, at most `max`, however many others lie between.
 *
 * @param stepTo reads at most `most` rows behind `after` up to a position
 */
export async function rowsBehind(
  db: Pick<Database, 'query'>,
  after: number,
  max: number,
  stepTo: (after: number, upto: number, most: number) => Step,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let [from, last] = [after, Infinity]; from < last && rows.length < max;) {
    // An engine may answer without a turn of the event loop.
    if (from > after) await new Promise((resolve) => setImmediate(resolve))
    const upto = from + lookedAtOnce
    const [head, found] = await db.query(findLast, stepTo(from, upto, max - rows.length))
    rows.push(...found.rows)
    ;[from, last] = [upto, positionIn(head)]
  }
  return rows
}

/** What `toSignup` reads. */
const signupColumns = `signup.position, signup.id, signup.received_at AS "receivedAt",
  signup.email, signup.source, signup.name, signup.tags, signup.metadata, signup.fields,
  signup.confirmed_at AS "confirmedAt"`

/** What `toRecord` reads. */
export const recordColumns = `${signupColumns}, tab.name AS "sheetTab"`

/** The same of a signup that may be held. */
export const heldColumns = `${recordColumns}, held.signals`

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
  const signals = textOf(row['signals']) ?? ''
  return signals === '' ? signup : { ...signup, suspect: signals.split(',') as Signal[] }
}

/** The tags of a signup from its column. */
function tagsOf(value: unknown): readonly string[] {
  return value === '' ? [] : (JSON.parse(String(value)) as string[])
}

export function toRecord(row: Row): SignupRecord {
  return { position: Number(row['position']), signup: toSignup(row, String(row['sheetTab'])) }
}

export function toWaiting(row: Row, sheetTab: string): WaitingSignup {
  return {
    position: Number(row['position']),
    textBytes: Number(row['textBytes']),
    hasNoRow: row['rowStatus'] !== rowStatus.wanted,
    isHeld: row['rowStatus'] === rowStatus.held,
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
