import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { patienceMs } from '../../harness/patience.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { readMetrics, withMetrics } from '../../harness/read-metrics.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { ConfigError } from '../../src/config/problem.ts'
import { systemClock } from '../../src/platform/clock.ts'

type Running = Pick<BootedService, 'url' | 'folder' | 'output'>

const apiKey = 'a-key-of-16-characters'

function postForm(
  { url }: Running,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/api/signup`, {
    ...{ method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(fields) },
  })
}

/** What differs by itself between the answers to two signups. */
const varying = ['date', 'x-request-id', 'ratelimit']

async function outlineOf(answer: Response) {
  const headers = [...answer.headers].filter(([name]) => !varying.includes(name))
  const text = await answer.text()
  const members = text === '' ? [] : Object.entries(JSON.parse(text) as Record<string, unknown>)
  const body = members.map(([name, value]) => (/^(id|receivedAt)$/.test(name) ? name : value))
  return { status: answer.status, headers, body }
}

/** The suspect signups that were counted, by sign; and how many signups were accepted. */
async function countsOf({ url }: Running, site = 'default') {
  const prefix = `rollcall_suspect_signups_total{site="${site}",signal="`
  const metrics = await readMetrics(url)
  const counted = [...metrics].filter(([name, count]) => name.startsWith(prefix) && count > 0)
  const signals = counted.map(([name, count]) => [name.slice(prefix.length, -2), count] as const)
  const accepted = metrics.get(`rollcall_signups_accepted_total{site="${site}"}`)
  return { accepted, ...Object.fromEntries(signals) }
}

function rowsOf({ folder }: Running) {
  return readTab(join(folder, 'data'), 'Sheet1.csv').slice(1)
}

test('by default a suspect signup is counted and told in the log, and its answer and its row are like any other', async () => {
  await using service = await bootService({ env: withMetrics })
  const honest = { email: 'ada@example.com', name: 'Ada Lovelace' }
  const filled = { ...honest, rollcall_message: 'Very Private', rollcall_stamp: 'forged' }
  for (const accept of ['application/json', 'text/html']) {
    const answers = await Promise.all(
      [honest, filled].map((it) => postForm(service, it, { accept })),
    )
    const [one, other] = await Promise.all(answers.map(outlineOf))
    expect(other).toEqual(one)
  }
  await expect.poll(() => rowsOf(service).length, { timeout: patienceMs }).toBe(4)
  const rows = rowsOf(service).map(([email, , ...rest]) => [email, ...rest])
  expect(rows).toEqual(
    rows.map(() => ['ada@example.com', 'form', 'Ada Lovelace', '', '', 'Sheet1']),
  )
  expect(await countsOf(service)).toEqual({ accepted: 4, 'hidden-field': 2, stamp: 2 })
  const lines = service.output().match(/.*a signup looks like spam.*/g) ?? []
  expect(lines).toHaveLength(2)
  for (const line of lines) expect(line).toContain('"signals":["hidden-field","stamp"]')
  const ready = await fetch(`${service.url}/api/ready`)
  expect(await ready.text()).not.toMatch(/spam|suspect|signal/)
})

test('a replay counts nothing, and the fields that only the filter reads do not make it another request', async () => {
  await using service = await bootService({ env: withMetrics })
  const post = (more: Record<string, string>) =>
    postForm(service, { email: 'ada@gmail.com', ...more }, { 'idempotency-key': 'one' })
  await post({ rollcall_message: 'x', rollcall_stamp: 'old' })
  const again = await post({ rollcall_message: 'y' })
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
  expect(await countsOf(service)).toEqual({ accepted: 1, 'hidden-field': 1, stamp: 1 })
})

test('with SPAM_FILTER=quarantine the answer is the same, and a suspect signup is not counted as accepted', async () => {
  await using service = await bootService({ env: { ...withMetrics, SPAM_FILTER: 'quarantine' } })
  const answers = await Promise.all(
    [{}, { rollcall_message: 'x' }].map((it) =>
      postForm(service, { email: 'ada@example.com', ...it }),
    ),
  )
  const [one, other] = await Promise.all(answers.map(outlineOf))
  expect(other).toEqual(one)
  expect(await countsOf(service)).toEqual({ accepted: 1, 'hidden-field': 1 })
})

test('with SPAM_FILTER=off nothing is counted, and the stamp is still there', async () => {
  await using service = await bootService({ env: { ...withMetrics, SPAM_FILTER: 'off' } })
  await postForm(service, { email: 'ada@example.com', rollcall_message: 'x' })
  expect(await countsOf(service)).toEqual({ accepted: 1 })
  expect(service.output()).not.toContain('looks like spam')
  expect((await fetch(`${service.url}/api/stamp`)).status).toBe(200)
})

test('requests with a valid API key are not looked at, alone or in bulk, and others are', async () => {
  await using service = await bootService({ env: { ...withMetrics, API_KEYS: apiKey } })
  const signup = {
    email: 'ada@mailinator.com',
    name: 'www.spam.example',
    tags: ['www.spam.example'],
  }
  const authorization = `Bearer ${apiKey}`
  await postSignup(service.url, signup, { authorization })
  await postBulk(service.url, { signups: [signup, signup] }, { authorization })
  expect(await countsOf(service)).toEqual({ accepted: 3 })
  await postSignup(service.url, signup)
  expect(await countsOf(service)).toEqual({ accepted: 4, 'disposable-domain': 1, links: 1 })
})

test('without API keys each signup of a bulk request is looked at', async () => {
  await using service = await bootService({ env: { ...withMetrics, SPAM_DOMAINS: 'spam.test' } })
  const item = (domain: string) => ({ email: `ada@${domain}`, name: 'bit.ly/x' })
  const signups = ['spam.test', 'example.com', 'mx.spam.test', 'no address'].map(item)
  expect((await postBulk(service.url, { signups })).status).toBe(207)
  expect(await countsOf(service)).toEqual({
    ...{ accepted: 3, 'disposable-domain': 2, 'link-in-name': 2 },
  })
})

test('a network counts by the address that the trusted proxy tells, and never by one that is not known', async () => {
  const post = async (service: Running) => {
    for (let at = 0; at < 21; at++) {
      const headers = { 'x-forwarded-for': `203.0.113.${at}` }
      await postForm(service, { email: `ada${at}@yopmail.com` }, headers)
    }
    return countsOf(service)
  }
  const env = { ...withMetrics, RATE_LIMIT_PER_MINUTE: '0' }
  await using behind = await bootService({ env: { ...env, TRUST_PROXY: '1' } })
  await using open = await bootService({ env })
  const counted = { accepted: 21, 'disposable-domain': 1, 'busy-network': 1 }
  expect([await post(behind), await post(open)]).toEqual([counted, { accepted: 21 }])
})

test('the log tells sixty suspect signups a minute, and all are counted', async () => {
  await using service = await bootService({ env: withMetrics })
  const signup = { email: 'ada@mailinator.com', name: 'www.spam.example' }
  await postBulk(service.url, { signups: Array.from({ length: 100 }, () => signup) })
  expect(service.output().match(/looks like spam/g)).toHaveLength(60)
  expect(await countsOf(service)).toMatchObject({ accepted: 100, 'link-in-name': 100 })
})

test('GET /api/stamp gives a signed time that no cache keeps, to the pages that may send signups', async () => {
  const origin = 'https://www.example.com'
  await using service = await bootService({ env: { ALLOWED_ORIGINS: origin } })
  const ask = (from: string) => fetch(`${service.url}/api/stamp`, { headers: { origin: from } })
  const answer = await ask(origin)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
  const { stamp } = (await answer.json()) as { stamp: string }
  expect(stamp).toMatch(/^[\w.-]{30,100}$/)
  expect((await ask('https://evil.example')).status).toBe(403)
})

test('a stamp is good after a restart, and only at its own site', async () => {
  await using folder = await tempFolder()
  const site = { spam: { domains: ['spam.test'] } }
  const env = { ...withMetrics, ROLLCALL_CONFIG: JSON.stringify({ sites: { a: site, b: site } }) }
  const start = (aheadMs = 0) => {
    const clock = { ...systemClock, now: () => Date.now() + aheadMs }
    return bootService({ dataDir: folder.path, env, clock })
  }
  const stampOf = async ({ url }: Running) => {
    const answer = await fetch(`${url}/api/stamp?site=a`)
    return ((await answer.json()) as { stamp: string }).stamp
  }
  let stamp: string
  {
    await using service = await start()
    stamp = await stampOf(service)
  }
  await using service = await start(10_000)
  const email = 'ada@spam.test'
  await postForm(service, { email, site: 'a', rollcall_stamp: stamp })
  await postForm(service, { email, site: 'b', rollcall_stamp: stamp })
  expect(await countsOf(service, 'a')).toEqual({ accepted: 1 })
  expect(await countsOf(service, 'b')).toEqual({ accepted: 1, 'disposable-domain': 1, stamp: 1 })
})

test.each([
  ['SPAM_FILTER', 'block'],
  ['SPAM_DOMAINS', 'https://spam.example'],
  ['SPAM_DOMAINS', '*.spam.example'],
  ['SPAM_DOMAINS', 'spam'],
])('%s=%s is refused with its name', async (name, value) => {
  const refused: unknown = await bootService({ env: { [name]: value } }).catch(
    (error: unknown) => error,
  )
  expect((refused as ConfigError).problems).toMatchObject([{ setting: name }])
})
