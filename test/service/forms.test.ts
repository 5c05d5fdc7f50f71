import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectSecured } from '../../harness/expect-secured.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

/** The header `Accept` of Chromium. */
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

interface Ask extends Post {
  readonly method?: 'POST'
  readonly body?: string
}

interface Post {
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
}

/** Posts a form as a browser does, without following the redirect. */
async function postForm(
  { url }: BootedService,
  body: string | URLSearchParams | Record<string, string>,
  { headers = {}, path = '/api/signup' }: Post = {},
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept, ...headers },
    body: typeof body === 'string' ? body : new URLSearchParams(body),
  })
}

async function expectPage(answer: Response, status: number): Promise<string> {
  expect(answer.status).toBe(status)
  expectSecured(answer)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toContain("style-src 'self'")
  const page = await answer.text()
  expect(page).toMatch(/^<!doctype html>\s*<html lang="en" dir="ltr" data-theme="auto">/)
  expect(page).not.toMatch(
    /<script(?! src="[./]*\/assets\/page.js" defer><)|<style|\sstyle=|\son\w+=/,
  )
  return page
}

/** The fields of the form in the page, as a browser would send them again. */
function fieldsOf(page: string): [name: string, value: string][] {
  return [...page.matchAll(/<input\s[^>]*>/g)].map(([input]) => [
    attribute(input, 'name'),
    attribute(input, 'value'),
  ])
}

function attribute(tag: string, name: string): string {
  const raw = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return raw.replace(/&(#?\w+);/g, (entity, code: string) => entities[code] ?? entity)
}

test('a form that a person sends becomes a row, and redirects to a page that says thank you', async () => {
  await using service = await bootService()
  const answer = await postForm(service, {
    email: 'grace@example.com',
    name: 'Grace',
    company: 'AE',
  })
  expect(answer.status).toBe(303)
  expectSecured(answer)
  expect(answer.headers.get('location')).toBe('../api/signup/thanks')
  expect(answer.headers.get('vary')).toContain('Accept')
  expect(await answer.text()).toBe('')

  for (const _reload of [1, 2]) {
    const page = await expectPage(await fetch(`${service.url}/api/signup/thanks`), 200)
    expect(page).toContain('<title>Thank you</title>')
  }
  const dataDir = join(service.folder, 'data')
  await expect.poll(() => readTab(dataDir, 'Sheet1.csv')).toHaveLength(2)
  const [, row] = readTab(dataDir, 'Sheet1.csv')
  expect(row).toEqual([
    'grace@example.com',
    expect.any(String),
    'form',
    'Grace',
    '',
    '{"company":"AE"}',
    'Sheet1',
  ])
  await service.stop()
  expect(service.output()).not.toMatch(/grace|company/i)
})

describe('behind a proxy, with one allowed origin', () => {
  let service: BootedService
  beforeAll(async () => {
    service = await bootService({
      env: {
        BODY_LIMIT_BYTES: '4096',
        TRUST_PROXY: '1',
        RATE_LIMIT_PER_MINUTE: '2',
        API_KEYS: 'a-long-random-key',
        ALLOWED_ORIGINS: 'https://site.example',
      },
    })
  })
  afterAll(() => service[Symbol.asyncDispose]())

  /** Each test is a visitor of its own. */
  let visitors = 0
  const visitor = () => ({ 'x-forwarded-for': `203.0.113.${++visitors}` })

  test('a form that is sent again under its key gets the same redirect, marked as a replay', async () => {
    const send = () =>
      postForm(service, { email: 'ada@example.com' }, { headers: { 'idempotency-key': 'form-1' } })
    const [first, again] = [await send(), await send()]
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([303, null])
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([303, 'true'])
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
  })

  test('a form that a program sends is answered with JSON', async () => {
    const headers = { ...visitor(), accept: '*/*' }
    const answer = await postForm(service, { email: 'ada@example.com' }, { headers })
    expect(answer.status).toBe(202)
    expect(answer.headers.get('vary')).toContain('Accept')
    expect(await answer.json()).toMatchObject({ status: 'accepted' })
  })

  test('a browser that sends JSON is answered with JSON, or with a page when there is an error', async () => {
    const headers = { ...visitor(), 'content-type': 'application/json' }
    const taken = await postForm(service, '{"email":"ada@example.com"}', { headers })
    expect(taken.status).toBe(202)
    const refused = await postForm(service, '{"email":"ada","emial":1}', { headers })
    const page = await expectPage(refused, 422)
    expect(page).toMatch(/<b>email<\/b>: Enter an email address/)
    expect(page).toContain('<b>emial</b>: Unknown field. Did you mean &quot;email&quot;?')
    expect(page).not.toContain('<form')
  })

  test('a form that is refused comes back with all that was typed, and becomes a row when it is corrected and sent again', async () => {
    const typed: [string, string][] = [
      ['email', 'zoe"><b>@'],
      ['name', `Zoë & "Co" <script>alert('1')</script>`],
      ['sheetTab', 'Launch'],
      ['source', 'page'],
      ['tags', 'a'],
      ['tags[]', 'b'],
      ['metadata[plan]', 'pro'],
      ['company', '"Line one\r\nline two"'],
      ['redirect', '/welcome?a=1&b=2'],
    ]
    const headers = visitor()
    const tokens: [string, string][] = [['cf-turnstile-response', 'spent-token']]
    const refused = await postForm(service, new URLSearchParams([...typed, ...tokens]), { headers })
    const page = await expectPage(refused, 422)
    expect(page).not.toContain('spent-token')
    const shown = fieldsOf(page)
    expect(shown).toEqual(typed)
    expect(page.replace(/\s+/g, ' ')).toMatch(
      /<input id="email" name="email"[^>]* required="" [^>]* aria-invalid="true" aria-describedby="email-problem" autofocus/,
    )

    const mended = shown.map(([name, value]) => [
      name,
      name === 'email' ? 'zoe@example.com' : value,
    ])
    const answer = await postForm(service, new URLSearchParams(mended), { headers })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/welcome?a=1&b=2')
    const dataDir = join(service.folder, 'data')
    await expect.poll(() => readTab(dataDir, 'Launch.csv')).toHaveLength(2)
    expect(readTab(dataDir, 'Launch.csv')[1]).toEqual([
      'zoe@example.com',
      expect.any(String),
      'page',
      `Zoë & "Co" <script>alert('1')</script>`,
      'a, b',
      '{"plan":"pro","company":"\\"Line one line two\\""}',
      'Launch',
    ])
    expect(service.output()).not.toMatch(/zo[eë]|launch|spent-token|line one/i)
  })

  test('an error of a hidden field stands on top of the page, which has the focus there', async () => {
    const form = { email: 'ada@example.com', sheetTab: 'x'.repeat(101) }
    const page = await expectPage(await postForm(service, form, { headers: visitor() }), 422)
    expect(page).toMatch(/role="alert" tabindex="-1" autofocus[^]*<b>sheetTab<\/b>/)
    expect(page).not.toContain('aria-invalid')
  })

  test('a form over the rate limit is answered with a page that has the form again, and when to send it', async () => {
    const headers = visitor()
    const form = { email: 'ada@example.com', company: 'AE' }
    for (const _taken of [1, 2]) {
      expect((await postForm(service, form, { headers })).status).toBe(303)
    }
    const answer = await postForm(service, form, { headers })
    const page = await expectPage(answer, 429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(page).toContain('Too many signups at once')
    expect(fieldsOf(page)).toEqual(Object.entries(form))
  })

  const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
  test.each<[string, number, Ask]>([
    ['a path that does not exist', 404, { path: '/nothing' }],
    ['a signup that does not exist', 404, { path: '/api/signup/x' }],
    ['a GET of the path of the form', 405, { path: '/api/signup' }],
    ['bulk without a key', 401, { path: '/api/signup/bulk', method: 'POST', body: '{}' }],
    [
      'a request of an origin that is not allowed',
      403,
      { headers: { origin: 'https://evil.example' } },
    ],
    ['a request of the origin "null"', 403, { headers: { origin: 'null' } }],
    ['a broken form', 400, { method: 'POST', body: 'x', headers: multipart }],
    ['a form in plain text', 415, { method: 'POST', headers: { 'content-type': 'text/plain' } }],
    ['a form that is too large', 413, { method: 'POST', body: `email=${'x'.repeat(4_096)}` }],
    [
      'a malformed key',
      400,
      { method: 'POST', body: 'email=a', headers: { 'idempotency-key': 'é' } },
    ],
  ])('%s is answered %i, with a page or with JSON as Accept asks', async (_, status, request) => {
    const { path = '/api/signup', headers, ...rest } = request
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const ask = (accept: string) =>
      fetch(service.url + path, {
        ...rest,
        headers: { ...(rest.method === 'POST' && form), ...headers, ...visitor(), accept },
      })
    const forProgram = await ask('application/json')
    expect(forProgram.status).toBe(status)
    expect(forProgram.headers.get('content-type')).toBe('application/problem+json')
    const forPerson = await ask(accept)
    const page = await expectPage(forPerson, status)
    expect(page).toMatch(/<h1>[A-Z].{9,}<\/h1>\s*<p>[A-Z].{9,}\.<\/p>/)
    expect(page).not.toContain('<form')
    for (const name of ['allow', 'www-authenticate']) {
      expect(forPerson.headers.get(name)).toBe(forProgram.headers.get(name))
    }
  })

  test('the service’s own form may be sent, whichever origins are allowed', async () => {
    const headers = { ...visitor(), origin: service.url }
    const answer = await postForm(service, { email: 'ada@example.com' }, { headers })
    expect(answer.status).toBe(303)
  })

  test.each([
    ['a path', '/welcome#top', '/welcome#top'],
    ['an allowed origin', 'https://site.example/é?a=1#x', 'https://site.example/%C3%A9?a=1#x'],
    ['an allowed host with another scheme', 'http://site.example/', '../api/signup/thanks'],
    ['an origin that is not allowed', 'https://evil.example/', '../api/signup/thanks'],
    ['a host without a scheme', '//evil.example/', '../api/signup/thanks'],
    ['a host behind a backslash', '/\\evil.example/', '../api/signup/thanks'],
    ['a script', 'javascript:alert(1)', '../api/signup/thanks'],
    ['a user that looks like a host', 'https://site.example@evil.example/', '../api/signup/thanks'],
    ['another header', '/a\r\nset-cookie: b=c', '../api/signup/thanks'],
    ['a path that is too long', `/${'x'.repeat(2_048)}`, '../api/signup/thanks'],
  ])(
    'after a signup, a redirect to %s is followed only when it is safe',
    async (_, redirect, location) => {
      const form = { email: 'ada@example.com', redirect }
      const answer = await postForm(service, form, { headers: visitor() })
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toBe(location)
      expect(answer.headers.has('set-cookie')).toBe(false)
    },
  )

  test('the pages have a stylesheet of the service, which is sent again only when it has changed', async () => {
    const thanks = await (await fetch(`${service.url}/api/signup/thanks`)).text()
    const path = attribute(/<link [^>]*>/.exec(thanks)?.[0] ?? '', 'href')
    const address = new URL(path, `${service.url}/api/signup/thanks`)
    const styles = await fetch(address)
    expect(styles.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect(await styles.text()).toContain('color-scheme')
    const tag = styles.headers.get('etag') ?? ''
    const again = await fetch(address, { headers: { 'if-none-match': tag } })
    expect(again.status).toBe(304)
    const before = await fetch(address, { headers: { 'if-none-match': '"older"' } })
    expect(before.status).toBe(200)
  })
})

test('the log names a redirect that is not followed, once and by its origin only', async () => {
  await using service = await bootService()
  const redirect = 'https://grace:pw@site.example/grace@example.com?name=grace'
  const answer = await postForm(service, { email: 'grace@example.com', redirect })
  expect(answer.headers.get('location')).toBe('../api/signup/thanks')
  await service.stop()
  const told = service
    .output()
    .split('\n')
    .filter((line) => line.includes('redirect'))
  expect(told).toHaveLength(1)
  expect(JSON.parse(told[0] ?? '')).toMatchObject({ level: 40, origin: 'https://site.example' })
  expect(service.output()).not.toMatch(/grace|pw@/)
})
