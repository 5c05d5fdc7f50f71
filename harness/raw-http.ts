import { connect, type Socket } from 'node:net'

/** An answer, as it was received. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface RawConnection extends AsyncDisposable {
  readonly socket: Socket
  write(data: string | Uint8Array): void
  /** Resolves with everything received, when the other end has closed the connection. */
  readonly closed: Promise<string>
  /** Everything received so far. */
  received(): string
}

/** Opens a connection on which a test can send bytes that `fetch` would not. */
export function openRaw(url: string): RawConnection {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => (received += String(text)))
  // Take a reset for an end: the bytes before it count.
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)))
  return {
    socket,
    write: (data) => void socket.write(data),
    closed,
    received: () => received,
    async [Symbol.asyncDispose]() {
      socket.destroy()
      await closed
    },
  }
}

/** Sends bytes. Resolves with all answers when the other end has closed the connection. */
export async function sendRaw(url: string, data: string | Uint8Array): Promise<RawAnswer[]> {
  await using connection = openRaw(url)
  connection.write(data)
  return parseAnswers(await connection.closed)
}

/** @throws when an answer has no length, or is cut off */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (end === -1 || Number.isNaN(status)) throw new Error(`not an answer: ${rest.slice(0, 80)}`)
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon), line.slice(colon + 1)]
      }),
    )
    const length = status === 100 ? 0 : Number(headers.get('content-length') ?? Number.NaN)
    const body = rest.slice(end + 4, end + 4 + length)
    if (body.length !== length) throw new Error(`the answer is cut off: ${rest.slice(0, 80)}`)
    answers.push({ status, headers, body })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}
