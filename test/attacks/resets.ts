import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from './carry-out.ts'

const json = '{"email":"ada@example.com"}'
const host = 'Host: a\r\n'
const post = `POST /api/signup HTTP/1.1\r\n${host}Content-Type: application/json\r\n`
const get = `GET /api/health HTTP/1.1\r\n${host}`
const whole = `${post}Content-Length: ${json.length}\r\n\r\n${json}`

/** All kinds of first lines, headers and bodies of HTTP, and some that are wrong. */
const requests: Readonly<Record<string, string>> = {
  nothing: '',
  get: `${get}\r\n`,
  'get of something large': `GET /api/openapi.json HTTP/1.1\r\n${host}\r\n`,
  head: `HEAD / HTTP/1.1\r\n${host}\r\n`,
  options: `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
  trace: `TRACE / HTTP/1.1\r\n${host}\r\n`,
  page: `GET / HTTP/1.1\r\n${host}Accept: text/html\r\n\r\n`,
  'HTTP/1.0': 'GET /api/health HTTP/1.0\r\n\r\n',
  'HTTP/1.0 that stays': 'GET /api/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  signup: whole,
  'signup that waits': whole.replace(host, `${host}Prefer: wait=5\r\n`),
  'signup in chunks': `${post}Transfer-Encoding: chunked\r\n\r\n1b\r\n${json}\r\n0\r\nX-Trailer: 1\r\n\r\n`,
  'body without an end': `${post}Content-Length: 5000\r\n\r\n${json}`,
  'chunks without an end': `${post}Transfer-Encoding: chunked\r\n\r\n1b\r\n${json}\r\n`,
  'body over the limit': `${post}Content-Length: 99999999\r\n\r\n${json}`,
  'a broken chunk': `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n${json}`,
  'two lengths': `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n${json}`,
  'length and chunks': `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  connect: 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
  'connect with more behind it': `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n${whole}`,
  'connect with a body': `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 9\r\n\r\nabc`,
  'connect with chunks': `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
  'connect behind a signup': `${whole}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`,
  upgrade: `${get}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  'upgrade with a body': `${whole.replace(host, `${host}Connection: Upgrade\r\nUpgrade: h2c\r\n`)}more`,
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'expect 100': `${post}Expect: 100-continue\r\nContent-Length: ${json.length}\r\n\r\n`,
  'expect 100 for too much': `${post}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n`,
  'expect anything else': `${post}Expect: wonders\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  'many at once': whole.repeat(20) + `${get}\r\n`.repeat(20),
  'many at once, then garbage': `${whole.repeat(20)}garbage\r\n\r\n`,
  garbage: 'hello\r\n\r\n',
  'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'half a first line': 'POST /api/si',
  'half of the headers': `${post}X-`,
  'headers that are too long': `${get}X: ${'x'.repeat(20_000)}\r\n\r\n`,
  'an address that is too long': `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
  'two hosts': `${get}${host}\r\n`,
}

/** The moments at which connections are reset, counted from the last byte. */
const stages = [
  'halfway',
  'at once',
  'in the next turn',
  'after 1 ms',
  'after 3 ms',
  'when answered',
] as const
type Stage = (typeof stages)[number]

const atOnce = 50
/** Some of the requests are never answered. */
const answerMsMax = 300

export const resets: Attack = {
  what: 'Connections are reset at every stage of every kind of request.',
  run: async ({ url }, size) => {
    const rounds = size === 'small' ? 3 : 60
    const cases = Array.from({ length: rounds }, () =>
      Object.values(requests).flatMap((bytes) => stages.map((stage) => ({ bytes, stage }))),
    ).flat()
    const todo = cases.values()
    let answered = 0
    const attacker = async () => {
      for (const { bytes, stage } of todo) if (await reset(url, bytes, stage)) answered++
    }
    await Promise.all(Array.from({ length: atOnce }, attacker))
    if (answered === 0) throw new Error('no request was answered before its connection was reset')
  },
}

/** Resets one connection. Resolves with whether an answer had begun to arrive. */
async function reset(url: string, bytes: string, stage: Stage): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const closed = once(socket, 'close')
  // The service may close the connection first.
  socket.on('error', () => {})
  await Promise.race([once(socket, 'connect'), closed])
  socket.write(stage === 'halfway' ? bytes.slice(0, bytes.length >> 1) : bytes, 'latin1')
  const wasAnswered = await stageOf(socket, stage)
  socket.resetAndDestroy()
  await closed
  return wasAnswered
}

/** Waits until the stage is reached. Resolves with whether an answer had begun to arrive. */
async function stageOf(socket: Socket, stage: Stage): Promise<boolean> {
  switch (stage) {
    case 'halfway':
    case 'at once':
      return false
    case 'in the next turn':
      await new Promise(setImmediate)
      return false
    case 'after 1 ms':
      await sleep(1)
      return false
    case 'after 3 ms':
      await sleep(3)
      return false
    case 'when answered': {
      const answered = once(socket, 'data').then(() => true)
      return Promise.race([answered, sleep(answerMsMax, false)])
    }
  }
}

function once(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve) => socket.once(event, () => resolve()))
}
