import { describe, expect, test } from 'vitest'

import { IncompleteBody } from '../platform/http-exchange.ts'
import { ArrivingBodies, readBody } from './body.ts'
import { RequestRefused } from './respond.ts'

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

const visit = { share: { client: 'a', part: 1 } }

describe('the bodies that are on their way are held to a limit together', () => {
  const part = `{"a":"${'x'.repeat(994)}`
  const rest = '"}'

  test('one that would be too much is refused 503 with when to come again, and the others are read', async () => {
    const arriving = new ArrivingBodies(1_500)
    const first = sendSlowly()
    const firstBody = readBody(first.request, 10_000, arriving, visit)
    await first.write(part)
    await expect.poll(() => arriving.bytes).toBe(1_000)

    const second = sendSlowly()
    const secondBody = readBody(second.request, 10_000, arriving, visit)
    const refused = expect(secondBody).rejects.toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
    })
    await second.write(part)
    await refused
    expect(arriving.bytes).toBe(1_000)

    await first.write(rest)
    await first.end()
    expect(await firstBody).toMatchObject({ kind: 'json' })
    expect(arriving.bytes).toBe(0)
  })

  test('those of one client leave room for the others', async () => {
    const arriving = new ArrivingBodies(64_000)
    const one = { client: 'a', part: 1 / 8 }
    for (let count = 0; count < 8; count++) arriving.add(1_000, one, 1_000)
    expect(() => arriving.add(1_000, one, 1_000)).toThrow(RequestRefused)
    arriving.add(1_000, { client: 'b', part: 1 / 8 }, 1_000)
    arriving.remove(8_000, one)
    arriving.add(8_000, one, 1_000)
    expect(arriving.bytes).toBe(9_000)
  })

  test('a client whose share is less than the largest body may send one of these', () => {
    const arriving = new ArrivingBodies(1_000)
    const one = { client: 'a', part: 1 / 8 }
    arriving.add(900, one, 900)
    expect(() => arriving.add(1, one, 900)).toThrow(RequestRefused)
  })

  test('one that breaks off, and one over its own limit, count no more', async () => {
    const arriving = new ArrivingBodies(1_500)
    const broken = sendSlowly()
    const brokenBody = expect(readBody(broken.request, 10_000, arriving, visit)).rejects.toThrow(
      IncompleteBody,
    )
    await broken.write(part)
    await broken.breakOff()
    await brokenBody
    const large = sendSlowly()
    const largeBody = expect(readBody(large.request, 1_200, arriving, visit)).rejects.toMatchObject(
      {
        status: 413,
      },
    )
    await large.write(part)
    await large.write(part)
    await largeBody
    expect(arriving.bytes).toBe(0)
  })

  test('a small body whose length is told is read however many others are on their way', async () => {
    const body = '{"email":"ada@example.com"}'
    const request = new Request('http://a.example', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
      body,
    })
    expect(await readBody(request, 10_000, new ArrivingBodies(0), visit)).toEqual({
      kind: 'json',
      value: { email: 'ada@example.com' },
    })
  })
})

describe('a form with more fields than any needs is refused before it is parsed', () => {
  const read = (contentType: string, body: string) => {
    const headers = { 'content-type': contentType }
    const request = new Request('http://a.example', { method: 'POST', headers, body })
    return readBody(request, 1_000_000, new ArrivingBodies(), visit)
  }
  const tooMany = {
    status: 422,
    errors: [{ field: '', message: 'The form has too many fields: at most 1000.' }],
  }

  test.each(['a', 'a=1', '=', ''])('urlencoded, as fields of %j', async (field) => {
    const form = 'application/x-www-form-urlencoded'
    const fields = Array<string>(1_000).fill(field)
    expect(await read(form, fields.join('&'))).toMatchObject({ kind: 'form' })
    await expect(read(form, [...fields, field].join('&'))).rejects.toMatchObject(tooMany)
  })

  test.each([
    ['----WebKitFormBoundary7MA4YWxkTrZu0gW', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
    ['"=_Part (1): a/b"', '=_Part (1): a/b'],
    ['b; charset=utf-8; boundary=c', 'b'],
  ])('multipart with the boundary %s', async (given, boundary) => {
    const type = `multipart/form-data; boundary=${given}`
    const field = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n`
    const form = (count: number) => `${field.repeat(count)}--${boundary}--\r\n`
    expect(await read(type, form(1_000))).toMatchObject({ kind: 'form', fields: { length: 1_000 } })
    await expect(read(type, form(1_001))).rejects.toMatchObject(tooMany)
  })

  test.each(['', '""', 'b'.repeat(71), '"a', 'ü'])(
    'no multipart has the boundary %j',
    async (boundary) => {
      await expect(
        read(`multipart/form-data; boundary=${boundary}`, '--b--'),
      ).rejects.toMatchObject({
        status: 400,
      })
    },
  )
})
