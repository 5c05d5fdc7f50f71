import { describe, expect, test } from 'vitest'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { readBody } from './body.ts'
import { Budget } from './budget.ts'

const share = { client: 'a', part: 1 }
const arrivingOf = (max: number) => new Budget({ max, clientMax: max })

function read(request: HttpRequest, bytesMax = 10_000, arriving = arrivingOf(64_000_000)) {
  return readBody({ request, client: { share } }, { bytesMax, formFieldsMax: 100, arriving })
}

/** Reads a body with these headers, as a browser or a program sends it. */
function readWith(headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) {
  const length = String(new Blob([body]).size)
  const all = { 'content-length': length, ...headers }
  return read(new Request('http://a.example', { method: 'POST', headers: all, body }))
}

/** A request that a `Request` cannot stand for, as it allows no `transfer-encoding`. */
function plainRequest() {
  const bytes = ofBytes('{}')
  async function* pieces() {
    yield bytes
  }
  return {
    method: 'POST',
    url: 'http://a.example/',
    signal: new AbortController().signal,
    body: pieces(),
    bytes: async () => bytes,
  }
}

function ofBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

const form = 'application/x-www-form-urlencoded'

describe('a body is read as its Content-Type says', () => {
  test.each([
    'application/json',
    'Application/JSON ;charset=utf-8',
    'application/json; charset=UTF8',
    'application/json; charset="utf-8"',
    'application/json;x=y; CHARSET = us-ascii',
    'application/json;',
  ])('%s', async (type) => {
    const read = await readWith({ 'content-type': type }, '{"name":"Zoë"}')
    expect(read).toEqual({ kind: 'json', value: { name: 'Zoë' } })
  })

  test.each([
    ['application/json; charset=latin1', 'charset'],
    ['application/json; charset=utf-16', 'charset'],
    ['application/json; charset=xutf-8', 'charset'],
    ['application/json; charset=utf-80', 'charset'],
    [`${form}; charset=windows-1252`, 'charset'],
    ['text/plain', 'contentType'],
    ['application/json5', 'contentType'],
    ['', 'contentType'],
  ])('and is refused when that is %s', async (type, kind) => {
    await expect(readWith({ 'content-type': type }, '{}')).rejects.toMatchObject({ kind })
  })

  test('and JSON that comes as a form, as from curl, is refused with the header that it needs', async () => {
    const type = 'application/x-www-form-urlencoded'
    const body = '{"email":"ada@example.com"}'
    await expect(readWith({ 'content-type': type }, body)).rejects.toMatchObject({
      kind: 'contentType',
      message: expect.stringContaining('Content-Type: application/json') as string,
    })
  })

  test('and a form in another charset is read, as multipart names one for each part', async () => {
    const type = 'multipart/form-data; charset=latin1; boundary=b'
    const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nZoë\r\n--b--\r\n'
    expect(await readWith({ 'content-type': type }, part)).toMatchObject({ fields: [['a', 'Zoë']] })
  })
})

describe('a compressed body is refused', () => {
  const json = { 'content-type': 'application/json' }

  test.each<Record<string, string>>([
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'identity, BR' },
    { 'transfer-encoding': 'gzip, chunked' },
  ])('%j', async (coding) => {
    const headers = new Headers({ ...json, ...coding })
    const request = { ...plainRequest(), headers }
    await expect(read(request)).rejects.toMatchObject({ kind: 'contentCoding', status: 415 })
  })

  test.each<Record<string, string>>([
    { 'content-encoding': '' },
    { 'content-encoding': 'Identity' },
    { 'transfer-encoding': 'chunked' },
    { 'transfer-encoding': 'identity, chunked' },
  ])('and one with %j is not compressed', async (coding) => {
    const headers = new Headers({ ...json, ...coding })
    expect(await read({ ...plainRequest(), headers })).toEqual({ kind: 'json', value: {} })
  })
})

describe('a body of any size up to the limit is read', () => {
  const json = { 'content-type': 'application/json' }
  const ofSize = (bytes: number) => `{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`
  /** Sends it in pieces, so that its length is not announced. */
  const inPieces = (text: string, pieceBytes: number) => {
    const bytes = ofBytes(text)
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        yield bytes.slice(at, at + pieceBytes)
      }
    }
    return { ...plainRequest(), headers: new Headers(json), body: pieces() }
  }
  const readPieces = (text: string, pieceBytes: number, bytesMax: number) => {
    return read(inPieces(text, pieceBytes), bytesMax)
  }

  test.each([
    [8, 1],
    [4_095, 1],
    [4_096, 1_000],
    [4_097, 1_000],
    [20_000, 1_111],
    [20_000, 20_000],
  ])('%i bytes in pieces of %i', async (size, pieceBytes) => {
    const text = ofSize(size)
    const read = { kind: 'json', value: JSON.parse(text) as unknown }
    expect(await readPieces(text, pieceBytes, size)).toEqual(read)
    expect(await readPieces(text, pieceBytes, 100_000)).toEqual(read)
    const tooLarge = { kind: 'bodyTooLarge', status: 413 }
    await expect(readPieces(text, pieceBytes, size - 1)).rejects.toMatchObject(tooLarge)
  })

  test('and one that is announced as larger is refused before any of it is read', async () => {
    const announced = (bytes: string) => {
      const headers = new Headers({ ...json, 'content-length': bytes })
      return read({ ...plainRequest(), headers, bytes: () => Promise.reject(new Error()) }, 100)
    }
    await expect(announced('101')).rejects.toMatchObject({ kind: 'bodyTooLarge' })
    await expect(announced('100')).rejects.toMatchObject({ kind: 'incompleteBody' })
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

describe('a body that cannot be read is refused with what is wrong', () => {
  const malformed = (detail: string) => ({ kind: 'malformed', status: 400, message: detail })

  test.each([
    ['application/json', '{"a":', expect.stringMatching(/^The body is not valid JSON.*\.$/)],
    ['application/json', '[]', expect.stringContaining('must be a JSON object')],
    ['application/json', ofBytes('{"a":"\u00ff"}').slice(0, 7), 'The body is not valid UTF-8.'],
    [form, 'a=%ff', 'The body is not valid UTF-8.'],
    ['multipart/form-data', '--b--', 'The body is not valid multipart/form-data.'],
    ['multipart/form-data; boundary=b', 'b', 'The body is not valid multipart/form-data.'],
  ])('as %s: %j', async (type, body, detail: string) => {
    await expect(readWith({ 'content-type': type }, body)).rejects.toMatchObject(malformed(detail))
  })

  test('when the connection ends during a small body', async () => {
    const headers = new Headers({ 'content-type': 'application/json', 'content-length': '2' })
    const bytes = () => Promise.reject(new Error('ECONNRESET'))
    const request = { ...plainRequest(), headers, bytes }
    await expect(read(request)).rejects.toMatchObject({ kind: 'incompleteBody', status: 400 })
  })
})

test('the fields of a form are read in order, and a stray percent sign is a percent sign', async () => {
  const body = await readWith({ 'content-type': form }, 'a=100%&b=%zz%41&a=%C3%AB&b=1%2')
  expect(body).toEqual({
    kind: 'form',
    fields: [
      ['a', '100%'],
      ['b', '%zzA'],
      ['a', 'ë'],
      ['b', '1%2'],
    ],
  })
})

describe('a multipart form', () => {
  const type = 'multipart/form-data; boundary=b'
  const part = (disposition: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`
  const readParts = (...parts: string[]) =>
    readWith({ 'content-type': type }, `${parts.join('')}--b--\r\n`)

  test('may have a file field that was left empty', async () => {
    const body = await readParts(part('name="a"', '1'), part('name="photo"; filename=""', ''))
    expect(body).toEqual({ kind: 'form', fields: [['a', '1']] })
  })

  test.each([
    ['a file', 'filename="a.png"', 'x'],
    ['an empty file', 'filename="a.png"', ''],
    ['a file without a name', 'filename=""', 'x'],
  ])('may not have %s, and the refusal names its field', async (_, filename, content) => {
    const name = 'f'.repeat(70)
    const refused = readParts(part(`name="${name}"; ${filename}`, content))
    await expect(refused).rejects.toMatchObject({
      kind: 'fields',
      errors: [{ field: 'f'.repeat(64), message: 'A form may have text only, and no files.' }],
    })
  })

  test('has to be valid UTF-8', async () => {
    const bytes = ofBytes(`${part('name="a"', '#')}--b--\r\n`)
    bytes[bytes.indexOf('#'.charCodeAt(0))] = 0xff
    await expect(readWith({ 'content-type': type }, bytes)).rejects.toMatchObject({
      message: 'The body is not valid UTF-8.',
    })
  })
})
