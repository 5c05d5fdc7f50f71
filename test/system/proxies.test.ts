import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endWithUs } from '../../harness/end-with-us.ts'
import { environmentOfAnyProgram } from '../../harness/environment.ts'
import { freePort } from '../../harness/free-port.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { end } from './world/program.ts'
import { type Proxy, startCaddy, startNginx, visit } from './world/proxies.ts'

const perMinute = 200
const bodyBytesMax = 2 ** 20
const json = { 'content-type': 'application/json' }

/** Calls of the Sheets API get no answer. */
const google = createServer(() => {}).listen(0, '127.0.0.1')
const stack = new AsyncDisposableStack()
const proxies = {} as Record<'nginx' | 'caddy', Proxy>

beforeAll(async () => {
  const world = stack.use(await createGoogleWorld())
  const silent = `http://127.0.0.1:${(google.address() as AddressInfo).port}`
  const limit = { TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: String(perMinute) }
  const service = stack.adopt(
    await startService({ env: { ...world.env, SHEETS_API_URL: silent, ...limit } }),
    // A stop would wait for the call that has no answer.
    (it) => it.kill(),
  )
  const { host } = new URL(service.url)
  proxies.nginx = stack.use(await startNginx(host))
  proxies.caddy = stack.use(await startCaddyForOne(host))
})

afterAll(async () => {
  await stack.disposeAsync()
  google.closeAllConnections()
  google.close()
})

async function startCaddyForOne(rollcall: string): Promise<Proxy> {
  const site = { SITE: `https://localhost:${await freePort()}`, ROLLCALL: rollcall }
  return startCaddy('examples/proxies/Caddyfile', site)
}

/** A bulk request of as many bytes, in as many signups. */
function bulk(count: number, bytes: number): string {
  const email = (_: unknown, at: number) => `person${at}@example.com`
  const emails = Array.from({ length: count }, email)
  const request = (text: number) =>
    JSON.stringify({
      signups: emails.map((it, at) => ({
        email: it,
        metadata: { text: 'x'.repeat(Math.floor((text + at) / count)) },
      })),
    })
  return request(bytes - request(0).length)
}

describe.each([
  ['nginx', '127.0.1'],
  ['caddy', '127.0.2'],
] as const)('behind %s with the settings of the examples', (name, network) => {
  const send = (to: string, options: Parameters<typeof visit>[2]) =>
    visit(proxies[name].url, to, { method: 'POST', ...options })
  const signUp = (from: string, headers: Readonly<Record<string, string>> = {}) =>
    send('/api/signup', {
      ...{ from, headers: { ...json, ...headers } },
      body: '{"email":"ada@example.com"}',
    })

  test('a HEAD request has the headers of GET, over HTTP/2', async () => {
    const got = await visit(proxies[name].url, '/')
    const head = await visit(proxies[name].url, '/', { method: 'HEAD' })
    expect([got.status, head.status, head.body]).toEqual([200, 200, ''])
    for (const header of ['content-type', 'content-length', 'content-security-policy', 'etag']) {
      expect(head.headers[header]).toBe(got.headers[header])
    }
  })

  test('the rate limit counts each visitor, whatever a visitor writes into X-Forwarded-For', async () => {
    const [one, other] = [`${network}.1`, `${network}.2`]
    const many = { headers: json, body: bulk(perMinute, 20_000) }
    const forged = { ...json, 'x-forwarded-for': '192.0.2.1' }
    expect((await send('/api/signup/bulk', { ...many, from: one })).status).toBe(202)
    expect((await signUp(one)).status).toBe(429)
    expect((await signUp(one, forged)).status).toBe(429)
    expect(
      (await signUp(one, { ...forged, 'x-forwarded-for': '192.0.2.1, 192.0.2.2' })).status,
    ).toBe(429)
    expect((await signUp(other)).status).toBe(202)
  })

  test('a bulk request of 1 MiB is taken, and Rollcall itself refuses a larger one', async () => {
    const request = { from: `${network}.3`, headers: json }
    const most = bulk(120, bodyBytesMax)
    expect(most).toHaveLength(bodyBytesMax)
    expect((await send('/api/signup/bulk', { ...request, body: most })).status).toBe(202)
    const larger = await send('/api/signup/bulk', { ...request, body: `${most} ` })
    expect(larger).toMatchObject({
      status: 413,
      headers: { 'content-type': 'application/problem+json' },
      body: expect.stringContaining(String(bodyBytesMax)),
    })
  })

  test('a body of 3 MiB is refused with 413', async () => {
    const body = bulk(400, 3 * 2 ** 20)
    const answer = await send('/api/signup/bulk', { from: `${network}.4`, headers: json, body })
    expect(answer.status).toBe(413)
  })

  test('Rollcall knows its own address: a form may lead back to a page of the same origin', async () => {
    const redirect = `${proxies[name].url}/welcome`
    const { status, headers } = await send('/api/signup', {
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      body: new URLSearchParams({ email: 'ada@example.com', redirect }).toString(),
    })
    expect([status, headers.location]).toEqual([303, '/welcome'])
  })

  test('a visitor chooses neither the own address of Rollcall nor the id in its log', async () => {
    const id = 'abad1dea'.repeat(4)
    const { status, headers } = await send('/api/signup', {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
        'x-forwarded-host': 'elsewhere.example',
        'x-forwarded-proto': 'http',
        'x-request-id': id,
      },
      body: 'email=ada%40example.com&redirect=https://elsewhere.example/welcome',
    })
    expect([status, headers.location]).toEqual([303, expect.stringContaining('/thanks')])
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{32,36}$/)
    expect(headers['x-request-id']).not.toBe(id)
  })
})

test('no proxy cuts a request that waits 30 seconds for its row', async () => {
  const waited = Object.values(proxies).map(async ({ url }) => {
    const begin = performance.now()
    const { status, body } = await visit(url, '/api/signup', {
      ...{ method: 'POST', headers: { ...json, prefer: 'wait=30' }, from: '127.0.3.1' },
      body: '{"email":"ada@example.com"}',
    })
    expect(JSON.parse(body)).toMatchObject({ status: 'accepted' })
    return [status, performance.now() - begin > 29_000]
  })
  expect(await Promise.all(waited)).toEqual([
    [202, true],
    [202, true],
  ])
})

test('the page waits behind Caddy while Rollcall restarts', async () => {
  await using folder = await tempFolder()
  const port = await freePort()
  const own = { HOST: '127.0.0.1', PORT: String(port), TRUST_PROXY: '1' }
  const options = { cwd: folder.path, env: { ...environmentOfAnyProgram(), ...own } }
  const program = join(projectRoot, 'src/start.js')
  const before = endWithUs(spawn(process.execPath, [program], { ...options, stdio: 'ignore' }))
  await using proxy = await startCaddyForOne(`127.0.0.1:${port}`)
  await expect.poll(async () => (await visit(proxy.url, '/')).status).toBe(200)
  await end(before)
  const page = visit(proxy.url, '/')
  await sleep(1000)
  // A start takes longer than Caddy waits when the machine is busy.
  const after = createServer((_, response) => response.end('it is back')).listen(port, '127.0.0.1')
  expect(await page).toMatchObject({ status: 200, body: 'it is back' })
  after.closeAllConnections()
  after.close()
})
