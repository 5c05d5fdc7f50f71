import fc from 'fast-check'

/** A part of every address, name, token and key that the fuzzers send. It may be in rows, and never in a log. */
export const marker = 'fuzzmark'

export const apiKey = `${marker}-api-key-0123456789`

const addressOf = (number: number) => `${marker}-${number}-@people.example.com`

/** The numbers of the addresses in a text. */
export const numbersIn = (text: string) =>
  [...text.matchAll(new RegExp(`${marker}-(\\d+)-@`, 'g'))].map(([, number]) => Number(number))

export interface FuzzRequest {
  /** The kind of the request, for the statistics. */
  readonly kind: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
  /** The numbers of its addresses, in the order of a bulk request. */
  readonly numbers: readonly number[]
  /** Whether it is sent twice at the same time. */
  readonly isTwin?: boolean
}

/** Builds a request in which each address has a number of its own. */
export type Build<T = FuzzRequest> = (nextNumber: () => number) => T

const nasty = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\udc00\ud800',
  '\u202e\u0085\u2028',
  '\ufeff',
  '\r\nSet-Cookie: a=b',
  '=HYPERLINK("http://a.example","b")',
  '"; --\t<script>alert(1)</script>',
  '__proto__',
  'constructor',
  '%00%ff%',
  '👩‍👩‍👧‍👦'.repeat(9),
  'a'.repeat(201),
  'é'.repeat(3_000),
]

export const nastyText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.constantFrom(...nasty) },
)

const tabs = [
  'Sheet1',
  'sHEET1',
  'Wait list',
  '=cmd',
  'Tür 5',
  '../../etc/passwd',
  'con',
  'a'.repeat(100),
]

/** Optional fields of a signup with good values. */
const goodFields = fc.record(
  {
    sheetTab: fc.constantFrom(...tabs, null, ''),
    source: fc.constantFrom('page', null, ''),
    name: fc.string({ unit: 'grapheme', maxLength: 20 }).map((name) => `${marker} ${name}`),
    tags: fc.oneof(
      fc.array(fc.string({ maxLength: 20 }), { maxLength: 5 }),
      fc.constant('one, two,,three'),
    ),
    metadata: fc.dictionary(fc.string({ minLength: 1, maxLength: 9 }), fc.string(), { maxKeys: 5 }),
    challengeToken: fc.constant(`${marker}-token`),
  },
  { requiredKeys: [] },
)

/** The same fields with any values that JSON can have. */
const anyFields = fc.record(
  {
    sheetTab: fc.oneof(nastyText, fc.jsonValue({ maxDepth: 2 })),
    source: fc.oneof(nastyText, fc.jsonValue({ maxDepth: 2 })),
    name: fc.oneof(nastyText, fc.jsonValue({ maxDepth: 2 })),
    tags: fc.oneof(nastyText, fc.array(fc.oneof(nastyText, fc.jsonValue({ maxDepth: 1 })))),
    metadata: fc.jsonValue({ maxDepth: 5 }),
    challengeToken: fc.oneof(nastyText, fc.constant(`${marker}-token`.repeat(300))),
  },
  { requiredKeys: [] },
)

const printable = fc.stringMatching(/^[ -~]{0,60}$/)

/** Headers that `node:http` would send. Others are sent over raw sockets. */
const someHeaders = fc.record(
  {
    'idempotency-key': fc.oneof(
      fc.uuid().map((id) => `${marker}-key-${id}`),
      fc.constantFrom(`${marker}-key-1`, `${marker}-key-2`, 'é', 'x'.repeat(256)),
    ),
    prefer: fc.oneof(fc.constantFrom('wait=1', 'wait=0', 'respond-async, wait="1"'), printable),
    accept: fc.oneof(fc.constantFrom('text/html', '*/*', 'application/json;q=0.1'), printable),
    origin: fc.oneof(fc.constantFrom('null', 'https://a.example'), printable),
    'x-forwarded-for': printable,
    'x-request-id': printable,
    cookie: printable,
    range: printable,
    'content-encoding': fc.constantFrom('identity', 'gzip', ''),
    'if-none-match': printable,
  },
  { requiredKeys: [] },
)

/** No headers in most requests. */
const headers = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: someHeaders },
)

const json = { 'content-type': 'application/json' }
const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }

type Body = Pick<FuzzRequest, 'headers' | 'body'>
type Bodied = Build<Body & { numbers: readonly number[] }>

/** Draws a body with one address. */
function around(arbitrary: fc.Arbitrary<(address: string) => Body>): fc.Arbitrary<Bodied> {
  return arbitrary.map((build) => (nextNumber) => {
    const number = nextNumber()
    return { ...build(addressOf(number)), numbers: [number] }
  })
}

const validJson = around(
  goodFields.map((fields) => (email) => ({
    headers: json,
    body: JSON.stringify({ ...fields, email }),
  })),
)

const wrongFields = around(
  anyFields.map((fields) => (email) => ({
    headers: json,
    body: JSON.stringify({ email, ...fields }),
  })),
)

const nested = (open: string, depth: number, close: string) =>
  `${open.repeat(depth)}1${close.repeat(depth)}`

/** Each of these replaces the closing brace of a signup. */
const tails = [
  ',"metadata":{"a":1,"a":2}}',
  ',"metadata":{"n":1e999,"m":-1E-999}}',
  ',"metadata":{"n":12345678901234567890123}}',
  ',"metadata":{"__proto__":{"admin":true},"constructor":{"prototype":1}}}',
  ',"__proto__":{"email":"x"},"constructor":1}',
  ',"name":"\\u0000\\ud800\\udfff\\udc00"}',
  ',"name":"\0"}',
  `,"metadata":${nested('{"a":', 50, '}')}}`,
  `,"metadata":${nested('{"a":', 5_000, '}')}}`,
  `,"metadata":{"a":${nested('[', 20_000, ']')}}}`,
  `,"tags":[${'"t",'.repeat(60)}"t"]}`,
  ',"tags":[{},[],null,1]}',
  '}}',
  '',
  '} {}',
  ',}',
  `,"x":"${'y'.repeat(100_000)}"}`,
]

const hostileJson = around(
  fc.constantFrom(...tails).map((tail) => (email) => ({
    headers: json,
    body: `{"email":"${email}"${tail}`,
  })),
)

/** A valid body with some bytes added outside of the address. */
const mutatedJson = around(
  fc
    .tuple(goodFields, fc.uint8Array({ maxLength: 6 }), fc.nat(), fc.nat(4))
    .map(([fields, bytes, place, dropped]) => (email) => {
      const before = Buffer.from(`${JSON.stringify({ source: 'page', ...fields }).slice(0, -1)},`)
      const at = place % before.length
      const parts = [before.subarray(0, at), bytes, before.subarray(at + dropped)]
      return { headers: json, body: Buffer.concat([...parts, Buffer.from(`"email":"${email}"}`)]) }
    }),
)

const trash = fc
  .tuple(
    fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string(), fc.json()),
    fc.oneof(
      fc.constantFrom('application/json', urlencoded['content-type'], 'multipart/form-data'),
      fc.constantFrom(
        'text/plain',
        'multipart/form-data; boundary=x',
        'application/json; charset=x',
      ),
      printable,
    ),
  )
  .map(([body, type]) => () => ({ headers: { 'content-type': type }, body, numbers: [] }))

const wrongType = around(
  fc
    .constantFrom('text/plain', 'application/xml', 'multipart/form-data; boundary=-', '', ';')
    .map((type) => (email) => ({
      headers: { 'content-type': type },
      body: JSON.stringify({ email }),
    })),
)

const formEntries = fc.array(
  fc.tuple(
    fc.oneof(fc.constantFrom('name', 'tags', 'tags[]', 'metadata[a]', 'redirect', 'x'), nastyText),
    nastyText,
  ),
  { maxLength: 12 },
)

const forms = around(
  formEntries.map((entries) => (email) => ({
    headers: urlencoded,
    body: new URLSearchParams([...entries, ['email', email]]).toString(),
  })),
)

const formBombs = around(
  fc
    .constantFrom('a=&', 'a=b&', '&', '=&', 'metadata[x]=y&', '%ff=%&', 'email=&', 'metadata={}&')
    .chain((part) => fc.constantFrom(3, 900, 3_000).map((count) => part.repeat(count)))
    .map((bomb) => (email) => ({
      headers: urlencoded,
      body: `${bomb}email=${encodeURIComponent(email)}`,
    })),
)

const multipart = around(
  fc
    .tuple(formEntries, fc.constantFrom('--b--\r\n', '--b--', '', '--b', '--b\r\n\r\n'))
    .map(([entries, end]) => (email) => {
      const quote = (name: string) => name.replace(/[\r\n"]/g, '_')
      const parts = [...entries, ['email', email] as const].map(
        ([name, value]) =>
          `--b\r\nContent-Disposition: form-data; name="${quote(name)}"\r\n\r\n${value}\r\n`,
      )
      return {
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: parts.join('') + end,
      }
    }),
)

const bodies = fc.oneof(
  { weight: 8, arbitrary: labelled('valid JSON', validJson) },
  { weight: 4, arbitrary: labelled('wrong fields', wrongFields) },
  { weight: 3, arbitrary: labelled('hostile JSON', hostileJson) },
  { weight: 4, arbitrary: labelled('mutated JSON', mutatedJson) },
  { weight: 2, arbitrary: labelled('trash', trash) },
  { weight: 1, arbitrary: labelled('wrong type', wrongType) },
  { weight: 3, arbitrary: labelled('form', forms) },
  { weight: 1, arbitrary: labelled('form bomb', formBombs) },
  { weight: 2, arbitrary: labelled('multipart', multipart) },
)

function labelled(kind: string, arbitrary: fc.Arbitrary<Bodied>) {
  return arbitrary.map((build) => ({ kind, build }))
}

const single: fc.Arbitrary<Build> = fc
  .tuple(bodies, headers, fc.boolean())
  .map(([{ kind, build }, headers, isTwin]) => (nextNumber) => {
    const { headers: own, body, numbers } = build(nextNumber)
    return {
      kind,
      method: 'POST',
      path: '/api/signup',
      headers: { ...headers, ...own },
      body,
      numbers,
      isTwin: isTwin && 'idempotency-key' in headers,
    }
  })

const bulkItem: fc.Arbitrary<Build<unknown>> = fc
  .oneof({ weight: 5, arbitrary: goodFields }, { weight: 1, arbitrary: anyFields })
  .map(({ challengeToken: _, ...fields }) => (nextNumber) => ({
    ...fields,
    email: addressOf(nextNumber()),
  }))

const bulk: fc.Arbitrary<Build> = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.array(bulkItem, { maxLength: 8 }) },
      { weight: 1, arbitrary: fc.constantFrom(40, 300, 1_001).map(plainItems) },
    ),
    headers,
    fc.constantFrom(apiKey, apiKey, apiKey, '', `${apiKey}x`),
    fc.oneof(
      { weight: 9, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.constantFrom(' ', '}', '\0', ',') },
    ),
  )
  .map(([items, headers, key, tail]) => (nextNumber) => {
    const signups = items.map((build) => build(nextNumber))
    return {
      kind: 'bulk',
      method: 'POST',
      path: '/api/signup/bulk',
      headers: { ...headers, ...json, authorization: `Bearer ${key}` },
      body: JSON.stringify({ signups, challengeToken: `${marker}-token` }) + tail,
      numbers: signups.map((item) => numbersIn(JSON.stringify(item))[0] ?? -1),
    }
  })

function plainItems(count: number): Build<unknown>[] {
  return Array.from({ length: count }, () => (nextNumber) => ({ email: addressOf(nextNumber()) }))
}

const safePath = nastyText.map((text) => encodeURI(text.toWellFormed()).replaceAll('%25', '%'))

const paths = fc.oneof(
  fc.constantFrom('/', '//', '/api/health', '/api/ready?strict', '/api/config', '/embed.js'),
  fc.constantFrom('/api/openapi.json', '/api/signup/', '/api/signup/bulk/', '/api/signup/thanks'),
  fc.constantFrom('/%00', '/..%2f..%2fetc/passwd', '/assets/../../.env', '/%', '/?%', '*'),
  fc.uuid().map((id) => `/api/signup/${id}`),
  safePath.map((text) => `/${text}`),
  safePath.map((text) => `/api/signup/${text}?email=${marker}@people.example.com`),
)

const elsewhere: fc.Arbitrary<Build> = fc
  .tuple(
    fc.constantFrom(
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'DELETE',
      'OPTIONS',
      'PATCH',
      'TRACE',
      'PROPFIND',
    ),
    paths,
    headers,
  )
  .map(([method, path, headers]) => () => ({
    kind: 'anywhere',
    method,
    path,
    headers,
    body: '',
    numbers: [],
  }))

export const requests: fc.Arbitrary<Build> = fc.oneof(
  { weight: 14, arbitrary: single },
  { weight: 2, arbitrary: bulk },
  { weight: 4, arbitrary: elsewhere },
)

export interface RawRequest {
  readonly bytes: Uint8Array
  readonly number: number
  /** Whether the connection is closed before an answer can come. */
  readonly isCutOff: boolean
}

const extraLines = [
  'Transfer-Encoding: chunked',
  'Content-Length: 5',
  'Content-Length: 100000',
  'Content-Length: -1',
  'Expect: 100-continue',
  'Expect: magic',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Connection: close',
  'Host: b',
  'Broken',
  ': empty',
  `X: ${'y'.repeat(20_000)}`,
  `Idempotency-Key: ${marker}-key-\x01`,
  'Prefer: wait=1',
  'X: a\0b',
  'X: \xff\xfe',
  ' folded: line',
]

/** Requests that `node:http` would not send: any bytes in the first line and headers, and broken connections. */
export const rawRequests: fc.Arbitrary<Build<RawRequest>> = fc
  .record({
    first: fc.oneof(
      { weight: 8, arbitrary: fc.constant('POST /api/signup HTTP/1.1') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('POST http://b/api/signup HTTP/1.1', 'GET / HTTP/9'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
    ),
    lines: fc.array(fc.oneof(fc.constantFrom(...extraLines), fc.string()), { maxLength: 2 }),
    trash: fc.oneof(fc.constant(new Uint8Array()), fc.uint8Array({ maxLength: 20 })),
    place: fc.nat(),
    isCutOff: fc.nat(15).map((one) => one === 0),
  })
  .map(({ first, lines, trash, place, isCutOff }) => (nextNumber) => {
    const number = nextNumber()
    const body = JSON.stringify({ email: addressOf(number), name: marker })
    const fixed = ['Host: a', 'Content-Type: application/json', `Content-Length: ${body.length}`]
    const head = Buffer.from(`${[first, ...fixed, ...lines].join('\r\n')}\r\n\r\n`, 'latin1')
    const at = place % head.length
    const whole = [head.subarray(0, at), trash, head.subarray(at), Buffer.from(body)]
    const bytes = Buffer.concat(trash.length > 0 ? whole : [head, Buffer.from(body)])
    return { bytes: isCutOff ? bytes.subarray(0, place % bytes.length) : bytes, number, isCutOff }
  })
