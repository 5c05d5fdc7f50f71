import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Connection, HttpRequest, PlainAnswer, ProtocolFailure } from '../http-exchange.ts'
import type { Share } from '../share.ts'
import { IncomingRequest, lengthOf, sendAnswer, urlOf } from './http-exchange.ts'
import { ConnectionSlots } from './connection-slots.ts'
import { HttpConnection, WaitingRequests } from './http-connection.ts'
import { listenFailure } from './listen-failure.ts'

export interface HttpServer {
  /** Where it listens, for people on this machine. */
  readonly url: string
  /** Takes no more connections, and resolves when every request was answered, or cut off after `graceMs`. */
  close(graceMs: number): Promise<void>
}

export interface HttpServerOptions {
  /** Never rejects. */
  readonly fetch: (request: HttpRequest, connection: Connection) => Promise<PlainAnswer>
  /** What to answer then; the connection is closed behind it. */
  readonly refuse: (failure: ProtocolFailure) => PlainAnswer
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Of a larger body that waits for "100 Continue", nothing is asked for. */
  readonly bodyBytesMax: number
  /** What the other end at this address may hold of all connections; undefined: as many as there are. */
  readonly shareOf?: (remoteAddress: string) => Share | undefined
  readonly limits?: Partial<HttpLimits>
}

export interface HttpLimits {
  /** From the start of a request, or of the connection, to the end of its headers. */
  readonly headersTimeoutMs: number
  /** From there to the end of its body. */
  readonly requestTimeoutMs: number
  /** How often the two are looked at. */
  readonly checkIntervalMs: number
  /** Between requests. Longer than the 60 s of usual proxies, so that it is the proxy that closes. */
  readonly keepAliveTimeoutMs: number
  /** From the end of an answer until its client has read it. */
  readonly unreadTimeoutMs: number
  /** First line and headers together. */
  readonly headerBytesMax: number
  /** When there are so many, those that have been idle for longest are closed for new ones. */
  readonly connectionsMax: number
  /** Of all connections together, sent before the request in front was answered. Each takes some 3 KB. */
  readonly waitingRequestsMax: number
}

const defaultLimits: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  checkIntervalMs: 1_000,
  keepAliveTimeoutMs: 65_000,
  unreadTimeoutMs: 30_000,
  headerBytesMax: 16 * 1024,
  connectionsMax: 10_000,
  waitingRequestsMax: 5_000,
}

/** @throws Error when the address cannot be used, with the operating system's reason. */
export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port } = options
  const server = createHttpServer(options)
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error) => reject(listenFailure(host, port, cause))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
  const address = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`,
    close: (graceMs) =>
      new Promise((resolve, reject) => {
        const cutOff = setTimeout(() => {
          server.closeAllConnections()
        }, graceMs)
        // Node closes the connections that are idle now, and keeps those that become so later.
        const sweep = setInterval(() => {
          server.closeIdleConnections()
        }, 50)
        server.close((error) => {
          clearTimeout(cutOff)
          clearInterval(sweep)
          if (error) reject(error)
          else resolve()
        })
      }),
  }
}

function createHttpServer(options: HttpServerOptions): Server {
  const { refuse, bodyBytesMax, limits, shareOf } = options
  const effective = { ...defaultLimits, ...limits }
  const server = createServer({
    headersTimeout: effective.headersTimeoutMs,
    requestTimeout: effective.requestTimeoutMs,
    connectionsCheckingInterval: effective.checkIntervalMs,
    keepAliveTimeout: effective.keepAliveTimeoutMs,
    maxHeaderSize: effective.headerBytesMax,
    // Checked below, where the answer can tell what is wrong.
    requireHostHeader: false,
    // As in the `Headers` of the web: of several, none is dropped.
    joinDuplicateHeaders: true,
  })
  const answer = (outgoing: ServerResponse) => {
    const incoming = outgoing.req
    const url = hasOneHost(incoming) ? urlOf(incoming) : undefined
    if (url === undefined) sendAndClose(outgoing, refuse('malformed'))
    else void answerAt(url, outgoing, options)
  }
  const askForBody = (outgoing: ServerResponse) => {
    if (!(Number(outgoing.req.headers['content-length']) > bodyBytesMax)) outgoing.writeContinue()
    answer(outgoing)
  }
  const refuseExpectation = (outgoing: ServerResponse) =>
    sendAndClose(outgoing, refuse('expectation'))

  const waiting = new WaitingRequests(effective.waitingRequestsMax)
  const slots = new ConnectionSlots(effective.connectionsMax)
  const connections = new Map<Duplex, HttpConnection>()
  server.on('connection', (socket) => {
    // A reset may come at any time, and Node takes its own listener away when it hands a socket over.
    socket.on('error', ignore)
    // Node keeps the other end's address from the first time that somebody asks, and later it may be gone.
    const { remoteAddress = '' } = socket
    const slot = slots.admit(socket, shareOf?.(remoteAddress))
    if (!slot) return void socket.destroy()
    connections.set(socket, new HttpConnection(slot, waiting))
    socket.once('close', () => {
      connections.delete(socket)
      slots.leave(slot)
    })
  })
  server.on('request', ({ socket }, outgoing) => connections.get(socket)?.take(outgoing, answer))
  server.on('checkContinue', ({ socket }, outgoing) => {
    connections.get(socket)?.take(outgoing, askForBody)
  })
  server.on('checkExpectation', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    connections.get(socket)?.take(outgoing, refuseExpectation)
  })
  server.on('connect', ({ socket }: IncomingMessage, stream: Duplex) => {
    // When the request has a body, this is a stream of Node's own around the socket.
    stream.on('error', ignore)
    connections.get(socket)?.endWith(() => sendRaw(socket, refuse('tunnel')))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable) return void socket.destroy()
    connections.get(socket)?.endWith(() => sendRaw(socket, refuse(failureOf(error))))
  })
  server.on('listening', () => {
    const { checkIntervalMs, unreadTimeoutMs } = effective
    const check = setInterval(() => {
      for (const connection of connections.values()) {
        connection.checkUnread(checkIntervalMs, unreadTimeoutMs)
      }
    }, checkIntervalMs)
    server.once('close', () => clearInterval(check))
  })
  return server
}

async function answerAt(
  url: string,
  outgoing: ServerResponse,
  { fetch }: Pick<HttpServerOptions, 'fetch'>,
): Promise<void> {
  const incoming = outgoing.req
  const request = new IncomingRequest(incoming, outgoing, url)
  sendAnswer(outgoing, await fetch(request, incoming.socket))
}

/** Whatever happened to a socket, it is closed then, which is all that has to be known. */
function ignore(): void {}

/** RFC 9112, section 3.2: any other number is an attempt to be understood in two ways. */
function hasOneHost({ headers: { host }, httpVersion }: IncomingMessage): boolean {
  return host === undefined ? httpVersion === '1.0' : !host.includes(',')
}

function failureOf({ code }: NodeJS.ErrnoException): ProtocolFailure {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'tooSlow'
  return code === 'HPE_HEADER_OVERFLOW' ? 'headersTooLarge' : 'malformed'
}

function sendAndClose(outgoing: ServerResponse, { status, headers, body }: PlainAnswer): void {
  outgoing.writeHead(status, [...headers, ...lengthOf(body), 'connection', 'close'])
  outgoing.end(body)
}

/** For when node has no response object, or can no longer use it. */
function sendRaw(socket: Duplex, { status, headers, body }: PlainAnswer): void {
  if (!socket.writable) return void socket.destroy()
  const list = [...headers, ...lengthOf(body), 'connection', 'close']
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (let at = 0; at < list.length; at += 2) head += `${list[at]}: ${list[at + 1]}\r\n`
  socket.write(`${head}\r\n`)
  socket.end(body ?? '', () => {
    socket.destroy()
  })
}
