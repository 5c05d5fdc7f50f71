import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import type { HttpHeaders, HttpRequest, PlainAnswer } from '../http-exchange.ts'

/** How long a client may go on sending after it was answered. */
const discardMs = 500
/** How much of a body that comes bit by bit is written at once: the time limit of unread answers is for each. */
const pieceBytes = 64 * 1024

/** A request of Node's server, which must have `joinDuplicateHeaders` on. */
export class IncomingRequest implements HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: HttpHeaders
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  #left: AbortController | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, url: string) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.method = incoming.method ?? 'GET'
    this.url = url
    const { headers } = incoming
    this.headers = { get: (name) => headers[name]?.toString() ?? null }
  }

  get signal(): AbortSignal {
    if (!this.#left) {
      const left = new AbortController()
      const outgoing = this.#outgoing
      this.#left = left
      if (outgoing.destroyed) left.abort()
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) left.abort()
      })
    }
    return this.#left.signal
  }

  get body(): AsyncIterable<Uint8Array<ArrayBuffer>> {
    // Keep the connection open for the answer.
    return this.#incoming.iterator({ destroyOnReturn: false })
  }

  /** Uses events, because async iteration takes longer than parsing a signup. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const incoming = this.#incoming
    // The whole body is here, even if the client has disconnected.
    if (incoming.complete) return Promise.resolve(joined(receivedBy(incoming)))
    return new Promise((resolve, reject) => {
      const chunks: Chunk[] = []
      const cutOff = () => {
        if (!incoming.readableEnded) reject(new Error('the body ended before it was complete'))
      }
      if (incoming.closed) cutOff()
      incoming.on('data', (chunk: Chunk) => chunks.push(chunk))
      incoming.on('end', () => resolve(joined(chunks)))
      incoming.on('error', cutOff)
      incoming.on('close', cutOff)
    })
  }
}

/** The chunks of a body that has been received as a whole. Since Node 26, one call of `read` gives one chunk. */
function receivedBy(incoming: IncomingMessage): readonly Chunk[] {
  const chunks: Chunk[] = []
  for (;;) {
    const chunk = incoming.read() as Chunk | null
    if (chunk === null) return chunks
    chunks.push(chunk)
  }
}

function joined(chunks: readonly Chunk[]): Chunk {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

type Chunk = Buffer<ArrayBuffer>

/** The URL of a request, with its path as it was sent; undefined when it is not valid. */
export function urlOf({ url: target = '', headers }: IncomingMessage): string | undefined {
  // HTTP/1.0 requests may have no Host header.
  const { host = 'localhost' } = headers
  if (last?.target !== target || last.host !== host) {
    last = { target, host, url: parsedUrl(target, host) }
  }
  return last.url
}

/** The last URL parsed. Parsing is slow, and all signups go to the same URL. */
let last: { target: string; host: string; url: string | undefined } | undefined

function parsedUrl(target: string, host: string): string | undefined {
  if (!hostForm.test(host) || backslashInPath.test(target)) return undefined
  const given = target.startsWith('/') ? `http://${host}${target}` : target
  const url = httpForm.test(given) ? URL.parse(given) : null
  // RFC 9110, section 4.2.4: a URL with a user name is an error.
  if (url?.username !== '' || url.password !== '') return undefined
  const [, path = ''] = httpForm.exec(given) ?? []
  return url.origin + (path.startsWith('/') ? path : `/${path}`)
}

/** Up to the path. */
const httpForm = /^https?:\/\/[^/?#]+(.*)$/is
const hostForm = /^([^\s/?#@\\:[\]]+|\[[\da-f:.]+\])(:\d{1,5})?$/i
const backslashInPath = /^[^?]*\\/

/** Sends an answer and discards what the client is still sending. */
export function sendAnswer(outgoing: ServerResponse, { status, headers, body }: PlainAnswer): void {
  outgoing.writeHead(status, [...headers, ...lengthOf(body)])
  sendBody(outgoing, body)
  if (!outgoing.req.complete) discard(outgoing.req)
}

/** The `content-length` header. Set explicitly, so that the answer to HEAD has it too. */
export function lengthOf(body: PlainAnswer['body']): readonly string[] {
  return isWhole(body) ? ['content-length', String(Buffer.byteLength(body))] : []
}

export function sendBody(outgoing: ServerResponse, body: PlainAnswer['body']): void {
  if (body === null || isWhole(body)) outgoing.end(body)
  else if (outgoing.req.method === 'HEAD') outgoing.end()
  // Whoever made the body tells its failures.
  else pipeline(piecesOf(body), outgoing, () => {})
}

export function isWhole(body: PlainAnswer['body']): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
}

async function* piecesOf(body: AsyncIterable<string>): AsyncGenerator<Chunk> {
  for await (const text of body) {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
}

/** Reads on for a moment, because a client that is cut off while sending does not see the answer. */
function discard(incoming: IncomingMessage): void {
  const cutOff = setTimeout(() => incoming.socket.destroySoon(), discardMs).unref()
  incoming.once('close', () => clearTimeout(cutOff))
  incoming.resume()
}
