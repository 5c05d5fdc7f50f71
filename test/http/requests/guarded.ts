import type { Asked } from '../asked.ts'

const page = { accept: 'text/html' }
const ada = { email: 'ada@example.com' }
const adaForm = [['email', 'ada@example.com']] as const
const allowed = { origin: 'https://www.example.com' }
const foreign = { origin: 'https://evil.example' }
const own = { origin: 'https://signup.example.com' }
const apiKey = { authorization: 'Bearer correct-horse-battery-staple' }

/** Settings that restrict what anybody may do without them. */
export const closedSettings = {
  ALLOWED_ORIGINS: 'https://www.example.com',
  ALLOWED_HOSTS: 'signup.example.com',
  TRUST_PROXY: '1',
  API_KEYS: 'correct-horse-battery-staple',
  DEFAULT_SHEET_TAB: 'Letters',
  SHEET_TABS: 'News,Événements',
  BODY_LIMIT_BYTES: '2000',
  BULK_MAX: '3',
  PAGE_TITLE: 'The Letter',
  PAGE_TEXT: 'Once a month.',
  PAGE_BUTTON: 'Send it to me',
  PAGE_ACCENT: '#336699',
  PAGE_LOGO_URL: 'https://cdn.example.com/logo.svg',
  PAGE_LANGUAGE: 'fr',
  PAGE_CONSENT: 'I agree to the [terms](https://www.example.com/terms).',
  PAGE_NAME: 'optional',
}

export const closedRequests: readonly Asked[] = [
  { what: 'JSON without an origin', send: 'POST /api/signup', json: ada },
  { what: 'JSON of an allowed page', send: 'POST /api/signup', json: ada, headers: allowed },
  { what: 'JSON of our own page', send: 'POST /api/signup', json: ada, headers: own },
  { what: 'JSON of a foreign page', send: 'POST /api/signup', json: ada, headers: foreign },
  {
    what: 'form of a foreign page',
    send: 'POST /api/signup',
    form: adaForm,
    headers: { ...foreign, ...page },
  },
  {
    what: 'JSON of the origin null',
    send: 'POST /api/signup',
    json: ada,
    headers: { origin: 'null' },
  },
  { what: 'config for a foreign page', send: 'GET /api/config', headers: foreign },
  { what: 'config for an allowed page', send: 'GET /api/config', headers: allowed },
  { what: 'embed for a foreign page', send: 'GET /embed.js', headers: foreign },
  { what: 'embed for a foreign page, HEAD', send: 'HEAD /embed.js', headers: foreign },
  {
    what: 'preflight of an allowed page',
    send: 'OPTIONS /api/signup',
    headers: { ...allowed, 'access-control-request-method': 'POST' },
  },
  {
    what: 'preflight of a foreign page',
    send: 'OPTIONS /api/signup',
    headers: { ...foreign, 'access-control-request-method': 'POST' },
  },
  { what: 'nothing for a foreign page', send: 'GET /nothing', headers: foreign },
  {
    what: 'another host',
    send: 'POST /api/signup',
    json: ada,
    headers: { host: 'rebound.example', origin: 'http://rebound.example' },
  },
  {
    what: 'a forwarded host',
    send: 'POST /api/signup',
    json: ada,
    headers: { host: 'inside:3000', 'x-forwarded-host': 'signup.example.com', ...own },
  },
  {
    what: 'an id of a trusted proxy',
    send: 'GET /api/health',
    headers: { 'x-request-id': '0123456789abcdef' },
  },
  {
    what: 'a malformed id',
    send: 'GET /api/health',
    headers: { 'x-request-id': 'hello there' },
  },
  { what: 'a known tab', send: 'POST /api/signup', json: { ...ada, sheetTab: 'événements' } },
  { what: 'an unknown tab', send: 'POST /api/signup', json: { ...ada, sheetTab: 'Other' } },
  { what: 'page for an unknown tab', send: 'GET /?tab=Other', headers: page },
  { what: 'too large', send: 'POST /api/signup', json: { ...ada, name: 'x'.repeat(2000) } },
  { what: 'bulk without a key', send: 'POST /api/signup/bulk', json: { signups: [ada] } },
  {
    what: 'bulk with a wrong key',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada] },
    headers: { authorization: 'Bearer x' },
  },
  {
    what: 'bulk without a key, as a person',
    send: 'POST /api/signup/bulk',
    form: adaForm,
    headers: page,
  },
  {
    what: 'bulk with a key',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, ada] },
    headers: apiKey,
  },
  {
    what: 'bulk with too many signups',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, ada, ada, ada] },
    headers: apiKey,
  },
  {
    what: 'a signup with a key',
    send: 'POST /api/signup',
    json: ada,
    headers: { ...apiKey, 'idempotency-key': 'mine' },
  },
  {
    what: 'the same without a key',
    send: 'POST /api/signup',
    json: { email: 'bob@example.com' },
    headers: { 'idempotency-key': 'mine' },
  },
  { what: 'hosted page', send: 'GET /', headers: page },
  { what: 'hosted page in English', send: 'GET /?language=en', headers: page },
  {
    what: 'bare form',
    send: 'GET /api/signup/form',
    headers: { ...page, 'accept-language': 'de' },
  },
  {
    what: 'bare form for a foreign page',
    send: 'GET /api/signup/form',
    headers: { ...page, ...foreign },
  },
  { what: 'thanks', send: 'GET /api/signup/thanks?page=hosted', headers: page },
  {
    what: 'our form without a consent',
    send: 'POST /api/signup?page=hosted',
    form: adaForm,
    headers: page,
  },
  {
    what: 'our form with a consent',
    send: 'POST /api/signup?page=form',
    form: [...adaForm, ['metadata[consent]', 'I agree to the terms.']],
    headers: page,
  },
  {
    what: 'a form with a redirect to an allowed page',
    send: 'POST /api/signup',
    form: [...adaForm, ['redirect', 'https://www.example.com/done']],
    headers: page,
  },
  {
    what: 'a form with a redirect to our own host',
    send: 'POST /api/signup',
    form: [...adaForm, ['redirect', 'https://signup.example.com/done']],
    headers: { ...page, 'x-forwarded-proto': 'https' },
  },
  {
    what: 'a form with a redirect to a foreign page',
    send: 'POST /api/signup',
    form: [...adaForm, ['redirect', 'https://evil.example/done']],
    headers: page,
  },
  { what: 'ready', send: 'GET /api/ready', until: '"backlog":0' },
  { what: 'config', send: 'GET /api/config' },
  { what: 'stylesheet', send: 'GET /assets/page.css' },
]

/** Limits so low that a few requests reach them. */
export const limitedSettings = { RATE_LIMIT_PER_MINUTE: '2', TRUST_PROXY: '1', MAX_SHEET_TABS: '1' }

const from = (address: string) => ({ 'x-forwarded-for': `198.51.100.1, ${address}` })
export const limitedRequests: readonly Asked[] = [
  {
    what: 'the first signup',
    send: 'POST /api/signup',
    json: ada,
    headers: { ...from('203.0.113.1'), 'idempotency-key': 'one', prefer: 'wait=10' },
  },
  {
    what: 'the first signup again',
    send: 'POST /api/signup',
    json: ada,
    headers: { ...from('203.0.113.1'), 'idempotency-key': 'one' },
  },
  { what: 'a wrong signup', send: 'POST /api/signup', json: {}, headers: from('203.0.113.1') },
  { what: 'the third signup', send: 'POST /api/signup', json: ada, headers: from('203.0.113.1') },
  {
    what: 'the third signup, as a person',
    send: 'POST /api/signup',
    form: adaForm,
    headers: { ...page, ...from('203.0.113.1') },
  },
  {
    what: 'the first signup again, beyond the limit',
    send: 'POST /api/signup',
    json: ada,
    headers: { ...from('203.0.113.1'), 'idempotency-key': 'one' },
  },
  {
    what: 'bulk beyond the limit',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada] },
    headers: from('203.0.113.1'),
  },
  {
    what: 'a signup of another client',
    send: 'POST /api/signup',
    json: { ...ada, sheetTab: 'First' },
    headers: from('203.0.113.2'),
  },
  {
    what: 'a tab too many',
    send: 'POST /api/signup',
    json: { ...ada, sheetTab: 'Second' },
    headers: from('203.0.113.3'),
  },
  {
    what: 'bulk for a tab too many',
    send: 'POST /api/signup/bulk',
    json: { signups: [{ ...ada, sheetTab: 'Second' }, ada] },
    headers: from('203.0.113.4'),
  },
  {
    what: 'bulk over the limit',
    send: 'POST /api/signup/bulk',
    json: { signups: [ada, ada, ada] },
    headers: from('203.0.113.5'),
  },
  {
    what: 'a signup of an IPv6 client',
    send: 'POST /api/signup',
    json: ada,
    headers: from('2001:db8::1'),
  },
  {
    what: 'a signup of its neighbour',
    send: 'POST /api/signup',
    json: ada,
    headers: from('[2001:db8::2]:443'),
  },
  {
    what: 'another signup of its neighbour',
    send: 'POST /api/signup',
    json: ada,
    headers: from('2001:db8::3'),
  },
  { what: 'a signup without X-Forwarded-For', send: 'POST /api/signup', json: ada },
  {
    what: 'page for a tab too many',
    send: 'GET /?tab=Second',
    headers: { ...page, ...from('203.0.113.6') },
  },
  { what: 'health is not counted', send: 'GET /api/health', headers: from('203.0.113.1') },
]

/** `{token}` stands for a token that passes. */
export const challengedRequests: readonly Asked[] = [
  { what: 'config', send: 'GET /api/config' },
  { what: 'hosted page', send: 'GET /', headers: page },
  { what: 'bare form', send: 'GET /api/signup/form', headers: page },
  { what: 'no token', send: 'POST /api/signup', json: ada },
  { what: 'a wrong token', send: 'POST /api/signup', json: { ...ada, challengeToken: 'nonsense' } },
  {
    what: 'a wrong token of a person',
    send: 'POST /api/signup?page=hosted',
    form: [...adaForm, ['cf-turnstile-response', 'x']],
    headers: page,
  },
  {
    what: 'a token',
    send: 'POST /api/signup',
    body: '{"email":"ada@example.com","challengeToken":"{token}"}',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
  },
  {
    what: 'the token again',
    send: 'POST /api/signup',
    body: '{"email":"bob@example.com","challengeToken":"{token}"}',
    headers: { 'content-type': 'application/json' },
  },
  {
    what: 'the same request without a token',
    send: 'POST /api/signup',
    json: ada,
    headers: { 'idempotency-key': 'once', prefer: 'wait=10' },
  },
  { what: 'bulk without a token', send: 'POST /api/signup/bulk', json: { signups: [ada] } },
  { what: 'ready', send: 'GET /api/ready?strict', until: '"backlog":0' },
]

/** Requests to a service whose secret the provider does not know. */
export const misconfiguredRequests: readonly Asked[] = [
  { what: 'a signup', send: 'POST /api/signup', json: { ...ada, challengeToken: 'x' } },
  {
    what: 'a signup of a person',
    send: 'POST /api/signup',
    form: [...adaForm, ['cf-turnstile-response', 'x']],
    headers: page,
  },
  { what: 'bulk', send: 'POST /api/signup/bulk', json: { signups: [ada], challengeToken: 'x' } },
  { what: 'ready', send: 'GET /api/ready' },
  { what: 'ready, strictly', send: 'GET /api/ready?strict' },
  { what: 'ready, strictly, HEAD', send: 'HEAD /api/ready?strict' },
]

export const blockedRequests: readonly Asked[] = [
  { what: 'blocked', send: 'GET /api/ready', until: '"blocked"' },
  { what: 'a signup', send: 'POST /api/signup', json: ada, keep: { stored: 'id' } },
  {
    what: 'a signup with a wait',
    send: 'POST /api/signup',
    json: ada,
    headers: { prefer: 'wait=10' },
  },
  { what: 'bulk', send: 'POST /api/signup/bulk', json: { signups: [ada, {}] } },
  { what: 'a form', send: 'POST /api/signup', form: adaForm, headers: page },
  { what: 'the status of the stored signup', send: 'GET /api/signup/{stored}' },
  { what: 'ready, strictly', send: 'GET /api/ready?strict' },
  { what: 'health', send: 'GET /api/health' },
]
