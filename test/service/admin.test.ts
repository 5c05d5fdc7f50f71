import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import {
  adminToken,
  cookieIn,
  csrfIn,
  type Operator,
  operatorOf,
  sendToken,
  signIn,
} from '../../harness/admin.ts'
import { bootService } from '../../harness/boot-service.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { openRaw, sendRaw } from '../../harness/raw-http.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const env = { ADMIN_TOKEN: adminToken }
const behindProxy = { ...env, TRUST_PROXY: '1' }
const from = (address: string) => ({ 'x-forwarded-for': address })
const headers = ['set-cookie', 'retry-after', 'location'] as const

/** What an answer tells, without what differs in all answers. */
async function told(answer: Response): Promise<unknown> {
  return [answer.status, await answer.text(), ...headers.map((name) => answer.headers.get(name))]
}

/** The paths below the page that take forms. */
async function pathsWithForms(url: string): Promise<string[]> {
  const folder = join(projectRoot, 'src/admin')
  const sources = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const paths = sources.flatMap((text) => [...text.matchAll(/path: '(\/[a-z/-]+)'/g)])
  const asked = paths.map(async ([, path = '']) => {
    const { headers } = await fetch(`${url}/admin${path}`, { method: 'OPTIONS' })
    return (headers.get('allow') ?? '').includes('POST') ? [path] : []
  })
  return (await Promise.all(asked)).flat()
}

async function isSignedIn({ get }: Operator): Promise<boolean> {
  return (await (await get('')).text()).includes('/sign-out')
}

test('without its token there is no admin page, and nothing of it is loaded', async () => {
  await using folder = await tempFolder()
  const program = join(folder.path, 'start.mjs')
  await writeFile(
    program,
    `import { registerHooks } from 'node:module'
     registerHooks({ load: (url, context, next) => {
       if (/src.(admin|service.admin)/.test(url)) console.log('loaded ' + url)
       return next(url, context)
     } })
     process.argv[1] = ${JSON.stringify(join(projectRoot, 'src/start.js'))}
     await import(process.argv[1])`,
  )
  await using bare = await startService({ program })
  for (const path of ['', '/', '/sending', '/sign-out', '/nothing'])
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'])
      expect((await fetch(`${bare.url}/admin${path}`, { method })).status).toBe(404)
  expect(bare.output()).not.toMatch(/loaded|admin/)
  const publicUrl = 'https://signup.example/letters'
  await using service = await startService({ program, env: { ...env, PUBLIC_URL: publicUrl } })
  expect(service.output()).toContain('loaded')
  expect(service.output()).toContain(
    `The admin page is ${publicUrl}/admin\nTry: open ${publicUrl}/ in a browser\n`,
  )
})

test.each(['tiny', 'fifteen-letters', 'a-long-random-text', 'with spaces in between'])(
  'the service does not start with the token %s, and does not print it',
  async (token) => {
    const { code, stdout, stderr } = await runCommand(['serve'], { env: { ADMIN_TOKEN: token } })
    expect(code).toBe(2)
    expect(stderr).toContain('ADMIN_TOKEN')
    expect(stdout + stderr).not.toContain(token)
  },
)

test('a wrong token tells nothing, however near it is', async () => {
  await using service = await bootService({ env: behindProxy })
  const near = [adminToken.slice(0, -1), `${adminToken}x`, adminToken.toUpperCase(), '']
  const tries = ['wrong', ...near].map((token, at) =>
    sendToken(service.url, token, from(`192.0.2.${at}`)),
  )
  const answers = await Promise.all((await Promise.all(tries)).map(told))
  expect(answers).toHaveLength(5)
  expect(answers[0]).toMatchObject({ 0: 401, 2: null })
  for (const answer of answers) expect(answer).toEqual(answers[0])
  const json = { method: 'POST', body: JSON.stringify({ token: adminToken }) }
  const type = { 'content-type': 'application/json', ...from('192.0.2.9') }
  expect(await told(await fetch(`${service.url}/admin`, { ...json, headers: type }))).toEqual(
    answers[0],
  )
})

test('an address has five tries a minute, and a forged one does not help', async () => {
  await using service = await bootService({ env: behindProxy })
  const trying = (token: string, address: string) => sendToken(service.url, token, from(address))
  for (let tries = 0; tries < 5; tries++)
    expect((await trying('wrong', `198.51.100.${tries}, 192.0.2.1`)).status).toBe(401)
  const sixth = await trying(adminToken, '198.51.100.7, 192.0.2.1')
  expect(sixth.status).toBe(429)
  expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(50)
  expect(cookieIn(sixth)).toBeUndefined()
  const page = await sixth.text()
  expect(page).toContain('Too many tries')
  expect(page).not.toMatch(/signup/i)
  // Another part of the same IPv6 network is the same client.
  for (let tries = 0; tries < 5; tries++) await trying('wrong', '2001:db8::1')
  expect((await trying(adminToken, '2001:db8::2')).status).toBe(429)
  expect((await trying(adminToken, '192.0.2.2')).status).toBe(303)
})

test('beyond twenty tries a minute each answer waits, nobody is refused, and the log stays short', async () => {
  await using service = await bootService({ env: behindProxy })
  const timed = async (token: string, address: string) => {
    const began = performance.now()
    const { status } = await sendToken(service.url, token, from(address))
    return { status, ms: performance.now() - began }
  }
  const first = await Promise.all(Array.from({ length: 20 }, (_, at) => timed('x', `10.0.0.${at}`)))
  expect(first.map(({ status }) => status)).toEqual(Array(20).fill(401))
  const owner = timed(adminToken, '192.0.2.1')
  const crowd = await Promise.all(
    Array.from({ length: 400 }, (_, at) => timed('x', `10.1.${at % 200}.1`)),
  )
  expect(Math.min(...crowd.map(({ ms }) => ms))).toBeGreaterThanOrEqual(990)
  expect(crowd.every(({ status }) => status === 401)).toBe(true)
  expect(await owner).toMatchObject({ status: 303 })
  const lines = service.output().split('\n')
  expect(lines.filter((line) => line.includes('wrong token'))).toHaveLength(60)
})

test('the cookie is for the page alone, and for HTTPS where there is HTTPS', async () => {
  await using service = await bootService({ env: behindProxy })
  const cookieOf = async (headers: HeadersInit) =>
    (await sendToken(service.url, adminToken, headers)).headers.get('set-cookie')
  const form = /^rollcall_admin=[\w-]{72}; Path=\/admin; HttpOnly; SameSite=Strict; Max-Age=43200$/
  expect(await cookieOf({})).toMatch(form)
  const secure = (await cookieOf({ 'x-forwarded-proto': 'https' })) ?? ''
  expect(secure).toMatch(/; Secure$/)
  expect(secure.replace('; Secure', '')).toMatch(form)
  await using plain = await bootService({ env })
  const forged = await sendToken(plain.url, adminToken, { 'x-forwarded-proto': 'https' })
  expect(forged.headers.get('set-cookie')).not.toContain('Secure')
})

test('the page to sign in says whose it is, and leads to the view that was wanted, but to no other place', async () => {
  await using service = await bootService({ env: { ...env, PAGE_TITLE: 'The <launch>' } })
  const { url } = service
  const asked = await fetch(`${url}/admin/signups?state=held&tab=a%26b`, { redirect: 'manual' })
  expect(asked.status).toBe(303)
  const door = new URL(asked.headers.get('location') ?? '', `${url}/admin/`)
  const page = await (await fetch(door)).text()
  expect(page).toContain('The &lt;launch&gt;')
  expect(page).toContain(new URL(url).host)
  const to = /name="to" value="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const leadsTo = async (to: string) => {
    const body = new URLSearchParams({ token: adminToken, to })
    const answer = await fetch(`${url}/admin`, { method: 'POST', body, redirect: 'manual' })
    return answer.headers.get('location')
  }
  expect(await leadsTo(to)).toBe('./admin/signups?state=held&tab=a%26b')
  // Five tries a minute are answered.
  const strange = ['//evil.example', 'https://evil.example/signups', '/sign-out', '/../api']
  for (const other of strange) expect(await leadsTo(other)).toBe('./admin')
})

test('no form does anything without the token of its own login', async () => {
  await using service = await bootService({ env })
  const { url } = service
  const [ada, bob] = [await signIn(url), await signIn(url)]
  const ofBob = csrfIn(await (await bob.get('')).text())
  const paths = await pathsWithForms(url)
  expect(paths).toEqual(expect.arrayContaining(['/sending', '/sign-out']))
  const acts = () => service.output().split('somebody used').length
  const before = acts()
  for (const path of paths)
    for (const csrf of [undefined, '', ofBob]) {
      const fields = { do: 'rows', email: 'ada@example.com', ...(csrf !== undefined && { csrf }) }
      const body = new URLSearchParams(fields)
      const headers = { cookie: ada.cookie }
      const answer = await fetch(`${url}/admin${path}`, { method: 'POST', body, headers })
      expect([path, answer.status]).toEqual([path, 403])
      expect(await answer.text()).toContain('Nothing was done')
      // Nor without a login.
      const foreign = { method: 'POST', body, redirect: 'manual' } as const
      expect(await told(await fetch(`${url}/admin${path}`, foreign))).toMatchObject({ 0: 303 })
    }
  expect(acts()).toBe(before)
  expect(await isSignedIn(ada)).toBe(true)
})

test('a login outlasts a restart, ends by signing out, and all end with another token', async () => {
  await using folder = await tempFolder()
  const boot = (token = adminToken) =>
    bootService({ env: { ADMIN_TOKEN: token }, dataDir: folder.path })
  const first = await boot()
  const [ada, bob] = [await signIn(first.url), await signIn(first.url)]
  await first.stop()
  const second = await boot()
  const [adaAgain, bobAgain] = [ada, bob].map(({ cookie }) => operatorOf(second.url, cookie))
  const out = await adaAgain?.post('/sign-out')
  expect([out?.status, out?.headers.get('set-cookie')]).toEqual([
    303,
    'rollcall_admin=; HttpOnly; SameSite=Strict; Max-Age=0',
  ])
  expect(await isSignedIn(operatorOf(second.url, ada.cookie))).toBe(false)
  expect(bobAgain && (await isSignedIn(bobAgain))).toBe(true)
  await second.stop()
  await using third = await boot('another-battery-staple-of-a-horse')
  expect(await isSignedIn(operatorOf(third.url, bob.cookie))).toBe(false)
})

test(
  'a login holds and ends on all instances, and without the database the page says what is wrong',
  { tags: 'slow' },
  async () => {
    await using server = await startPostgres()
    await using world = await createDatabaseWorld(server)
    const boot = () => bootService({ env: { ...world.env, ...env } })
    await using one = await boot()
    await using other = await boot()
    const ada = await signIn(one.url)
    const there = operatorOf(other.url, ada.cookie)
    expect(await isSignedIn(there)).toBe(true)
    await there.post('/sign-out')
    expect(await isSignedIn(ada)).toBe(false)
    const { get } = await signIn(one.url)
    await server.stop('immediate')
    for (const answer of [await get('/sending'), await sendToken(other.url, adminToken)]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
      const page = await answer.text()
      expect(page).toContain('The journal does not answer')
      expect(page).not.toContain('stored nothing')
    }
    await server.start()
  },
)

test('no answer may be kept, framed, or read by another page', async () => {
  await using service = await bootService({ env: { ...env, ALLOWED_ORIGINS: '*' } })
  const { url } = service
  const ada = await signIn(url)
  const evil = { origin: 'https://evil.example' }
  const answers = [
    await fetch(`${url}/admin`, { headers: evil }),
    await ada.get('', evil),
    await ada.get('/', { origin: 'null' }),
    await ada.get('/sending?site=nobody', { ...evil, accept: 'text/html' }),
    await ada.get('/sign-out', evil),
    await fetch(`${url}/admin/sending`, { redirect: 'manual', headers: evil }),
    await fetch(`${url}/admin`, { method: 'OPTIONS', headers: evil }),
    await sendToken(url, 'wrong', evil),
    await ada.post('/sending', { csrf: 'wrong' }),
    await sendToken(url, adminToken, evil),
  ]
  expect(answers.map(({ status }) => status)).toEqual([
    ...[200, 200, 200, 422, 405, 303, 204, 401, 403, 303],
  ])
  for (const { headers } of answers) {
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
    expect(policy).not.toContain('unsafe')
    expect(headers.has('access-control-allow-origin')).toBe(false)
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  }
})

test('what somebody does is logged with when and from where, and no secret is', async () => {
  const log = { LOG_LEVEL: 'trace' }
  await using service = await bootService({ env: { ...behindProxy, ...log } })
  const { url } = service
  await sendToken(url, 'a-secret-of-another-page', from('192.0.2.1'))
  const cookie = cookieIn(await sendToken(url, adminToken, from('192.0.2.1'))) ?? expect.fail()
  const ada = operatorOf(url, cookie)
  const csrf = csrfIn(await (await ada.get('')).text())
  await ada.post('/sending', { do: 'rows' })
  await ada.post('/sending', { do: 'a\nb"level":60 ada@example.com' })
  await ada.get('/sending?site=private%0a&email=ada@example.com')
  await ada.post('/sign-out')
  await expect.poll(service.output).toContain('"sign-out"')
  const output = service.output()
  for (const secret of [cookie.split('=')[1] ?? '', csrf, 'a-secret-of', 'ada@', 'private'])
    expect(output).not.toContain(secret)
  const lines = output.split('\n').filter((line) => /^{.*admin page/.test(line))
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(entries.map(({ action }) => action)).toEqual([
    ...[undefined, 'sign-in', 'sending rows', 'sending', 'sign-out'],
  ])
  for (const entry of entries)
    expect(entry).toMatchObject({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      requestId: expect.any(String),
      from: expect.stringMatching(/^192\.0\.2\.1$|^127\.0\.0\.1$/),
    })
  expect(entries[0]).toMatchObject({ from: '192.0.2.1' })
  const logins = entries.slice(2).map(({ login }) => login)
  expect(logins).toEqual(Array(3).fill(expect.stringMatching(/^.{8}$/)))
})

test('a body that is too large, endless, slow or no form is refused, and keeps nobody out', async () => {
  await using service = await bootService({ env })
  const { url } = service
  const post = (body: BodyInit, type = 'application/x-www-form-urlencoded') =>
    fetch(`${url}/admin`, { method: 'POST', body, headers: { 'content-type': type } })
  expect((await post(`token=${'x'.repeat(5_000)}`)).status).toBe(413)
  expect((await post('<token/>', 'text/xml')).status).toBe(415)
  expect((await post(adminToken, 'text/plain')).status).toBe(415)
  expect((await post('x', 'multipart/form-data')).status).toBe(400)
  expect((await post('token=%ff')).status).toBe(400)
  expect((await post('a&'.repeat(2_000))).status).toBe(422)
  const head = `POST /admin HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n`
  const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`
  const [endless] = await sendRaw(
    url,
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(9)}`,
  )
  expect(endless?.status).toBe(413)
  await using stack = new AsyncDisposableStack()
  for (let at = 0; at < 200; at++) {
    const slow = stack.use(openRaw(url))
    slow.write(`${head}Transfer-Encoding: chunked\r\n\r\nf00\r\n${'x'.repeat(0xf00)}\r\n`)
  }
  const ada = await signIn(url)
  const ids = 'x'.repeat(60_000)
  expect((await ada.post('/sending', { do: 'rows', ids })).status).toBe(303)
  const large = await ada.post('/sending', { do: 'rows', ids: 'x'.repeat(70_000) })
  expect(large.status).toBe(413)
})

test('whoever opens the page by HTTP over a public network is warned', async () => {
  await using service = await bootService({ env: behindProxy })
  const isWarned = async (host: string, more = '') => {
    const head = `GET /admin HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`
    const [answer] = await sendRaw(service.url, head)
    return answer?.body.includes('without HTTPS')
  }
  const near = [
    '127.0.0.1',
    'localhost:3000',
    '[::1]:3000',
    '10.1.2.3',
    '192.168.1.4:3000',
    '[fd00::1]',
  ]
  for (const host of near) expect([host, await isWarned(host)]).toEqual([host, false])
  const far = ['203.0.113.7', '[2001:db8::1]:3000', 'example.com', 'localhost.example.com']
  for (const host of far) {
    expect([host, await isWarned(host)]).toEqual([host, true])
    expect(await isWarned(host, 'X-Forwarded-Proto: https\r\n')).toBe(false)
  }
})

test('an address names one of several sites, and one that there is not is refused', async () => {
  const sites = JSON.stringify({ sites: { news: {}, 'the-shop': {} } })
  await using service = await bootService({ env: { ...env, ROLLCALL_CONFIG: sites } })
  const { get, post } = await signIn(service.url)
  const current = async (query: string) =>
    [
      ...(await (await get(`/sending${query}`)).text()).matchAll(/aria-current="page"\s*>([^<]+)/g),
    ].map(([, name]) => name?.trim())
  expect(await current('')).toEqual(['Sending', 'news'])
  expect(await current('?site=the-shop')).toEqual(['Sending', 'the-shop'])
  const script = encodeURIComponent('"><script>alert(1)</script>\r\nset-cookie: a=b')
  for (const site of ['nobody', script, '', 'news%00']) {
    const answer = await get(`/sending?site=${site}`, { accept: 'text/html' })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(await answer.text()).not.toContain('<script>alert')
  }
  await post('/sending?site=the-shop', { do: 'rows' })
  expect(service.output()).toMatch(/"action":"sending rows",[^\n]*"site":"the-shop"/)
})
