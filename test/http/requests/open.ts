import type { Asked } from '../asked.ts'

const page = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const ada = { email: 'ada@example.com' }
const unknownId = '01990b6e-1d1c-7c3f-8f0e-5d2a8c1b7e42'
const formType = { 'content-type': 'application/x-www-form-urlencoded' }
const jsonType = { 'content-type': 'application/json' }

/** Paths that are read, by every method that makes a difference. */
const reading: readonly Asked[] = [
  { what: 'health', send: 'GET /api/health' },
  { what: 'health, HEAD', send: 'HEAD /api/health' },
  { what: 'health, OPTIONS', send: 'OPTIONS /api/health' },
  { what: 'health, POST', send: 'POST /api/health', json: ada },
  { what: 'health, PUT', send: 'PUT /api/health', body: 'x' },
  { what: 'health, DELETE as a person', send: 'DELETE /api/health', headers: page },
  { what: 'health, PATCH without a body', send: 'PATCH /api/health' },
  { what: 'health, PROPFIND', send: 'PROPFIND /api/health' },
  { what: 'health as a person', send: 'GET /api/health', headers: page },
  { what: 'ready', send: 'GET /api/ready' },
  { what: 'ready, HEAD', send: 'HEAD /api/ready' },
  { what: 'ready, strictly', send: 'GET /api/ready?strict' },
  { what: 'ready, DELETE', send: 'DELETE /api/ready' },
  { what: 'config', send: 'GET /api/config' },
  { what: 'config, HEAD', send: 'HEAD /api/config' },
  { what: 'config, OPTIONS', send: 'OPTIONS /api/config' },
  { what: 'config, POST as a person', send: 'POST /api/config', headers: page, form: [['a', 'b']] },
  { what: 'openapi', send: 'GET /api/openapi.json', keep: { document: 'etag' } },
  { what: 'openapi, HEAD', send: 'HEAD /api/openapi.json' },
  {
    what: 'openapi, with its ETag',
    send: 'GET /api/openapi.json',
    headers: { 'if-none-match': '{document}' },
  },
  { what: 'openapi, POST', send: 'POST /api/openapi.json' },
  { what: 'an unknown signup', send: `GET /api/signup/${unknownId}` },
  { what: 'an unknown signup, HEAD', send: `HEAD /api/signup/${unknownId}` },
  {
    what: 'an unknown signup, as a person',
    send: `GET /api/signup/${unknownId}`,
    headers: page,
  },
  { what: 'a signup, OPTIONS', send: `OPTIONS /api/signup/${unknownId}` },
  { what: 'a signup, POST', send: `POST /api/signup/${unknownId}`, json: ada },
  { what: 'a signup, DELETE', send: `DELETE /api/signup/${unknownId}` },
  { what: 'a malformed id', send: 'GET /api/signup/nonsense' },
  { what: 'an encoded id', send: 'GET /api/signup/a%2Fb' },
  { what: 'an id with a wrong escape', send: 'GET /api/signup/%' },
]

/** Paths that do not exist, and other spellings of those that do. */
const paths: readonly Asked[] = [
  { what: 'nothing', send: 'GET /nothing' },
  { what: 'nothing, HEAD', send: 'HEAD /nothing' },
  { what: 'nothing, OPTIONS', send: 'OPTIONS /nothing' },
  { what: 'nothing, POST with a body', send: 'POST /nothing', json: ada },
  { what: 'nothing, as a person', send: 'GET /nothing', headers: page },
  { what: 'nothing deep, as a person', send: 'GET /a/b/c?language=de', headers: page },
  { what: 'nothing, posted as a person', send: 'POST /nothing', headers: page, form: [['a', 'b']] },
  { what: '/api', send: 'GET /api' },
  { what: '/api/', send: 'GET /api/' },
  { what: 'upper case', send: 'GET /API/health' },
  { what: 'two slashes in front', send: 'GET //api/health' },
  { what: 'two slashes in the middle', send: 'GET /api//health' },
  { what: 'a slash at the end', send: 'GET /api/health/' },
  { what: 'two slashes at the end', send: 'GET /api/health//' },
  { what: 'a query', send: 'GET /api/health?a=b&c' },
  { what: 'needless encoding', send: 'GET /api/%68ealth' },
  { what: 'a space at the end', send: 'GET /api/health%20' },
  { what: 'dots', send: 'GET /api/x/../health' },
  { what: 'encoded dots', send: 'GET /assets/%2e%2e/.env' },
  { what: 'a wrong escape', send: 'GET /%zz' },
  { what: 'bytes that are not UTF-8', send: 'GET /%ff' },
  { what: 'a member of every object', send: 'GET /__proto__' },
  { what: 'signups with a slash at the end', send: 'POST /api/signup/', json: ada },
  { what: 'bulk, needlessly encoded', send: 'POST /api/signup/%62ulk', json: { signups: [ada] } },
  { what: 'signups with a query', send: 'POST /api/signup?x=1', json: ada },
  { what: 'a path below bulk', send: 'POST /api/signup/bulk/more', json: ada },
]

const files: readonly Asked[] = [
  { what: 'embed', send: 'GET /embed.js', keep: { embed: 'etag' } },
  { what: 'embed, HEAD', send: 'HEAD /embed.js' },
  { what: 'embed, OPTIONS', send: 'OPTIONS /embed.js' },
  { what: 'embed, POST', send: 'POST /embed.js', body: 'x' },
  {
    what: 'embed in brotli',
    send: 'GET /embed.js',
    headers: { 'accept-encoding': 'gzip, deflate, br' },
  },
  { what: 'embed in gzip', send: 'GET /embed.js', headers: { 'accept-encoding': 'gzip' } },
  { what: 'embed in any coding', send: 'GET /embed.js', headers: { 'accept-encoding': '*' } },
  {
    what: 'embed, brotli refused',
    send: 'GET /embed.js',
    headers: { 'accept-encoding': 'br;q=0, gzip;q=0.5' },
  },
  { what: 'embed, with its ETag', send: 'GET /embed.js', headers: { 'if-none-match': '{embed}' } },
  {
    what: 'embed, with its weak ETag',
    send: 'GET /embed.js',
    headers: { 'if-none-match': '"x", W/{embed}' },
  },
  {
    what: 'embed, with the ETag of another coding',
    send: 'GET /embed.js',
    headers: { 'if-none-match': '{embed}', 'accept-encoding': 'br' },
  },
  { what: 'embed, with any ETag', send: 'HEAD /embed.js', headers: { 'if-none-match': '*' } },
  {
    what: 'embed for a foreign page',
    send: 'GET /embed.js',
    headers: { origin: 'https://a.example' },
  },
  { what: 'stylesheet', send: 'GET /assets/page.css' },
  {
    what: 'stylesheet in gzip',
    send: 'GET /assets/page.css',
    headers: { 'accept-encoding': 'gzip' },
  },
  { what: 'script of the pages', send: 'GET /assets/page.js' },
  { what: 'script of the frame', send: 'GET /embed/frame.js' },
  { what: 'texts of the embed', send: 'GET /embed/de.json', headers: { 'accept-encoding': 'br' } },
  { what: 'no such asset', send: 'GET /assets/nothing.js' },
]

/** Single signups. With `wait` a later answer does not depend on the pace of delivery. */
const signups: readonly Asked[] = [
  { what: 'JSON', send: 'POST /api/signup', json: ada },
  {
    what: 'JSON with everything',
    send: 'POST /api/signup',
    json: {
      email: 'Grace@Example.com',
      name: ' Grace  Hopper ',
      sheetTab: 'Navy',
      source: 'conference',
      tags: ['cobol', 'navy'],
      metadata: { plan: 'pro', nested: { a: [1, 2] } },
    },
    headers: { prefer: 'wait=10' },
    keep: { written: 'id' },
  },
  { what: 'a written signup', send: 'GET /api/signup/{written}' },
  { what: 'a written signup, HEAD', send: 'HEAD /api/signup/{written}' },
  { what: 'a written signup, with a slash', send: 'GET /api/signup/{written}/?x=1' },
  {
    what: 'JSON with a charset',
    send: 'POST /api/signup',
    headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
    body: '{"email":"ada@example.com"}',
  },
  {
    what: 'JSON with a byte order mark',
    send: 'POST /api/signup',
    headers: jsonType,
    body: '\ufeff{"email":"ada@example.com"}',
  },
  {
    what: 'a wait of 0 seconds',
    send: 'POST /api/signup',
    json: ada,
    headers: { prefer: 'wait=0' },
  },
  {
    what: 'a malformed wait',
    send: 'POST /api/signup',
    json: ada,
    headers: { prefer: 'respond-async, wait=x' },
  },
  {
    what: 'a wait that is too long',
    send: 'POST /api/signup',
    json: ada,
    headers: { prefer: 'wait=999' },
  },
  {
    what: 'form',
    send: 'POST /api/signup',
    form: [
      ['email', 'ada@example.com'],
      ['tags', 'a,b'],
      ['plan', 'pro'],
    ],
  },
  {
    what: 'form, waiting',
    send: 'POST /api/signup',
    form: [['email', 'ada@example.com']],
    headers: { prefer: 'wait=10' },
  },
  {
    what: 'multipart',
    send: 'POST /api/signup',
    multipart: [
      ['email', 'ada@example.com'],
      ['metadata[plan]', 'größer'],
    ],
  },
  { what: 'an empty body', send: 'POST /api/signup', headers: jsonType, body: '' },
  { what: 'no body and no type', send: 'POST /api/signup' },
  { what: 'broken JSON', send: 'POST /api/signup', headers: jsonType, body: '{"email":' },
  { what: 'a list', send: 'POST /api/signup', json: [ada] },
  { what: 'no address', send: 'POST /api/signup', json: {} },
  { what: 'a wrong address', send: 'POST /api/signup', json: { email: 'ada@' } },
  { what: 'a likely misspelling', send: 'POST /api/signup', json: { email: 'ada@gmial.com' } },
  {
    what: 'several wrong fields',
    send: 'POST /api/signup',
    json: { email: 7, name: 'x'.repeat(500), tags: 'a', metadata: [1], sheetTab: 'a/b' },
  },
  { what: 'too many fields', send: 'POST /api/signup', headers: formType, body: 'a&'.repeat(2000) },
  {
    what: 'form with wrong escapes',
    send: 'POST /api/signup',
    headers: formType,
    body: 'email=ada%40example.com&name=100%',
  },
  {
    what: 'form that is not UTF-8',
    send: 'POST /api/signup',
    headers: formType,
    body: 'email=ada%40example.com&name=%ff',
  },
  {
    what: 'multipart without a boundary',
    send: 'POST /api/signup',
    headers: { 'content-type': 'multipart/form-data' },
    body: 'x',
  },
  {
    what: 'multipart without an end',
    send: 'POST /api/signup',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: '--b\r\nx',
  },
  {
    what: 'multipart with a file',
    send: 'POST /api/signup',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: '--b\r\ncontent-disposition: form-data; name="photo"; filename="a.png"\r\n\r\nx\r\n--b--\r\n',
  },
  {
    what: 'another type',
    send: 'POST /api/signup',
    headers: { 'content-type': 'text/plain' },
    body: 'email=ada@example.com',
  },
  {
    what: 'another charset',
    send: 'POST /api/signup',
    headers: { 'content-type': 'application/json; charset=latin1' },
    body: '{}',
  },
  {
    what: 'a compressed body',
    send: 'POST /api/signup',
    headers: { ...jsonType, 'content-encoding': 'gzip' },
    body: 'x',
  },
  {
    what: 'the coding identity',
    send: 'POST /api/signup',
    headers: { ...jsonType, 'content-encoding': 'identity' },
    body: '{"email":"ada@example.com"}',
  },
  {
    what: 'a body over the limit',
    send: 'POST /api/signup',
    headers: jsonType,
    body: ' '.repeat(1_100_000),
  },
  { what: 'signups, GET', send: 'GET /api/signup' },
  {
    what: 'signups, GET as a person',
    send: 'GET /api/signup',
    headers: { ...page, 'accept-language': 'fr' },
  },
  { what: 'signups, HEAD', send: 'HEAD /api/signup' },
  { what: 'signups, PUT', send: 'PUT /api/signup', json: ada },
  { what: 'signups, OPTIONS', send: 'OPTIONS /api/signup' },
]

const key = { 'idempotency-key': 'first' }
const idempotency: readonly Asked[] = [
  {
    what: 'with a key',
    send: 'POST /api/signup',
    json: { ...ada, metadata: { a: 1, b: 2 } },
    headers: { ...key, prefer: 'wait=10' },
  },
  {
    what: 'with the same key and content',
    send: 'POST /api/signup',
    json: { metadata: { b: 2, a: 1 }, ...ada },
    headers: key,
  },
  {
    what: 'repeated with a wait',
    send: 'POST /api/signup',
    json: { ...ada, metadata: { a: 1, b: 2 } },
    headers: { ...key, prefer: 'wait=3' },
  },
  {
    what: 'with the same key and other content',
    send: 'POST /api/signup',
    json: { email: 'eve@example.com' },
    headers: key,
  },
  {
    what: 'with the same key as a form',
    send: 'POST /api/signup',
    form: [['email', 'ada@example.com']],
    headers: key,
  },
  {
    what: 'with the same key as bulk',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada] },
    headers: key,
  },
  {
    what: 'with an empty key',
    send: 'POST /api/signup',
    json: ada,
    headers: { 'idempotency-key': '' },
  },
  {
    what: 'with a key that is too long',
    send: 'POST /api/signup',
    json: ada,
    headers: { 'idempotency-key': 'k'.repeat(256) },
  },
  {
    what: 'bulk with a key',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, { email: 'x' }] },
    headers: { 'idempotency-key': 'many', prefer: 'wait=10' },
  },
  {
    what: 'bulk repeated',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, { email: 'x' }] },
    headers: { 'idempotency-key': 'many' },
  },
  {
    what: 'bulk with the key of other content',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, { email: 'y' }] },
    headers: { 'idempotency-key': 'many' },
  },
  {
    what: 'a form with a key',
    send: 'POST /api/signup',
    form: [['email', 'ada@example.com']],
    headers: { ...page, 'idempotency-key': 'form' },
  },
  {
    what: 'a form repeated',
    send: 'POST /api/signup',
    form: [['email', 'ada@example.com']],
    headers: { ...page, 'idempotency-key': 'form' },
  },
]

const bulk: readonly Asked[] = [
  {
    what: 'bulk',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, { email: 'bob@example.com', sheetTab: 'Bulk' }] },
  },
  {
    what: 'bulk, waiting',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada] },
    headers: { prefer: 'wait="10"' },
  },
  {
    what: 'bulk, some wrong',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, { email: 'x' }, 7, { ...ada, tags: ['', 3] }] },
  },
  { what: 'bulk, all wrong', send: 'POST /api/signup/bulk', json: { signups: [{}, null] } },
  { what: 'bulk, empty', send: 'POST /api/signup/bulk', json: { signups: [] } },
  { what: 'bulk without a list', send: 'POST /api/signup/bulk', json: { signup: ada } },
  { what: 'bulk as a list', send: 'POST /api/signup/bulk', json: [ada] },
  { what: 'bulk as a form', send: 'POST /api/signup/bulk', form: [['email', 'ada@example.com']] },
  {
    what: 'bulk as a form of a person',
    send: 'POST /api/signup/bulk',
    form: [['email', 'ada@example.com']],
    headers: page,
  },
  {
    what: 'bulk, too many',
    send: 'POST /api/signup/bulk',
    json: { signups: Array.from({ length: 1001 }, () => 0) },
  },
  { what: 'bulk, GET', send: 'GET /api/signup/bulk' },
  { what: 'bulk, DELETE', send: 'DELETE /api/signup/bulk' },
  { what: 'bulk, OPTIONS', send: 'OPTIONS /api/signup/bulk' },
  { what: 'bulk, unreadable', send: 'POST /api/signup/bulk', headers: jsonType, body: '[' },
]

const pages: readonly Asked[] = [
  { what: 'hosted page', send: 'GET /', headers: page },
  { what: 'hosted page, HEAD', send: 'HEAD /', headers: page },
  { what: 'hosted page, OPTIONS', send: 'OPTIONS /' },
  { what: 'hosted page, POST', send: 'POST /', form: [['email', 'ada@example.com']] },
  { what: 'hosted page for curl', send: 'GET /' },
  {
    what: 'hosted page in German',
    send: 'GET /',
    headers: { ...page, 'accept-language': 'xx, de-AT;q=0.9, en;q=0.1' },
  },
  { what: 'hosted page in Arabic, dark', send: 'GET /?language=ar&theme=dark', headers: page },
  {
    what: 'hosted page with everything in its address',
    send: 'GET /?tab=News&source=mail&tags=a,b&name=required&redirect=/next&field-plan=pro&utm_source=x&other=1',
    headers: page,
  },
  { what: 'hosted page for a wrong tab', send: 'GET /?tab=a%2Fb', headers: page },
  { what: 'hosted page for a wrong tab, as JSON', send: 'GET /?tab=a%2Fb' },
  { what: 'bare form', send: 'GET /api/signup/form', headers: page },
  {
    what: 'bare form, named and dark',
    send: 'GET /api/signup/form?name&theme=dark&language=ja',
    headers: page,
  },
  { what: 'bare form, PUT as a person', send: 'PUT /api/signup/form', headers: page },
  { what: 'thanks', send: 'GET /api/signup/thanks', headers: page },
  {
    what: 'thanks after the bare form',
    send: 'GET /api/signup/thanks?page=form&theme=dark&language=es',
    headers: page,
  },
  { what: 'thanks with a slash', send: 'GET /api/signup/thanks/?page=hosted', headers: page },
]

const ourForm = 'POST /api/signup?page=hosted&language=de&name=required'
const people: readonly Asked[] = [
  {
    what: 'a form of a person',
    send: 'POST /api/signup',
    form: [['email', 'ada@example.com']],
    headers: page,
  },
  {
    what: 'a form of our page',
    send: ourForm,
    form: [
      ['email', 'ada@example.com'],
      ['name', 'Ada'],
    ],
    headers: page,
  },
  {
    what: 'a form of our page without a name',
    send: ourForm,
    form: [
      ['email', 'ada@example.com'],
      ['utm', 'x'],
    ],
    headers: page,
  },
  {
    what: 'a form with a wrong address',
    send: 'POST /api/signup',
    form: [
      ['email', 'ada@<b>'],
      ['plan', 'pro'],
      ['redirect', '/next'],
    ],
    headers: page,
  },
  {
    what: 'a form with a wrong address, as JSON',
    send: 'POST /api/signup',
    form: [
      ['email', 'ada@'],
      ['plan', 'pro'],
    ],
  },
  {
    what: 'a multipart form of a person',
    send: 'POST /api/signup?page=form',
    multipart: [['email', 'ada@example.com']],
    headers: page,
  },
  {
    what: 'a form with a redirect',
    send: 'POST /api/signup',
    form: [
      ['email', 'ada@example.com'],
      ['redirect', '/next?a=b#c'],
    ],
    headers: page,
  },
  {
    what: 'a form with a redirect to our own host',
    send: 'POST /api/signup',
    form: [
      ['email', 'ada@example.com'],
      ['redirect', 'http://signup.example.com/x'],
    ],
    headers: page,
  },
  {
    what: 'a form with a redirect to a foreign page',
    send: 'POST /api/signup',
    form: [
      ['email', 'ada@example.com'],
      ['redirect', 'https://evil.example/'],
    ],
    headers: page,
  },
  {
    what: 'a form with a redirect to a foreign host',
    send: 'POST /api/signup',
    form: [
      ['email', 'ada@example.com'],
      ['redirect', '//evil.example'],
    ],
    headers: page,
  },
  { what: 'JSON of a person', send: 'POST /api/signup', json: ada, headers: page },
  {
    what: 'JSON of a person, wrong',
    send: 'POST /api/signup',
    json: { email: 'x' },
    headers: { ...page, 'accept-language': 'it' },
  },
  {
    what: 'unreadable, as a person',
    send: 'POST /api/signup',
    headers: { ...page, ...jsonType },
    body: '{',
  },
  {
    what: 'another type, as a person',
    send: 'POST /api/signup',
    headers: { ...page, 'content-type': 'text/plain' },
    body: 'x',
  },
  {
    what: 'too large, as a person',
    send: 'POST /api/signup',
    headers: { ...page, ...formType },
    body: 'a'.repeat(1_100_000),
  },
  {
    what: 'HTML and JSON accepted alike',
    send: 'GET /nothing',
    headers: { accept: 'application/json, text/html' },
  },
  {
    what: 'HTML accepted with a lower weight',
    send: 'GET /nothing',
    headers: { accept: 'text/html;q=0.5, */*' },
  },
]

const foreign = { origin: 'https://a.example' }
const origins: readonly Asked[] = [
  { what: 'JSON of a foreign page', send: 'POST /api/signup', json: ada, headers: foreign },
  {
    what: 'JSON of a page without an origin',
    send: 'POST /api/signup',
    json: ada,
    headers: { origin: 'null' },
  },
  { what: 'wrong JSON of a foreign page', send: 'POST /api/signup', json: {}, headers: foreign },
  { what: 'config for a foreign page', send: 'GET /api/config', headers: foreign },
  {
    what: 'preflight',
    send: 'OPTIONS /api/signup',
    headers: {
      ...foreign,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,idempotency-key',
    },
  },
  {
    what: 'preflight of config',
    send: 'OPTIONS /api/config',
    headers: { ...foreign, 'access-control-request-method': 'GET' },
  },
  {
    what: 'preflight of nothing',
    send: 'OPTIONS /nothing',
    headers: { ...foreign, 'access-control-request-method': 'POST' },
  },
  {
    what: 'an id of a request without a trusted proxy',
    send: 'GET /api/health',
    headers: { 'x-request-id': '0123456789abcdef' },
  },
  {
    what: 'a host name in capitals',
    send: 'GET /api/health',
    headers: { host: 'SIGNUP.example.com:80' },
  },
  {
    what: 'many headers',
    send: 'GET /api/health',
    headers: { cookie: 'a=b', 'x-forwarded-for': '203.0.113.9', authorization: 'Bearer x' },
  },
]

export const openRequests = [
  ...reading,
  ...paths,
  ...files,
  ...signups,
  ...idempotency,
  ...bulk,
  ...pages,
  ...people,
  ...origins,
]

/** Requests that HTTP does not allow, or that the server answers before it looks at the path. */
export const rawRequests = [
  { what: 'bytes that are not HTTP', bytes: 'nonsense\r\n\r\n' },
  { what: 'no host', bytes: 'GET /api/health HTTP/1.1\r\n\r\n' },
  { what: 'two hosts', bytes: 'GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n' },
  { what: 'HTTP/1.0 without a host', bytes: 'GET /api/health HTTP/1.0\r\n\r\n' },
  { what: 'a host with a path', bytes: 'GET /api/health HTTP/1.1\r\nHost: a/b\r\n\r\n' },
  { what: 'a backslash', bytes: 'GET /api\\health HTTP/1.1\r\nHost: a\r\n\r\n' },
  {
    what: 'an absolute URL',
    bytes: 'GET http://b.example/api/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  },
  {
    what: 'an absolute URL with a user',
    bytes: 'GET http://u:p@b.example/api/health HTTP/1.1\r\nHost: a\r\n\r\n',
  },
  { what: 'an asterisk', bytes: 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' },
  { what: 'TRACE', bytes: 'TRACE /api/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' },
  { what: 'CONNECT', bytes: 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n' },
  { what: 'an expectation', bytes: 'GET /api/health HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n' },
  {
    what: 'a body that waits for 100 Continue',
    bytes:
      'POST /api/signup HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\n' +
      'Content-Type: application/json\r\nContent-Length: 27\r\n\r\n{"email":"ada@example.com"}',
  },
  {
    what: 'a body in chunks',
    bytes:
      'POST /api/signup HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n' +
      'Content-Type: application/json\r\n\r\nd\r\n{"email":"ada\r\ne\r\n@example.com"}\r\n0\r\n\r\n',
  },
  {
    what: 'two lengths',
    bytes:
      'POST /api/signup HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
  },
  {
    what: 'headers that are too long',
    bytes: `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
  },
]
