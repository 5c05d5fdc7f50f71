import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openRaw, parseAnswers, sendRaw } from '../../../harness/raw-http.ts'
import type { PlainAnswer } from '../http-exchange.ts'
import { type HttpServerOptions, listen } from './http-server.ts'

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** Answers with what it was asked, and refusals with their name. */
async function start(options: Partial<HttpServerOptions> = {}) {
  const server = await listen({
    fetch: async (request, { remoteAddress }) => {
      const body = await request.bytes().then(
        (bytes) => new TextDecoder().decode(bytes),
        () => 'cut off',
      )
      return answer(200, `${request.method} ${request.url} ${body} ${remoteAddress ?? ''}`)
    },
    refuse: (failure) => answer(400, failure),
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: 1_000,
    ...options,
    limits: { checkIntervalMs: 20, ...options.limits },
  })
  return { url: server.url, [Symbol.asyncDispose]: () => server.close(0) }
}

function answer(status: number, body: string): PlainAnswer {
  return { status, headers: [], body }
}

const bodiesOf = (answers: readonly { body: string }[]) => answers.map(({ body }) => body)

test.each([
  ['a request with slow headers', 'GET / HTTP/1.1\r\nHost: a\r\n', 'x: y\r\n'],
  ['a request with a slow body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n', 'x'],
  ['a connection without a request', '', ''],
])('%s is refused, and its connection is closed', async (_, begin, more) => {
  await using server = await start({ limits: { headersTimeoutMs: 100, requestTimeoutMs: 200 } })
  await using connection = openRaw(server.url)
  connection.write(begin)
  const drip = setInterval(() => connection.write(more), 20)
  const answers = parseAnswers(await connection.closed)
  clearInterval(drip)
  expect(bodiesOf(answers)).toEqual(['tooSlow'])
})

/** Answers the path `/slow` when it is told to, and others at once. */
function slowPath() {
  const slow = Promise.withResolvers<undefined>()
  const fetch: HttpServerOptions['fetch'] = async ({ url }) => {
    if (url.endsWith('slow')) await slow.promise
    return answer(200, url)
  }
  return { fetch, release: () => slow.resolve(undefined), asked: get.replace('/ ', '/slow ') }
}

test('the time until an answer does not count as slowness of the client', async () => {
  const slow = Promise.withResolvers<undefined>()
  await using server = await start({
    limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 1_000, unreadTimeoutMs: 100 },
    fetch: async () => {
      await slow.promise
      return answer(200, 'late')
    },
  })
  const asked = fetch(server.url)
  setTimeout(() => slow.resolve(undefined), 1_200)
  expect(await (await asked).text()).toBe('late')
})

test('an idle connection does not count as one with an unread answer', async () => {
  await using server = await start({ limits: { unreadTimeoutMs: 100 } })
  await using connection = openRaw(server.url)
  connection.write(get)
  await expect.poll(() => parseAnswers(connection.received())).toHaveLength(1)
  await sleep(400)
  connection.write(get)
  await expect.poll(() => parseAnswers(connection.received())).toHaveLength(2)
})

test('a new connection over the limit closes an idle one, and no busy one', async () => {
  const { fetch, release, asked } = slowPath()
  await using server = await start({ limits: { connectionsMax: 2 }, fetch })
  await using busy = openRaw(server.url)
  busy.write(asked)
  await using idle = openRaw(server.url)
  idle.write(get)
  await expect.poll(() => idle.received()).toContain('http://a/')
  await using newcomer = openRaw(server.url)
  newcomer.write(asked)
  await idle.closed
  expect(await sendRaw(server.url, get)).toEqual([])
  release()
  await expect.poll(() => parseAnswers(busy.received())).toHaveLength(1)
  await expect.poll(() => parseAnswers(newcomer.received())).toHaveLength(1)
})

test('a connection whose request took long has not been idle for longest', async () => {
  const { fetch, release, asked } = slowPath()
  await using server = await start({ limits: { connectionsMax: 2 }, fetch })
  await using slow = openRaw(server.url)
  slow.write(asked)
  await using idle = openRaw(server.url)
  idle.write(get)
  await expect.poll(() => parseAnswers(idle.received())).toHaveLength(1)
  await sleep(100)
  release()
  await expect.poll(() => parseAnswers(slow.received())).toHaveLength(1)
  await using newcomer = openRaw(server.url)
  newcomer.write(get)
  await idle.closed
  slow.write(get)
  await expect.poll(() => parseAnswers(slow.received())).toHaveLength(2)
})

test('a client that has used up its share of connections does not keep others out', async () => {
  const { fetch, release, asked } = slowPath()
  let client = 'one'
  await using server = await start({
    limits: { connectionsMax: 4 },
    shareOf: () => ({ client, part: 1 / 2 }),
    fetch,
  })
  await using first = openRaw(server.url)
  first.write(asked)
  await using idle = openRaw(server.url)
  idle.write(get)
  await expect.poll(() => parseAnswers(idle.received())).toHaveLength(1)
  await using third = openRaw(server.url)
  third.write(asked)
  await idle.closed
  expect(await sendRaw(server.url, get)).toEqual([])
  client = 'other'
  await using other = openRaw(server.url)
  other.write(get)
  await expect.poll(() => parseAnswers(other.received())).toHaveLength(1)
  release()
  await expect.poll(() => parseAnswers(third.received())).toHaveLength(1)
})

test('headers over the limit are refused', async () => {
  await using server = await start({ limits: { headerBytesMax: 1_000 } })
  const long = `GET /${'x'.repeat(2_000)} HTTP/1.1\r\nHost: a\r\n\r\n`
  expect(bodiesOf(await sendRaw(server.url, long))).toEqual(['headersTooLarge'])
})

test('"100 Continue" is sent for a body that will be read, and not for one that is too large', async () => {
  await using server = await start()
  const head = (length: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
  await using small = openRaw(server.url)
  small.write(head(2))
  await expect.poll(() => small.received()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  small.write('ok')
  const statuses = parseAnswers(await small.closed).map(({ status }) => status)
  expect(statuses).toEqual([100, 200])

  await using refusing = await start({ fetch: async () => answer(413, 'too large') })
  expect(bodiesOf(await sendRaw(refusing.url, head(2_000)))).toEqual(['too large'])
})

test('a client that goes on sending can read the answer, and is then cut off', async () => {
  await using server = await start({ fetch: async () => answer(413, 'too large') })
  await using connection = openRaw(server.url)
  connection.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\nx')
  expect(bodiesOf(parseAnswers(await connection.closed))).toEqual(['too large'])
})

test('an answer has the length of its bytes, and its headers in their order', async () => {
  const headers = ['x-first', '1', 'vary', 'Accept']
  await using server = await start({ fetch: async () => ({ status: 202, headers, body: 'für' }) })
  const accepted = await fetch(server.url)
  expect(accepted.status).toBe(202)
  expect(await accepted.text()).toBe('für')
  expect(accepted.headers.get('x-first')).toBe('1')
  expect(accepted.headers.get('content-length')).toBe('4')
})

test('a repeated header is read as one list', async () => {
  await using server = await start({
    fetch: async ({ headers }) => answer(200, `${headers.get('x-a')} ${headers.get('x-b')}`),
  })
  const twice = get.replace('\r\n\r\n', '\r\nConnection: close\r\nX-A: 1\r\nx-a: 2\r\n\r\n')
  expect(bodiesOf(await sendRaw(server.url, twice))).toEqual(['1, 2 null'])
})

test.each([
  ['another expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n', 'expectation'],
  ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 'tunnel'],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 'malformed'],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 'malformed'],
  ['a host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', 'malformed'],
  ['a user', 'GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 'malformed'],
  [
    'a body in chunks by HTTP/1.0',
    'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n' +
      get,
    'malformed',
  ],
])('%s is refused', async (_, request, failure) => {
  await using server = await start()
  expect(bodiesOf(await sendRaw(server.url, request))).toEqual([failure])
})

test('HTTP/1.0 needs no host', async () => {
  await using server = await start()
  const answers = await sendRaw(server.url, 'GET / HTTP/1.0\r\n\r\n')
  expect(bodiesOf(answers)).toEqual(['GET http://localhost/  127.0.0.1'])
})

test.each([
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
  ['what is no HTTP', 'BROKEN\r\n\r\n'],
])('a connection that is reset right after %s does no harm', async (_, request) => {
  await using server = await start()
  for (let count = 0; count < 20; count++) {
    await using connection = openRaw(server.url)
    await new Promise((resolve) => connection.socket.once('connect', resolve))
    connection.write(request)
    connection.socket.resetAndDestroy()
    await connection.closed
  }
  expect(await (await fetch(server.url)).text()).toContain('GET')
})

test('requests that are sent ahead are all answered, one after the other', async () => {
  let atOnce = 0
  let most = 0
  await using server = await start({
    fetch: async ({ url }) => {
      most = Math.max(most, ++atOnce)
      await new Promise(setImmediate)
      atOnce--
      return answer(200, url)
    },
  })
  const paths = Array.from({ length: 1_000 }, (_, index) => `/${index}`)
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
  const answers = await sendRaw(server.url, `${requests.join('')}BROKEN\r\n\r\n`)
  expect(bodiesOf(answers)).toEqual([...paths.map((path) => `http://a${path}`), 'malformed'])
  expect(most).toBe(1)
})

test('CONNECT is refused after the answers to earlier requests', async () => {
  await using server = await start()
  const answers = await sendRaw(server.url, `${get}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`)
  expect(bodiesOf(answers)).toEqual(['GET http://a/  127.0.0.1', 'tunnel'])
})

test('only the client that sends too many requests ahead is cut off', async () => {
  const slow = Promise.withResolvers<undefined>()
  let asked = 0
  await using server = await start({
    limits: { waitingRequestsMax: 10 },
    fetch: async () => {
      asked++
      await slow.promise
      return answer(200, 'late')
    },
  })
  await using patient = openRaw(server.url)
  patient.write(get.repeat(11))
  // They come together: when the first is worked on, the others wait.
  await expect.poll(() => asked).toBe(1)
  await using greedy = openRaw(server.url)
  greedy.write(get.repeat(1_000))
  expect(await greedy.closed).toBe('')
  slow.resolve(undefined)
  await expect.poll(() => parseAnswers(patient.received())).toHaveLength(11)
})

test('requests of a client that has left take no room from others', async () => {
  const slow = Promise.withResolvers<undefined>()
  const asked = Promise.withResolvers<AbortSignal>()
  await using server = await start({
    limits: { waitingRequestsMax: 10 },
    fetch: async ({ signal }) => {
      asked.resolve(signal)
      await slow.promise
      return answer(200, 'late')
    },
  })
  await using gone = openRaw(server.url)
  gone.write(get.repeat(11))
  await asked.promise
  gone.socket.destroy()
  await expect.poll(async () => (await asked.promise).aborted).toBe(true)
  await using other = openRaw(server.url)
  other.write(get.repeat(11))
  slow.resolve(undefined)
  await expect.poll(() => parseAnswers(other.received())).toHaveLength(11)
})

test('a body whose pieces all came before it is read is read whole', async () => {
  await using server = await start({
    fetch: async (request) => {
      await sleep(200)
      return answer(200, new TextDecoder().decode(await request.bytes()))
    },
  })
  await using connection = openRaw(server.url)
  connection.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\none')
  for (const piece of ['two', 'six']) {
    await sleep(20)
    connection.write(piece)
  }
  await expect.poll(() => bodiesOf(parseAnswers(connection.received()))).toEqual(['onetwosix'])
})

test('a handler that reads the signal late still learns that the client has left', async () => {
  const asked = Promise.withResolvers<undefined>()
  const aborted = Promise.withResolvers<boolean>()
  await using server = await start({
    fetch: async (request) => {
      asked.resolve(undefined)
      // It fails when the server's side of the connection is closed.
      await request.bytes().catch(() => {})
      aborted.resolve(request.signal.aborted)
      return answer(200, '')
    },
  })
  await using connection = openRaw(server.url)
  connection.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n')
  await asked.promise
  connection.socket.resetAndDestroy()
  expect(await aborted.promise).toBe(true)
})

test('an answer that is not read in time is cut off', async () => {
  const large = 'x'.repeat(30_000_000)
  const asked = Promise.withResolvers<AbortSignal>()
  await using server = await start({
    limits: { unreadTimeoutMs: 100 },
    fetch: async ({ signal }) => {
      asked.resolve(signal)
      return answer(200, large)
    },
  })
  await using connection = openRaw(server.url)
  connection.socket.pause()
  connection.write(get)
  const { aborted } = await asked.promise
  expect(aborted).toBe(false)
  await expect.poll(async () => (await asked.promise).aborted).toBe(true)
  connection.socket.resume()
  expect((await connection.closed).length).toBeLessThan(large.length)
})

/** A server whose body comes bit by bit without an end, and what was made of it. */
async function endless(text: string, unreadTimeoutMs = 60_000) {
  const made = { pieces: 0, isEnded: false }
  async function* body() {
    try {
      for (; ; made.pieces += 1) {
        yield text
        await sleep(0)
      }
    } finally {
      made.isEnded = true
    }
  }
  const fetch = async () => ({ status: 200, headers: [], body: body() })
  return { server: await start({ limits: { unreadTimeoutMs }, fetch }), made }
}

test('an answer that comes bit by bit is whole, and cut off when it fails', async () => {
  await using server = await start({
    fetch: async ({ url }) => {
      async function* body() {
        yield 'Zoë'
        yield '€'.repeat(100_000)
        if (url.endsWith('/bad')) throw new Error('no more')
      }
      return { status: 200, headers: [], body: body() }
    },
  })
  for (const _ of ['one', 'the next of the connection'])
    expect(await (await fetch(server.url)).text()).toBe(`Zoë${'€'.repeat(100_000)}`)
  const head = await fetch(`${server.url}/bad`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  await expect((await fetch(`${server.url}/bad`)).text()).rejects.toThrow('terminated')
})

test('an answer that comes bit by bit waits for its client, and ends when the client leaves', async () => {
  const { server, made } = await endless('x'.repeat(1_000_000))
  await using _ = server
  await using connection = openRaw(server.url)
  connection.socket.pause()
  connection.write(get)
  await expect.poll(() => made.pieces).toBeGreaterThan(0)
  for (let before = 0; made.pieces > before;) {
    before = made.pieces
    // What the system keeps for the client is a few megabytes.
    expect(before).toBeLessThan(100)
    await sleep(300)
  }
  expect(made.isEnded).toBe(false)
  connection.socket.destroy()
  await expect.poll(() => made.isEnded).toBe(true)
})

test(
  'a piece of an answer that is not read in time ends it, not while pieces are',
  { tags: 'slow' },
  async () => {
    const { server, made } = await endless('x'.repeat(1_000_000), 2_000)
    await using _ = server
    await using connection = openRaw(server.url)
    connection.socket.pause()
    connection.write(get)
    const { socket } = connection
    const reading = setInterval(() => socket.once('data', () => socket.pause()).resume(), 5)
    await sleep(5_000)
    clearInterval(reading)
    expect(made.isEnded).toBe(false)
    await expect.poll(() => made.isEnded).toBe(true)
  },
)
