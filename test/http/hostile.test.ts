import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { expectProblem } from '../../harness/expect-secured.ts'
import { openRaw, parseAnswers, sendRaw } from '../../harness/raw-http.ts'
import { addressesIn, readTab } from '../../harness/read-workbook.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

let service: BootedService
beforeAll(async () => {
  service = await bootService({ env: { BODY_LIMIT_BYTES: '100000' } })
})
afterAll(() => service.stop())

const json = '{"email":"ada@example.com"}'
const head = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`
const post = (lines: readonly string[], body = '') =>
  `${head(['POST /api/signup HTTP/1.1', 'Host: a', 'Content-Type: application/json', ...lines])}${body}`
const whole = post([`Content-Length: ${json.length}`, 'Connection: close'], json)

describe('bytes that are not HTTP are answered with one error, and the connection is closed', () => {
  test.each([
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['an unknown method', 'HACK / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nx: a\0b\r\n\r\n'],
    ['a bare CR in a header', 'GET / HTTP/1.1\r\nHost: a\r\nx: a\rb: c\r\n\r\n'],
    ['two different lengths', post(['Content-Length: 5', 'Content-Length: 27'], json)],
    ['a negative length', post(['Content-Length: -1'], json)],
    ['a length beyond all numbers', post(['Content-Length: 99999999999999999999999'], json)],
    ['a chunk whose size is no number', post(['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n')],
    ['an unknown transfer coding', post(['Transfer-Encoding: magic'], json)],
  ])('%s is answered 400', async (_, bytes) => {
    const answers = await sendRaw(service.url, Buffer.from(bytes, 'latin1'))
    expect(answers).toHaveLength(1)
    for (const answer of answers) expectProblem(answer, answer.body, 400)
  })

  test.each([
    ['length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['chunks and length', ['Transfer-Encoding: chunked', 'Content-Length: 4']],
    ['chunks that are not last', ['Transfer-Encoding: chunked, identity']],
    ['chunks by another name', ['Transfer-Encoding: xchunked', 'Content-Length: 4']],
  ])(
    'a request that is smuggled in the body of another is not answered: %s',
    async (_, framing) => {
      const smuggled = whole.replace('ada@', 'smuggled@').replace('27', '32')
      const answers = await sendRaw(service.url, post(framing, `0\r\n\r\n${smuggled}`))
      expect(answers.map(({ status }) => status)).toEqual([400])
    },
  )
})

describe('a body over the limit', () => {
  test('is answered 413 as soon as its length is announced, without waiting for it', async () => {
    await using connection = openRaw(service.url)
    connection.write(post(['Content-Length: 9007199254740991']))
    await expect.poll(() => connection.received()).toMatch(/requestId":"[^"]+"}$/)
    const [answer] = parseAnswers(connection.received())
    expect(answer && expectProblem(answer, answer.body, 413)).toContain('100000')
  })

  test('that is longer than its announced length is answered by that length, and the rest with 400', async () => {
    const answers = await sendRaw(
      service.url,
      post(['Content-Length: 2'], `{}${'x'.repeat(100_000)}`),
    )
    expect(answers.map(({ status }) => status)).toEqual([422, 400])
  })
})

test('a body that ends too early is answered 400, without an unexpected error', async () => {
  await using connection = openRaw(service.url)
  connection.write(post(['Content-Length: 50'], json))
  connection.socket.end()
  const answers = parseAnswers(await connection.closed)
  expect(answers.map(({ status }) => status)).toEqual([400])
  expect(service.output()).not.toContain('failed unexpectedly')
})

describe('ambiguous or broken JSON', () => {
  const send = async (body: string | Uint8Array<ArrayBuffer>) => {
    const answer = await fetch(`${service.url}/api/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    return { answer, text: await answer.text() }
  }

  test('is refused: nesting without end', async () => {
    const nested = (levels: number) =>
      send(`{"email":"a@example.com","metadata":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`)
    const { answer, text } = await nested(900)
    expectProblem(answer, text, 422)
    const deep = await nested(10_000)
    expect(expectProblem(deep.answer, deep.text, 400)).toContain('1000 levels')
    const arrays = await send('['.repeat(60_000))
    expectProblem(arrays.answer, arrays.text, 400)
  })

  test.each([
    ['invalid UTF-8', [0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]],
    ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['UTF-16 with its mark', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('is refused: %s', async (_, bytes) => {
    const { answer, text } = await send(new Uint8Array(bytes))
    expect(expectProblem(answer, text, 400)).toContain('UTF-8')
  })

  test('is accepted when nothing of it is lost: a byte order mark, escapes, __proto__ in metadata', async () => {
    const body =
      '\ufeff{"email":"proto@example.com","name":"a\\ud800\\u0000b","metadata":{"__proto__":{"x":9007199254740991}}}'
    const { answer } = await send(body)
    expect(answer.status).toBe(202)
    const row = async () =>
      readTab(`${service.folder}/data`, 'Sheet1.csv').find(
        ([email]) => email === 'proto@example.com',
      )
    await expect.poll(row).toBeDefined()
    expect(await row()).toMatchObject({ 3: 'a b', 5: '{"__proto__":{"x":9007199254740991}}' })
  })
})

test.each([
  ['gzip, chunked', 415],
  ['deflate,\tchunked', 415],
  ['Chunked', 202],
  ['identity, chunked', 202],
])('a body in the transfer codings %j is answered %i', async (codings, status) => {
  const chunked = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`
  const headers = [`Transfer-Encoding: ${codings}`, 'Connection: close']
  const answers = await sendRaw(service.url, post(headers, chunked))
  expect(answers.map((answer) => answer.status)).toEqual([status])
})

test('none of these requests failed unexpectedly, and none that was smuggled became a row', async () => {
  await allDelivered(service)
  expect(service.output()).not.toContain('failed unexpectedly')
  const addresses = addressesIn(`${service.folder}/data`)
  expect(addresses).toContain('ada@example.com')
  expect(addresses).not.toContain('smuggled@example.com')
})
