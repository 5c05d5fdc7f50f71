import type { RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startLoopbackServer } from '../../../emulators/loopback-server.ts'
import { HttpFailure, type OutgoingRequest } from '../http-client.ts'
import { httpClient } from './http-client.ts'

/** A server for one test, and the connections that it has got. */
async function serve(listener: RequestListener) {
  const connections = new Set<unknown>()
  const { url, stop } = await startLoopbackServer(async (request, response) => {
    connections.add(request.socket)
    listener(request, response)
  })
  return { connections, url: `${url}/path`, [Symbol.asyncDispose]: stop }
}

/** A server that hands its connections over as they are. */
async function serveRaw(listener: (socket: Socket) => void) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: stop }
}

const call = (url: string, more: Partial<OutgoingRequest> = {}) =>
  httpClient({
    method: 'POST',
    url,
    body: 'asked=größer',
    timeoutMs: 10_000,
    answerBytesMax: 1000,
    signal: new AbortController().signal,
    ...more,
  })

const failure = async (calling: Promise<unknown>) => {
  const error: unknown = await calling.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(HttpFailure)
  return String(error)
}

test('an answer arrives complete with any status, and calls reuse one connection', async () => {
  await using server = await serve((request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => {
      response.writeHead(418, { 'x-kind': ['tea', 'pot'] }).end(`${request.method ?? ''} ${body}`)
    })
  })
  for (let count = 0; count < 3; count++) {
    const { status, headers, text } = await call(server.url)
    expect([status, headers.get('x-kind'), text]).toEqual([418, 'tea, pot', 'POST asked=größer'])
  }
  expect(server.connections.size).toBe(1)
})

test('a body in pieces arrives complete, with its length', async () => {
  await using server = await serve((request, response) => {
    const announced = request.headers['content-length'] ?? ''
    void text(request).then((body) => response.end(`${announced} ${body.length} ${body.slice(-3)}`))
  })
  const pieces = [
    '[',
    'größer '.repeat(100_000),
    ',',
    'ß'.repeat(50),
    'größer '.repeat(200_000),
    'end',
  ]
  const body = pieces.join('')
  const answer = await call(server.url, { body: pieces })
  expect(answer.text).toBe(`${Buffer.byteLength(body)} ${body.length} end`)
})

test('an answer that comes before the body was sent is used, and the connection is closed', async () => {
  const closed = Promise.withResolvers<unknown>()
  // It reads on, and never closes a connection by itself.
  await using server = await serveRaw((socket) => {
    const answer = 'HTTP/1.1 413 Content Too Large\r\ncontent-length: 9\r\n\r\ntoo large'
    socket.once('data', () => socket.write(answer)).resume()
    socket.on('error', closed.resolve).on('close', closed.resolve)
  })
  const body = Array.from({ length: 50 }, () => 'x'.repeat(1_000_000))
  const answer = await call(server.url, { body })
  expect(answer).toMatchObject({ status: 413, text: 'too large' })
  await closed.promise
})

test('an answer that would change the protocol is a failure', async () => {
  await using server = await serve(({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')
  })
  expect(await failure(call(server.url))).toContain('the connection ended without an answer')
})

test.each([
  ['Early Hints', 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n'],
  ['empty lines', '\r\n'.repeat(32)],
])('a server that sends %s again and again is left', async (_, head) => {
  let sent = 0
  const { promise: left, resolve } = Promise.withResolvers<undefined>()
  await using server = await serveRaw((socket) => {
    socket.on('error', () => {}).once('close', () => resolve(undefined))
    const more = () => {
      while (!socket.destroyed && sent < 100_000 && socket.write(head)) sent += 1
      if (sent >= 100_000) socket.end('HTTP/1.1 204 No Content\r\n\r\n')
    }
    socket.on('drain', more).once('data', more)
  })
  const told = 'more than 65536 bytes came before the answer'
  expect(await failure(call(server.url))).toContain(told)
  await left
})

test('an answer behind a few informational ones arrives complete', async () => {
  await using server = await serve((_request, response) => {
    for (let count = 0; count < 5; count++)
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.end('here')
  })
  expect(await call(server.url)).toMatchObject({ status: 200, text: 'here' })
})

test('a large answer that comes at once arrives complete, on a connection that is used again', async () => {
  await using server = await serve((_request, response) => response.end('x'.repeat(200_000)))
  for (let calls = 0; calls < 3; calls++) {
    const { text } = await call(server.url, { answerBytesMax: 200_000 })
    expect(text).toHaveLength(200_000)
  }
})

test('an answer that ends with its connection arrives complete', async () => {
  await using server = await serve(({ socket }) => {
    socket.end(`HTTP/1.0 200 OK\r\n\r\n${'x'.repeat(900)}`)
  })
  expect(await call(server.url)).toMatchObject({ status: 200, text: 'x'.repeat(900) })
})

test('a redirect is not followed', async () => {
  await using server = await serve((_request, response) => {
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  expect(await call(server.url)).toMatchObject({ status: 302, text: '' })
})

test.each<[string, RequestListener]>([
  ['no answer', () => undefined],
  ['half an answer', (_request, response) => response.writeHead(200).write('half')],
])('%s in time is a failure with that reason', async (_, listener) => {
  await using server = await serve(listener)
  expect(await failure(call(server.url, { timeoutMs: 100 }))).toContain('no answer within 100 ms')
})

test('a call ends when its signal aborts, even if that was before the call', async () => {
  const ending = new AbortController()
  const { signal } = ending
  await using server = await serve(() => ending.abort())
  expect(await failure(call(server.url, { signal }))).toContain('given up')
  expect(await failure(call(server.url, { signal }))).toContain('given up')
})

test('an answer that is too large is a failure, before all of it has arrived', async () => {
  await using server = await serve((_request, response) => response.write('x'.repeat(2000)))
  expect(await failure(call(server.url))).toContain('larger than 1000 bytes')
})

test('a failure names the origin and the reason, but no path or query', async () => {
  await using server = await serve((request) => request.socket.destroy())
  const cut = await failure(call(`${server.url}?secret=1`))
  expect(cut).toMatch(/POST http:\/\/127\.0\.0\.1:\d+: (socket hang up|read ECONNRESET)/)
  expect(cut).not.toContain('secret')
  expect(await failure(call('http://127.0.0.1:1/'))).toContain('ECONNREFUSED')
})

test('a failure tells the status of an answer whose head came', async () => {
  await using server = await serve((_, response) => {
    response.writeHead(202).write('x'.repeat(2000))
  })
  await expect(call(server.url)).rejects.toMatchObject({ isTooLarge: true, status: 202 })
})
