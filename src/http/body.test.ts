import { describe, expect, test } from 'vitest'

import type { HttpRequest } from '../platform/http-exchange.ts'
import { readBody } from './body.ts'
import { Budget } from './budget.ts'

/** A request whose body comes as the test writes it. */
function sendSlowly() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: readable,
    duplex: 'half',
  }
  const request = new Request('http://a.example', init)
  const writer = writable.getWriter()
  return {
    request,
    write: (text: string) => writer.write(new TextEncoder().encode(text)),
    end: () => writer.close(),
    breakOff: () => writer.abort(new Error('the visitor left')),
  }
}

const share = { client: 'a', part: 1 }
const arrivingOf = (max: number) => new Budget({ max, clientMax: max })

function read(
  request: HttpRequest,
  bytesMax: number,
  arriving = arrivingOf(64_000_000),
  whose = share,
) {
  return readBody(
    { request, client: { share: whose } },
    { bytesMax, formFieldsMax: 1_000, arriving },
  )
}

describe('all arriving bodies together are limited', () => {
  const part = `{"a":"${'x'.repeat(994)}`
  const rest = '"}'

  test('the bodies of one client leave room for other clients, and one of the largest size is always read', async () => {
    const arriving = arrivingOf(8_000)
    const one = { client: 'a', part: 1 / 8 }
    const first = sendSlowly()
    const firstBody = read(first.request, 1_000, arriving, one)
    await first.write(part)
    await expect.poll(() => arriving.taken).toBe(1_000)
    const second = sendSlowly()
    const secondBody = expect(read(second.request, 1_000, arriving, one)).rejects.toMatchObject({
      kind: 'tooBusy',
    })
    await second.write(rest)
    await secondBody
    const large = sendSlowly()
    const largeBody = read(large.request, 2_000, arriving, one)
    await large.write(rest)
    await expect.poll(() => arriving.taken).toBe(1_002)
    await Promise.all([first.breakOff(), large.breakOff()])
    await expect(firstBody).rejects.toMatchObject({ kind: 'incompleteBody' })
    await expect(largeBody).rejects.toMatchObject({ kind: 'incompleteBody' })
    expect(arriving.taken).toBe(0)
  })

  test('a body that is cut off or too large no longer counts', async () => {
    const arriving = arrivingOf(1_500)
    const broken = sendSlowly()
    const brokenBody = expect(read(broken.request, 10_000, arriving)).rejects.toMatchObject({
      kind: 'incompleteBody',
    })
    await broken.write(part)
    await broken.breakOff()
    await brokenBody
    const large = sendSlowly()
    const largeBody = expect(read(large.request, 1_200, arriving)).rejects.toMatchObject({
      status: 413,
    })
    await large.write(part)
    await large.write(part)
    await largeBody
    expect(arriving.taken).toBe(0)
  })

  test('a small body with a content-length is read, however many others are arriving', async () => {
    const body = '{"email":"ada@example.com"}'
    const request = new Request('http://a.example', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
      body,
    })
    expect(await read(request, 10_000, arrivingOf(0))).toEqual({
      kind: 'json',
      value: { email: 'ada@example.com' },
    })
  })
})

describe('a form with too many fields is refused before it is parsed', () => {
  const readForm = (contentType: string, body: string) => {
    const headers = { 'content-type': contentType }
    const request = new Request('http://a.example', { method: 'POST', headers, body })
    return read(request, 1_000_000)
  }
  const tooMany = {
    status: 422,
    errors: [{ field: '', message: 'The form has too many fields: at most 1000.' }],
  }

  test.each(['a', 'a=1', '=', ''])('urlencoded, as fields of %j', async (field) => {
    const form = 'application/x-www-form-urlencoded'
    const fields = Array<string>(1_000).fill(field)
    expect(await readForm(form, fields.join('&'))).toMatchObject({ kind: 'form' })
    await expect(readForm(form, [...fields, field].join('&'))).rejects.toMatchObject(tooMany)
  })

  test.each([
    ['----WebKitFormBoundary7MA4YWxkTrZu0gW', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
    ['"=_Part (1): a/b"', '=_Part (1): a/b'],
    ['b; charset=utf-8; boundary=c', 'b'],
  ])('multipart with the boundary %s', async (given, boundary) => {
    const type = `multipart/form-data; boundary=${given}`
    const field = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n`
    const form = (count: number) => `${field.repeat(count)}--${boundary}--\r\n`
    expect(await readForm(type, form(1_000))).toMatchObject({
      kind: 'form',
      fields: { length: 1_000 },
    })
    await expect(readForm(type, form(1_001))).rejects.toMatchObject(tooMany)
  })

  test.each(['', '""', 'b'.repeat(71), '"a', 'ü'])(
    'no multipart has the boundary %j',
    async (boundary) => {
      await expect(
        readForm(`multipart/form-data; boundary=${boundary}`, '--b--'),
      ).rejects.toMatchObject({
        status: 400,
      })
    },
  )
})

describe('a body of any size up to the limit is read', () => {
  const json = { 'content-type': 'application/json' }
  const ofSize = (bytes: number) => `{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`
  const unread = () => Promise.reject(new Error('read as a whole'))
  /** Sends it in pieces, so that its length is not announced. */
  const inPieces = (text: string, pieceBytes: number) => {
    const bytes = new TextEncoder().encode(text)
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        yield bytes.slice(at, at + pieceBytes)
      }
    }
    const { signal } = new AbortController()
    const request = { method: 'POST', url: 'http://a.example/', signal, bytes: unread }
    return { ...request, headers: new Headers(json), body: pieces() }
  }
  const readPieces = (text: string, pieceBytes: number, bytesMax: number) => {
    return read(inPieces(text, pieceBytes), bytesMax)
  }

  test.each([
    [8, 1],
    [4_096, 1_000],
    [4_097, 1_000],
    [20_000, 1_111],
  ])('%i bytes in pieces of %i', async (size, pieceBytes) => {
    const text = ofSize(size)
    const read = { kind: 'json', value: JSON.parse(text) as unknown }
    expect(await readPieces(text, pieceBytes, size)).toEqual(read)
    expect(await readPieces(text, pieceBytes, 100_000)).toEqual(read)
    const tooLarge = { kind: 'bodyTooLarge', status: 413 }
    await expect(readPieces(text, pieceBytes, size - 1)).rejects.toMatchObject(tooLarge)
  })

  test.each([
    [4_096, false],
    [4_097, true],
  ])('and one of %i announced bytes counts among the arriving ones: %s', async (size, counts) => {
    const headers = { ...json, 'content-length': String(size) }
    const request = () => new Request('http://a.example', { method: 'POST', headers, body })
    const body = ofSize(size)
    const full = read(request(), 10_000, arrivingOf(0))
    if (counts) await expect(full).rejects.toMatchObject({ kind: 'tooBusy' })
    else await expect(full).resolves.toMatchObject({ kind: 'json' })
  })
})

test.each([
  ['an empty file', 'filename="a.png"', ''],
  ['a file without a name', 'filename=""', 'x'],
])(
  'a multipart form may not have %s, and the refusal names its field',
  async (_, filename, content) => {
    const name = 'f'.repeat(70)
    const type = 'multipart/form-data; boundary=b'
    const disposition = `form-data; name="${name}"; ${filename}`
    const form = `--b\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n--b--\r\n`
    const headers = { 'content-type': type, 'content-length': String(form.length) }
    const refused = read(
      new Request('http://a.example', { method: 'POST', headers, body: form }),
      9_000,
    )
    await expect(refused).rejects.toMatchObject({
      kind: 'fields',
      errors: [{ field: 'f'.repeat(64), message: 'A form may have text only, and no files.' }],
    })
  },
)

const readAs = (type: string, body: string) => {
  const headers = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
  return read(new Request('http://a.example', { method: 'POST', headers, body }), 9_000)
}

const one = { kind: 'form', fields: [['email', 'ada@example.com']] }
const multipart =
  '--b\r\nContent-Disposition: form-data; name="email"\r\n\r\nada@example.com\r\n--b--\r\n'

test.each([
  ['application/json; charset=utf-8', '{"a":1}', { kind: 'json', value: { a: 1 } }],
  [' Application/JSON ;  Charset = "UTF8"', '{"a":1}', { kind: 'json', value: { a: 1 } }],
  ['application/json; q=charset; charset=US-ASCII', '{}', { kind: 'json', value: {} }],
  ['application/x-www-form-urlencoded;charset=utf-8', 'email=ada@example.com', one],
  ['multipart/form-data; charset=latin1; boundary=b', multipart, one],
  ['multipart/form-data;  boundary="b" ; charset=latin1', multipart, one],
])('a body of the type %s is read', async (type, body, expected) => {
  expect(await readAs(type, body)).toEqual(expected)
})

test.each([
  ['', 'contentType'],
  ['text/plain', 'contentType'],
  ['application/json; charset=latin1', 'charset'],
  ['application/json; charset=x-utf-8', 'charset'],
  ['application/json; charset=utf-8x', 'charset'],
  ['application/x-www-form-urlencoded; charset=utf-16', 'charset'],
])('a body of the type "%s" is refused: %s', async (type, kind) => {
  await expect(readAs(type, '{}')).rejects.toMatchObject({ kind, status: 415 })
})

test.each([
  ['application/x-www-form-urlencoded', 'name=%C3', 'The body is not valid UTF-8.'],
  ['application/x-www-form-urlencoded', '{"email":"ada@example.com"}', /looks like JSON/],
  ['multipart/form-data', multipart, 'The body is not valid multipart/form-data.'],
  ['multipart/form-data; boundary=b', 'no part', 'The body is not valid multipart/form-data.'],
])('a form of the type %s with the body %j is refused', async (type, body, message) => {
  await expect(readAs(type, body)).rejects.toThrow(message)
})

test('a file field that was left empty is no field of a form', async () => {
  const empty =
    '--b\r\nContent-Disposition: form-data; name="photo"; filename=""\r\n' +
    'Content-Type: application/octet-stream\r\n\r\n\r\n'
  expect(await readAs('multipart/form-data; boundary=b', empty + multipart)).toEqual(one)
})

test('a body of exactly the largest size is read', async () => {
  const body = '{"a":1}'
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const request = () => new Request('http://a.example', { method: 'POST', headers, body })
  expect(await read(request(), body.length)).toEqual({ kind: 'json', value: { a: 1 } })
  await expect(read(request(), body.length - 1)).rejects.toMatchObject({ kind: 'bodyTooLarge' })
})
