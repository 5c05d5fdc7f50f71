import { openRaw } from '../../harness/raw-http.ts'
import type { Spelled } from './asked.ts'

/** An answer as it arrived. */
export interface Answered {
  readonly status: number
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array<ArrayBuffer>
}

/** Sends a request over TCP on a connection of its own, byte for byte. */
export async function ask(url: string, request: Spelled): Promise<Answered> {
  const { method, path, headers, body } = request
  const content = body === undefined ? undefined : new TextEncoder().encode(body)
  const sent = Object.entries({
    ...headers,
    connection: 'close',
    ...(content && { 'content-length': String(content.byteLength) }),
  })
  const lines = sent.map(([name, value]) => `${name}: ${value}\r\n`)
  const head = new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const answer = await sendBytes(url, Buffer.concat([head, content ?? new Uint8Array()]))
  const length = answer.headers.find(([name]) => name === 'content-length')?.[1]
  if (method !== 'HEAD' && length !== undefined && Number(length) !== answer.body.byteLength) {
    throw new Error(`${method} ${path}: ${length} bytes were announced`)
  }
  return answer
}

/** Sends these bytes. Returns the last answer before the other end closes. */
export async function sendBytes(url: string, bytes: string | Uint8Array): Promise<Answered> {
  await using connection = openRaw(url)
  connection.write(bytes)
  const text = (await connection.closed).replace(/^HTTP\/1\.1 1\d\d .*\r\n\r\n/, '')
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (end === -1 || Number.isNaN(status)) throw new Error(`no answer: ${text.slice(0, 80)}`)
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status, headers, body: new Uint8Array(Buffer.from(text.slice(end + 4), 'latin1')) }
}
