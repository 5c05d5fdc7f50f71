import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { expectProblem, expectSecured } from '../../harness/expect-secured.ts'
import { measuredProgram, memoryInUse } from '../../harness/measure.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { openRaw, parseAnswers, sendRaw } from '../../harness/raw-http.ts'
import { addressesIn, readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await startService({
    program: measuredProgram,
    env: { BODY_LIMIT_BYTES: '100000' },
  })
})
afterAll(async () => {
  // After all these requests the service still runs, and stops as usual.
  expect(await service.stop()).toBe(0)
})

const json = '{"email":"ada@example.com"}'
const head = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`
const post = (lines: readonly string[], body = '') =>
  `${head(['POST /api/signup HTTP/1.1', 'Host: a', 'Content-Type: application/json', ...lines])}${body}`
const whole = post([`Content-Length: ${json.length}`, 'Connection: close'], json)

describe('bytes that are not HTTP are answered with one error, and the connection is closed', () => {
  test.each([
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['an unknown method', 'HACK / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: a\r\nBroken\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nx: a\0b\r\n\r\n'],
    ['a bare CR in a header', 'GET / HTTP/1.1\r\nHost: a\r\nx: a\rb: c\r\n\r\n'],
    ['two different lengths', post(['Content-Length: 5', 'Content-Length: 27'], json)],
    ['a negative length', post(['Content-Length: -1'], json)],
    ['a length that is no number', post(['Content-Length: 2x'], json)],
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

describe('unusual HTTP that is allowed is served', () => {
  test('requests that are sent ahead are answered in their order', async () => {
    const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
    const answers = await sendRaw(
      service.url,
      one('/api/health') + one('/nothing') + one('/api/config') + whole,
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 202])
  })

  test('a body in chunks of one byte, with extensions and trailers', async () => {
    const chunks = json
      .split('')
      .map((character) => `1;x=y\r\n${character}\r\n`)
      .join('')
    const chunked = post(
      ['Transfer-Encoding: chunked', 'Connection: close'],
      `${chunks}0\r\nX-Trailer: 1\r\n\r\n`,
    )
    const answers = await sendRaw(service.url, chunked)
    expect(answers.map(({ status }) => status)).toEqual([202])
  })
})

describe('a body over the limit', () => {
  test('is answered 413 as soon as its length is announced, without waiting for it', async () => {
    await using connection = openRaw(service.url)
    connection.write(post(['Content-Length: 9007199254740991']))
    await expect.poll(() => connection.received()).toMatch(/requestId":"[^"]+"}$/)
    const [answer] = parseAnswers(connection.received())
    expect(answer && expectProblem(answer, answer.body, 413)).toContain('100000')
  })

  test('is answered 413 while it streams, and the answer arrives although the client sends on', async () => {
    await using connection = openRaw(service.url)
    connection.write(post(['Transfer-Encoding: chunked']))
    const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`
    const sending = setInterval(() => connection.write(chunk.repeat(8)), 1)
    await expect.poll(() => connection.received()).toMatch(/requestId":"[^"]+"}$/)
    // The service closes the connection, so that the sending ends.
    const answers = parseAnswers(await connection.closed)
    clearInterval(sending)
    expect(answers.map(({ status }) => status)).toEqual([413])
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

test('after thousands of bodies over the limit, many at once, the process uses no more memory than before', async () => {
  const tooLarge = new Uint8Array(128 * 1024).fill(0x20)
  const flood = async (count: number) => {
    let left = count
    const sender = async () => {
      while (left-- > 0) {
        const answer = await fetch(`${service.url}/api/signup`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          // A stream announces no length by which it could be refused early.
          body: left % 2 === 0 ? tooLarge : new Blob([tooLarge]).stream(),
          ...(left % 2 !== 0 && { duplex: 'half' }),
        })
        expect(answer.status).toBe(413)
        await answer.arrayBuffer()
      }
    }
    await Promise.all(Array.from({ length: 20 }, sender))
  }
  await flood(500)
  const before = await memoryInUse(service)
  await flood(3_000) // 375 MiB in all.
  // The last connections may still be closing. Only a leak stays.
  await expect.poll(async () => (await memoryInUse(service)) - before).toBeLessThan(8 * 1024 * 1024)
  expect((await postSignup(service.url, { email: 'ada@example.com' })).status).toBe(202)
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

  test.each([
    [
      'a number with too many characters',
      400,
      `{"email":"a@example.com","metadata":{"n":0.${'0'.repeat(400)}1}}`,
      /send it as text/,
    ],
    [
      'a number without end',
      422,
      '{"email":"a@example.com","metadata":{"n":1e999}}',
      /send it as text/,
    ],
    [
      '__proto__ as a field',
      422,
      '{"email":"a@example.com","__proto__":{"name":"x"}}',
      /__proto__/,
    ],
    ['no email but in __proto__', 422, '{"__proto__":{"email":"a@example.com"}}', /./],
    ['constructor as a field', 422, '{"email":"a@example.com","constructor":1}', /constructor/],
    ['a lone surrogate in the email', 422, '{"email":"a\\ud800@example.com"}', /email/],
    ['NUL in the email', 422, '{"email":"a\\u0000@example.com"}', /email/],
    ['NUL in the tab', 422, '{"email":"a@example.com","sheetTab":"a\\u0000b"}', /sheetTab/],
    ['line breaks in the email', 422, '{"email":"a@example.com\\r\\nBcc: b@example.com"}', /email/],
    ['two values', 400, '{"email":"a@example.com"}{"email":"b@example.com"}', /position 25/],
    ['null', 400, 'null', /object/],
    ['nothing', 400, '', /JSON/],
  ])('is refused: %s (%i)', async (_, status, body, detail) => {
    const { answer, text } = await send(body)
    expect(expectProblem(answer, text, status)).toMatch(detail)
  })

  test('is refused: nesting without end', async () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    const { answer, text } = await send(`{"email":"a@example.com","metadata":${deep}}`)
    expectProblem(answer, text, 422)
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

describe('a body whose headers do not fit it', () => {
  // Node's parser finds a very short boundary anywhere in the text.
  const boundary = '----formdata-6a5b'
  const part = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const send = async (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) => {
    const answer = await fetch(`${service.url}/api/signup`, { method: 'POST', headers, body })
    return { answer, text: await answer.text() }
  }
  const form = 'application/x-www-form-urlencoded'

  test.each([
    ['application/json; charset=utf-16', 415, json],
    ['application/json; charset="iso-8859-1"', 415, json],
    [`${form};charset=latin1`, 415, 'email=ada@example.com'],
    ['application/json-seq', 415, json],
    ['application/jsonx', 415, json],
    ['text/json', 415, json],
    [';', 415, json],
    ['application/json;charset=UTF-8', 202, json],
    ['APPLICATION/JSON ; Charset="utf-8"; x=y', 202, json],
    ['application/json;', 202, json],
    [form, 400, 'email=ada%40example.com&name=Jos%E9'],
    [form, 400, 'email=ada%40example.com&name=%ED%A0%80'],
    [form, 202, 'email=ada%40example.com&discount=100%&name=%EF%BF%BD'],
    ['multipart/form-data', 400, part('email', 'ada@example.com')],
    ['multipart/form-data; boundary=', 400, part('email', 'ada@example.com')],
    ['multipart/form-data; boundary=other', 400, part('email', 'ada@example.com')],
    [`multipart/form-data; boundary=${boundary}`, 400, part('email', 'ada@example.com')],
    [`multipart/form-data; boundary=${boundary}`, 400, ''],
    [
      `multipart/form-data; boundary=${boundary}`,
      202,
      `${part('email', 'ada@example.com')}--${boundary}--\r\n`,
    ],
    [
      `multipart/form-data; boundary=${boundary}`,
      422,
      `${part('email', 'a@example.com')}${part('email', 'b@example.com')}--${boundary}--\r\n`,
    ],
    [
      `multipart/form-data; boundary=${boundary}`,
      202,
      `${part('email', 'a@example.com')}--${boundary}\r\nContent-Disposition: form-data; name="cv"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--${boundary}--\r\n`,
    ],
    [
      `multipart/form-data; boundary=${boundary}`,
      422,
      `${Array.from({ length: 1_001 }, (_, index) => part(`f${index}`, '')).join('')}--${boundary}--\r\n`,
    ],
  ])('with the type %s is answered %i', async (type, status, body) => {
    const { answer, text } = await send({ 'content-type': type }, body)
    if (status !== 202) return void expectProblem(answer, text, status)
    expectSecured(answer)
    expect(JSON.parse(text)).toMatchObject({ status: 'accepted' })
  })

  test('with a multipart field that is not UTF-8 is answered 400', async () => {
    const bytes = Buffer.from(
      `${part('email', 'a@example.com')}${part('name', 'Jos\xe9')}--${boundary}--\r\n`,
      'latin1',
    )
    const { answer, text } = await send(
      { 'content-type': `multipart/form-data; boundary=${boundary}` },
      new Uint8Array(bytes),
    )
    expect(expectProblem(answer, text, 400)).toContain('UTF-8')
  })

  test('that is compressed is answered 415 with how to send it', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const { answer, text } = await send(headers, json)
    expect(expectProblem(answer, text, 415)).toContain('Content-Encoding')
    expect(answer.headers.get('accept-encoding')).toBe('identity')
    const plain = await send({ ...headers, 'content-encoding': 'identity' }, json)
    expect(plain.answer.status).toBe(202)
  })

  test.each([
    ['gzip, chunked', 415],
    ['deflate,\tchunked', 415],
    ['Chunked', 202],
    ['identity, chunked', 202],
  ])('in the transfer codings %j is answered %i', async (codings, status) => {
    const chunked = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`
    const headers = [`Transfer-Encoding: ${codings}`, 'Connection: close']
    const answers = await sendRaw(service.url, post(headers, chunked))
    expect(answers.map((answer) => answer.status)).toEqual([status])
  })
})

test('none of these requests failed unexpectedly, and none that was smuggled became a row', async () => {
  await allDelivered(service)
  expect(service.output()).not.toContain('failed unexpectedly')
  const addresses = addressesIn(`${service.folder}/data`)
  expect(addresses).toContain('ada@example.com')
  expect(addresses).not.toContain('smuggled@example.com')
})
