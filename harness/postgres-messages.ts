/** What a client sends and the server answers together: it ends with one `ReadyForQuery`. */
export interface Unit {
  readonly bytes: Buffer
  /** The SQL of it; empty for what is no SQL, such as the password. */
  readonly sql: string
  /** Whether the server answers with one `ReadyForQuery`. */
  readonly isAnswered: boolean
}

interface Message {
  /** Empty for the first message of a connection, which has no type. */
  readonly type: string
  readonly bytes: Buffer
}

/** Splits what one side of a connection sends into messages of the PostgreSQL protocol. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0)
  #hasStarted: boolean

  /** @param isClient whether it reads what the client sends, which begins with a message without a type */
  constructor(isClient: boolean) {
    this.#hasStarted = !isClient
  }

  read(chunk: Buffer): Message[] {
    this.#rest = Buffer.concat([this.#rest, chunk])
    const messages: Message[] = []
    for (;;) {
      const head = this.#hasStarted ? 1 : 0
      if (this.#rest.length < head + 4) return messages
      const length = head + this.#rest.readUInt32BE(head)
      if (this.#rest.length < length) return messages
      const type = this.#rest.toString('latin1', 0, head)
      messages.push({ type, bytes: this.#rest.subarray(0, length) })
      this.#rest = this.#rest.subarray(length)
      this.#hasStarted = true
    }
  }
}

/** Messages after which the server sends `ReadyForQuery`: the start, Query and Sync. */
const answered = ['', 'Q', 'S']
/** Parse, Bind, Describe, Execute, Close and Flush, which a Sync follows. */
const withinUnit = ['P', 'B', 'D', 'E', 'C', 'H']

/** Splits what a client sends into units. */
export class UnitReader {
  readonly #messages = new MessageReader(true)
  /** The SQL of prepared statements, by name. */
  readonly #prepared = new Map<string, string>()
  #parts: Buffer[] = []
  #sql = ''

  read(chunk: Buffer): Unit[] {
    const units: Unit[] = []
    for (const { type, bytes } of this.#messages.read(chunk)) {
      this.#parts.push(bytes)
      this.#sql += this.#sqlOf(type, bytes)
      if (withinUnit.includes(type)) continue
      const isAnswered = answered.includes(type)
      units.push({ bytes: Buffer.concat(this.#parts), sql: this.#sql, isAnswered })
      this.#parts = []
      this.#sql = ''
    }
    return units
  }

  #sqlOf(type: string, bytes: Buffer): string {
    const [first = '', second = ''] = bytes.toString('utf8', 5).split('\0', 2)
    if (type === 'Q') return first
    if (type === 'P') {
      this.#prepared.set(first, second)
      return second
    }
    // A Bind names its portal, and then its statement.
    return type === 'B' && this.#sql === '' ? (this.#prepared.get(second) ?? '') : ''
  }
}

/** A simple query with this SQL, as a client sends it. */
export function queryMessage(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`)
  const head = Buffer.from('Q\0\0\0\0', 'latin1')
  head.writeUInt32BE(text.length + 4, 1)
  return Buffer.concat([head, text])
}
