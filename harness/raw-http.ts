import { connect, type Socket } from 'node:net'

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface RawConnection extends AsyncDisposable {
  readonly socket: Socket
  write(data: string | Uint8Array): void
  /** Resolves with all that came, once the other end has closed the connection. */
  readonly closed: Promise<string>
  /** What has come so far. */
  received(): string
}

/** A connection on which anything may be sent, for what `fetch` is too polite to send. */
export function openRaw(url: string): RawConnection {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => (received += String(text)))
  // A reset is one way to close a connection; what came before it counts.
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

/** Sends these bytes and gives every answer until the other end closes. */
export async function sendRaw(url: string, data: string | Uint8Array): Promise<RawAnswer[]> {
  await using connection = openRaw(url)
  connection.write(data)
  return parseAnswers(await connection.closed)
}

/** Every answer must tell its length. An answer that is cut off is an error. */
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
