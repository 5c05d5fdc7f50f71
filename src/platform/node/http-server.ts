import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Connection, HttpRequest, PlainAnswer, ProtocolFailure } from '../http-exchange.ts'
import type { Share } from '../share.ts'
import { createServer, STATUS_CODES } from './http.ts'
import { IncomingRequest, isWhole, lengthOf, sendAnswer, sendBody, urlOf } from './http-exchange.ts'
import { ConnectionSlots } from './connection-slots.ts'
import { HttpConnection } from './http-connection.ts'
import { listenFailure } from './listen-failure.ts'

export interface HttpServerOptions {
  /** Answers a request. Must never reject. */
  readonly fetch: (request: HttpRequest, connection: Connection) => Promise<PlainAnswer>
  /** Answers invalid HTTP. The connection is closed after the answer. */
  readonly refuse: (failure: ProtocolFailure) => PlainAnswer
  readonly host: string
  /** 0 picks any free port. */
  readonly port: number
  /** A larger body that waits for "100 Continue" is refused without reading it. */
  readonly bodyBytesMax: number
  /** The share of all connections that this address may have; undefined means no limit. */
  readonly shareOf?: (remoteAddress: string) => Share | undefined
  readonly limits?: Partial<HttpLimits>
}

const defaultLimits = {
  /** Time from the start of a connection or request to the end of its headers. */
  headersTimeoutMs: 10_000,
  /** Time from the start of a request to the end of its body. */
  requestTimeoutMs: 30_000,
  /** How often these two limits and `unreadTimeoutMs` are checked. */
  checkIntervalMs: 1_000,
  /** Idle time between requests. Longer than the usual 60 s of proxies, so that the proxy closes first. */
  keepAliveTimeoutMs: 65_000,
  /** Time from the end of an answer, or from a piece of it, until the client has read it. */
  unreadTimeoutMs: 30_000,
  /** The size of the first line and the headers together. */
  headerBytesMax: 16 * 1024,
  /** At this number, a new connection replaces the one that has been idle for longest. */
  connectionsMax: 10_000,
  /** The limit of requests, over all connections, that wait for an earlier answer. Each takes about 3 KB. */
  waitingRequestsMax: 5_000,
}

export type HttpLimits = Readonly<typeof defaultLimits>

/** @throws Error when the address cannot be used, with the operating system's reason. */
export async function listen(options: HttpServerOptions) {
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
    /** The address where it listens, as seen from this machine. */
    url: `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`,
    /** Stops accepting connections. Resolves when all requests are answered, or cut off after `graceMs`. */
    close: (graceMs: number) =>
      new Promise<void>((resolve, reject) => {
        const cutOff = setTimeout(() => server.closeAllConnections(), graceMs)
        // Node closes only the connections that are idle now, not those that become idle later.
        const sweep = setInterval(() => server.closeIdleConnections(), 50)
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
  const { fetch, refuse, bodyBytesMax, limits, shareOf } = options
  const effective = { ...defaultLimits, ...limits }
  const server = createServer({
    headersTimeout: effective.headersTimeoutMs,
    requestTimeout: effective.requestTimeoutMs,
    connectionsCheckingInterval: effective.checkIntervalMs,
    keepAliveTimeout: effective.keepAliveTimeoutMs,
    maxHeaderSize: effective.headerBytesMax,
    // `isClear` checks it instead, so that the answer can tell what is wrong.
    requireHostHeader: false,
    // Keep every value of a repeated header, as web `Headers` do.
    joinDuplicateHeaders: true,
  })
  const answer = (outgoing: ServerResponse) => {
    const incoming = outgoing.req
    const url = isClear(incoming) ? urlOf(incoming) : undefined
    const send = (plain: PlainAnswer) => sendAnswer(outgoing, plain)
    if (url === undefined) sendAndClose(outgoing, refuse('malformed'))
    else void fetch(new IncomingRequest(incoming, outgoing, url), incoming.socket).then(send)
  }
  const askForBody = (outgoing: ServerResponse) => {
    if (!(Number(outgoing.req.headers['content-length']) > bodyBytesMax)) outgoing.writeContinue()
    answer(outgoing)
  }
  const refuseExpectation = (outgoing: ServerResponse) =>
    sendAndClose(outgoing, refuse('expectation'))

  const shared = { roomLeft: effective.waitingRequestsMax, uses: 0 }
  const slots = new ConnectionSlots(effective.connectionsMax)
  const connections = new Map<Duplex, HttpConnection>()
  server.on('connection', (socket) => {
    // A reset may come at any time, and Node removes its own listener when it hands a socket over.
    socket.on('error', ignore)
    // Read the address now: Node remembers it, and it is unavailable once the connection has closed.
    const { remoteAddress = '' } = socket
    const connection = new HttpConnection(socket, shared)
    if (!slots.admit(connection, shareOf?.(remoteAddress))) return void socket.destroy()
    connections.set(socket, connection)
    socket.once('close', () => {
      connections.delete(socket)
      slots.leave(connection)
    })
  })
  const take = (send: typeof answer) => (_: unknown, outgoing: ServerResponse) =>
    connections.get(outgoing.req.socket)?.take(outgoing, send)
  server.on('request', take(answer))
  server.on('checkContinue', take(askForBody))
  server.on('checkExpectation', take(refuseExpectation))
  server.on('connect', ({ socket }: IncomingMessage, stream: Duplex) => {
    // For a request with a body, `stream` is Node's wrapper around the socket.
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
        connection.check(checkIntervalMs, unreadTimeoutMs)
      }
    }, checkIntervalMs)
    server.once('close', () => clearInterval(check))
  })
  return server
}

/** Ignores a socket error: the socket closes after any error, and `close` is handled. */
function ignore(): void {}

/**
 * Whether a proxy cannot have read another host or length: several Host headers and a Transfer-Encoding of
 * HTTP/1.0, which has none, are attempts to confuse proxies (RFC 9112, sections 3.2 and 6.1).
 */
function isClear({ headers, httpVersion }: IncomingMessage): boolean {
  const { host } = headers
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) return false
  return host === undefined ? httpVersion === '1.0' : !host.includes(',')
}

function failureOf({ code }: NodeJS.ErrnoException): ProtocolFailure {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'tooSlow'
  return code === 'HPE_HEADER_OVERFLOW' ? 'headersTooLarge' : 'malformed'
}

function sendAndClose(outgoing: ServerResponse, { status, headers, body }: PlainAnswer): void {
  outgoing.writeHead(status, [...headers, ...lengthOf(body), 'connection', 'close'])
  sendBody(outgoing, body)
}

/** Writes an answer to the socket itself, for when Node has no usable response object. */
function sendRaw(socket: Duplex, { status, headers, body }: PlainAnswer): void {
  if (!socket.writable) return void socket.destroy()
  const list = [...headers, ...lengthOf(body), 'connection', 'close']
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (let at = 0; at < list.length; at += 2) head += `${list[at]}: ${list[at + 1]}\r\n`
  socket.write(`${head}\r\n`)
  socket.end(isWhole(body) ? body : '', () => void socket.destroy())
}
