// @module-tag slow
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { createFuzzClient, type FuzzAnswer, type FuzzRequest } from './fuzz-client.ts'
import { fitting, marker, mutated } from './from-schema.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { type DocumentedOperation, OpenapiDocument } from '../../harness/openapi-document.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const apiKey = `${marker}-api-key-0123456789`
const visitor = { 'x-forwarded-for': '192.0.2.1' }

type Setup = readonly [
  name: string,
  env: Readonly<Record<string, string>>,
  /** Answers that must have come at the end. */
  expected: readonly string[],
]

/** A field of every type. */
const fields = [
  { name: 'company', maxLength: 80 },
  { name: 'plan', type: 'choice', options: ['free', 'pro'] },
  { name: 'seats', type: 'number', min: 1, max: 500 },
  { name: 'news', type: 'checkbox' },
  { name: 'homepage', type: 'url' },
  { name: 'start', type: 'date' },
  { name: 'phone', type: 'phone' },
]

const setups: readonly Setup[] = [
  ['by default', {}, ['createSignup 202', 'createSignup 422', 'createSignups 202']],
  [
    'with everything set',
    {
      API_KEYS: apiKey,
      BULK_MAX: '4',
      BODY_LIMIT_BYTES: '2000',
      ALLOWED_ORIGINS: 'https://a.example.com',
      SHEET_TABS: 'One,Two',
      RATE_LIMIT_PER_MINUTE: '80',
      TRUST_PROXY: '1',
      ROLLCALL_CONFIG: JSON.stringify({ sites: { default: { fields }, other: {} } }),
    },
    ['createSignup 422', 'createSignup 429', 'createSignups 207'],
  ],
]

describe.each(setups)('%s', (_, env, expected) => {
  test('the document describes every answer to requests that are made from it, and each 2xx is one row', async () => {
    console.log(`The seed is ${seed}. SEED=${seed} repeats the requests.`)
    await using folder = await tempFolder()
    const settings = { ...env, LOG_LEVEL: 'trace' }
    await using service = await startService({ env: settings, dataDir: folder.path })
    const document = await OpenapiDocument.fetch(service.url)
    using client = createFuzzClient(service.url, 2)
    const email = `${marker}@people.example.com`
    const posted = await postSignup(service.url, { email }, visitor)
    const { id } = (await posted.json()) as { id: string }
    const seen = new Map<string, number>()
    let accepted = 1

    for (const operation of document.operations) {
      const property = fc.asyncProperty(requestsFor(operation, document, id), async (request) => {
        const times = 'Idempotency-Key' in request.headers ? 2 : 1
        const sent = Array.from({ length: times }, () => client.send(request))
        for (const answer of await Promise.all(sent)) {
          expect(document.faults(operation, answer)).toEqual([])
          const key = `${operation.operationId} ${answer.status}`
          seen.set(key, (seen.get(key) ?? 0) + 1)
          if (request.method === 'POST') accepted += acceptedBy(answer)
        }
      })
      await fc.assert(property, { seed, numRuns: operation.requestBody ? 300 : 20 })
    }
    console.log(figures(seen))
    const answered = [...seen.keys()].map((key) => key.split(' ')[0])
    expect(new Set(answered).size).toBe(document.operations.length)
    for (const key of [...expected, 'getSignup 200']) {
      expect(seen.get(key), key).toBeGreaterThan(0)
    }
    expect(service.output().toLowerCase()).not.toContain(marker)
    await allDelivered(service)
    expect(rowsIn(folder.path)).toBe(accepted)
  })
})

test('any other method or path is answered with a problem, and a wrong method with Allow', async () => {
  await using service = await startService()
  const document = await OpenapiDocument.fetch(service.url)
  using client = createFuzzClient(service.url, 1)
  const paths = new Set(document.operations.map(({ path }) => path))
  for (const path of paths) {
    const documented = document.operations.filter((it) => it.path === path)
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
      (method) => !documented.some((it) => it.method === method),
    )
    for (const method of others) {
      const answer = await client.send({ method, path, headers: {}, body: '' })
      expect([method, path, answer.status]).toEqual([method, path, 405])
      const allowed = answer.headers.get('allow')?.split(', ')
      expect(allowed).toEqual(expect.arrayContaining(documented.map((it) => it.method)))
      expect(document.problemFaults(answer)).toEqual([])
    }
  }
  for (const path of ['/api', '/api/signup/a/b', '/nothing', '/api/config2']) {
    const answer = await client.send({ method: 'GET', path, headers: {}, body: '' })
    expect(answer.status).toBe(404)
    expect(document.problemFaults(answer)).toEqual([])
  }
})

test('the check finds an answer that the document does not describe', async () => {
  await using service = await startService()
  const document = await OpenapiDocument.fetch(service.url)
  const operation = document.operations.find((it) => it.operationId === 'getHealth')
  if (!operation) throw new Error('no such operation')
  const good = new Headers({
    'content-type': 'application/json',
    'x-request-id': crypto.randomUUID(),
  })
  const faults = (status: number, headers: Headers, body: string) =>
    document.faults(operation, { status, headers, body }).length
  expect(faults(200, good, '{"status":"ok"}')).toBe(0)
  expect(faults(200, good, '{"status":"ill"}')).toBe(1)
  expect(faults(200, good, '{"status":"ok","more":1}')).toBe(1)
  expect(faults(201, good, '{"status":"ok"}')).toBe(1)
  expect(faults(200, new Headers({ 'content-type': 'application/json' }), '{"status":"ok"}')).toBe(
    1,
  )
  const asText = new Headers({ ...Object.fromEntries(good), 'content-type': 'text/plain' })
  expect(faults(200, asText, '{"status":"ok"}')).toBe(1)
})

/** How many signups the answer says are on disk because of its request. */
function acceptedBy({ status, headers, body }: FuzzAnswer): number {
  if (status > 303 || headers.has('idempotency-replayed')) return 0
  if (status === 303) return 1
  const { accepted = 1 } = JSON.parse(body) as { readonly accepted?: number }
  return accepted
}

/** The rows of all tabs of all sites. */
function rowsIn(dataDir: string): number {
  const files = readdirSync(join(dataDir, 'sheets'), { recursive: true, encoding: 'utf8' })
  const tabs = files.filter((name) => name.endsWith('.csv'))
  return tabs.reduce((sum, name) => sum + readTab(dataDir, name).length - 1, 0)
}

/** The counts of answers to signups, as the others say little. */
function figures(seen: ReadonlyMap<string, number>): string {
  const posts = [...seen].filter(([key]) => /^createSignups? /.test(key))
  return posts.map(([key, count]) => `${key}: ${count}`).join(', ')
}

const printable = fc.stringMatching(/^[ -~]{0,40}$/)

/** Draws valid, mutated and hostile requests. `id` is the id of a signup. */
function requestsFor(
  operation: DocumentedOperation,
  document: OpenapiDocument,
  id: string,
): fc.Arbitrary<FuzzRequest> {
  const { path, method, parameters } = operation
  const values = Object.fromEntries(
    parameters.map((it) => [it.name, fc.option(parameterValues(it, document), { nil: undefined })]),
  )
  const ids = fc.oneof(fc.constant(id), fc.uuid(), printable.map(encodeURIComponent))
  const authorization = operation.security ? `Bearer ${apiKey}` : undefined
  return fc
    .record({
      id: ids.filter((it) => !/^\.*$/.test(it)),
      values: fc.record(values),
      hostile: hostileHeaders,
      isPerson: fc.nat(5).map((one) => one === 0),
      isLong: fc.nat(20).map((one) => one === 0),
      sent: bodiesFor(operation, document),
    })
    .map(({ id, values, hostile, isPerson, isLong, sent }) => {
      const named = (place: string) =>
        parameters.flatMap(({ name, in: where }): [string, string][] => {
          const value = values[name]
          return where === place && value !== undefined ? [[name, value]] : []
        })
      const query = new URLSearchParams(named('query')).toString()
      // These would be other paths.
      const filled = path.replace('{id}', /^(bulk|thanks|form)$/.test(id) ? 'x' : id)
      return {
        method,
        path: query === '' ? filled : `${filled}?${query}`,
        headers: {
          ...visitor,
          ...(authorization !== undefined && { authorization }),
          ...Object.fromEntries(named('header')),
          ...sent.headers,
          ...hostile,
          ...(isPerson && { accept: 'text/html' }),
          ...(isLong && { 'x-long': 'x'.repeat(20_000) }),
        },
        body: sent.body,
      }
    })
}

function parameterValues(
  { name, in: where, schema }: DocumentedOperation['parameters'][number],
  document: OpenapiDocument,
) {
  const fits = fitting(schema, document.resolve)
    .map(String)
    .filter((it) => /^[ -~]*$/.test(it))
  // Another one would be another path.
  if (where === 'path') return fits
  // Most requests are for the site of the document.
  if (name === 'site')
    return fc.oneof({ weight: 9, arbitrary: fc.constant('default') }, fits, printable)
  const marked = name === 'Idempotency-Key' ? fits.map((it) => marker + it) : fits
  return fc.oneof(marked, printable, fc.constant('wait=1'))
}

/** No headers in most requests. */
const hostileHeaders = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        'content-type': fc.oneof(printable, fc.constantFrom('text/plain', 'application/json')),
        'content-encoding': fc.constant('gzip'),
        accept: fc.oneof(fc.constantFrom('text/html', 'text/html;q=0.5, */*'), printable),
        origin: fc.constantFrom('null', 'https://a.example.com', 'https://b.example.com'),
        authorization: printable,
        'x-forwarded-for': printable,
        'x-request-id': printable,
        'if-none-match': fc.constantFrom('*', '""', 'W/"a"'),
        expect: fc.constant('magic'),
        'access-control-request-method': fc.constant('POST'),
      },
      { requiredKeys: [] },
    ),
  },
)

type Sent = Pick<FuzzRequest, 'headers' | 'body'>

function bodiesFor(operation: DocumentedOperation, document: OpenapiDocument): fc.Arbitrary<Sent> {
  const contents = Object.entries(operation.requestBody?.content ?? {})
  if (contents.length === 0) return fc.constant({ headers: {}, body: '' })
  const bodies = contents.flatMap(([type, { schema }]) => {
    const fits = fitting(schema, document.resolve)
    const trash = fc.oneof(fc.uint8Array({ maxLength: 3_000 }), fc.json(), fc.string())
    return [
      { weight: 4, arbitrary: fits.map((value) => encoded(type, value)) },
      { weight: 4, arbitrary: mutated(fits).map((value) => encoded(type, value)) },
      { weight: 2, arbitrary: spoiled(fits.map((value) => encoded(type, value))) },
      { weight: 1, arbitrary: trash.map((body) => ({ headers: { 'content-type': type }, body })) },
    ]
  })
  return fc.oneof(...bodies)
}

/** Replaces some bytes of a body by others. */
function spoiled(bodies: fc.Arbitrary<Sent>): fc.Arbitrary<Sent> {
  return fc
    .tuple(bodies, fc.uint8Array({ maxLength: 6 }), fc.nat(), fc.nat(4))
    .map(([{ headers, body }, bytes, place, dropped]) => {
      const whole = Buffer.from(body)
      const at = place % (whole.length + 1)
      return {
        headers,
        body: Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at + dropped)]),
      }
    })
}

function encoded(type: string, value: unknown): Sent {
  const headers = { 'content-type': type }
  if (type === 'application/json') return { headers, body: JSON.stringify(value) }
  const entries = Object.entries(value ?? {}).flatMap(([name, one]): [string, string][] =>
    Array.isArray(one) ? one.map((it) => [name, textOf(it)]) : [[name, textOf(one)]],
  )
  if (type === 'application/x-www-form-urlencoded') {
    return { headers, body: new URLSearchParams(entries).toString() }
  }
  const parts = entries.map(
    ([name, text]) =>
      `--b\r\nContent-Disposition: form-data; name="${encodeURIComponent(name.toWellFormed())}"` +
      `\r\n\r\n${text}\r\n`,
  )
  return {
    headers: { 'content-type': `${type}; boundary=b` },
    body: `${parts.join('')}--b--\r\n`,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
