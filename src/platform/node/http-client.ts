import type { AgentOptions, ClientRequest, IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type OutgoingRequest,
} from '../http-client.ts'
import { messageOf } from '../message-of.ts'
import { Agent as PlainAgent, request as plainRequest } from './http.ts'

/** Closes idle connections after 4 s, which is before usual servers close them. */
const reuse = { keepAlive: true, timeout: 4_000, scheduling: 'lifo' } as const

/**
 * A client with connections of its own. Uses Node's own client, because `fetch` takes four times its CPU
 * (docs/decisions/performance.md).
 *
 * @param connecting options for the connections of each protocol
 */
export function httpClientWith(
  connecting: Readonly<Partial<Record<'http:' | 'https:', AgentOptions>>>,
): HttpClient {
  const plain = new PlainAgent({ ...reuse, ...connecting['http:'] })
  const tls = new TlsAgent({ ...reuse, ...connecting['https:'] })
  return async (request) => {
    const { url, method, headers = {} } = request
    const outgoing = url.startsWith('https:')
      ? tlsRequest(url, { method, agent: tls, headers })
      : plainRequest(url, { method, agent: plain, headers })
    return call(request, outgoing)
  }
}

export const httpClient = httpClientWith({})

/** How much may come before the answer: a few informational ones (1xx), each with a head of up to 16 KiB. */
const beforeAnswerBytesMax = 64 * 1024

async function call(
  { method, url, body, timeoutMs, answerBytesMax, signal }: OutgoingRequest,
  outgoing: ClientRequest,
): Promise<HttpAnswer> {
  let wasCut: Error | undefined
  let status: number | undefined
  const cut = (reason: string) => outgoing.destroy((wasCut = new Error(reason)))
  const timer = setTimeout(cut, timeoutMs, `no answer within ${timeoutMs} ms`)
  const giveUp = () => cut('it was given up')
  signal?.addEventListener('abort', giveUp)
  try {
    return await new Promise<HttpAnswer>((resolve, reject) => {
      // Node reports this only by `close`, for example after "101 Switching Protocols".
      const noAnswer = () => reject(new Error('the connection ended without an answer'))
      outgoing.on('error', reject).once('close', noAnswer)
      // Node skips informational answers and empty lines, however many come.
      let bytes = 0
      const count = (chunk: Buffer) => {
        bytes += chunk.byteLength
        if (status === undefined && bytes > beforeAnswerBytesMax)
          cut(`more than ${beforeAnswerBytesMax} bytes came before the answer`)
      }
      outgoing.once('socket', (socket) => {
        socket.on('data', count)
        outgoing.once('close', () => socket.off('data', count))
      })
      outgoing.once('response', (incoming) => {
        outgoing.off('close', noAnswer)
        status = incoming.statusCode
        readAnswer(incoming, answerBytesMax, resolve, reject)
      })
      if (signal?.aborted) giveUp()
      else if (typeof body === 'object') sendPieces(outgoing, body)
      else outgoing.end(body)
    })
  } catch (error) {
    const reason = reasonOf(wasCut ?? error)
    const isTooLarge = error instanceof AnswerTooLarge
    throw new HttpFailure(`${method} ${new URL(url).origin}: ${reason}`, {
      cause: error,
      isTooLarge,
      status,
    })
  } finally {
    clearTimeout(timer)
    // Answered early or aborted: do not send the rest of the body.
    if (!outgoing.writableFinished) outgoing.destroy()
    signal?.removeEventListener('abort', giveUp)
  }
}

function sendPieces(outgoing: ClientRequest, pieces: readonly string[]): void {
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  outgoing.setHeader('content-length', bytes)
  Readable.from(oneByOne(pieces)).pipe(outgoing)
}

/** Yields one piece in each turn of the event loop. Joins small pieces. */
async function* oneByOne(pieces: readonly string[]): AsyncGenerator<string> {
  let small = ''
  for (const piece of pieces) {
    small += piece
    if (small.length < smallLength) continue
    yield small
    small = ''
    await setImmediate()
  }
  if (small !== '') yield small
}

const smallLength = 40 * 1024

function readAnswer(
  incoming: IncomingMessage,
  bytesMax: number,
  resolve: (answer: HttpAnswer) => void,
  reject: (reason: Error) => void,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes > bytesMax) {
      incoming.destroy(new AnswerTooLarge(`the answer is larger than ${bytesMax} bytes`))
    } else chunks.push(chunk)
  })
  incoming.on('error', reject)
  incoming.on('end', () => {
    const text = Buffer.concat(chunks).toString('utf8')
    // Node prepares its headers when one is asked for, and few are.
    const get = (name: string) => incoming.headersDistinct[name.toLowerCase()]?.join(', ') ?? null
    resolve({ status: incoming.statusCode ?? 0, headers: { get }, text })
  })
}

class AnswerTooLarge extends Error {}

/** The message of an error. When several addresses were tried, the first one's message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  return messageOf(error)
}
