import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectSecured } from '../../harness/expect-secured.ts'
import { type MailLink, mailLink } from '../../harness/mail-links.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const metricsToken = 'a-token-of-this-test'

/** As they look at the links of mails. */
const scanners = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36 Edg/125.0.0.0 SafeLinks',
  'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
  'Mozilla/5.0 (compatible; Proofpoint URL Defense)',
  'BarracudaCentral/1.0 (Link Protection)',
  'Mimecast URL Protect',
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
  'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Cisco-IronPort/ESA URL scanner',
]

let service: BootedService

beforeAll(async () => {
  service = await bootService({
    env: {
      ALLOWED_ORIGINS: 'https://www.example.com',
      PAGE_TITLE: 'The letter',
      LOG_LEVEL: 'trace',
      METRICS_TOKEN: metricsToken,
    },
  })
})

afterAll(() => service.stop())

const dataDir = (of = service) => join(of.folder, 'data')
const linkTo = (tab: string, kind: 'confirm' | 'welcome' = 'confirm') =>
  mailLink(dataDir(), kind, { email: `${tab.toLowerCase()}@example.com`, sheetTab: tab })

function rowsOf(tab: string): string[][] {
  return readTab(dataDir(), `${tab}.csv`).slice(1)
}

type Headers = Readonly<Record<string, string>>

const get = ({ path }: Pick<MailLink, 'path'>, headers: Headers = {}, method = 'GET') =>
  fetch(service.url + path, { method, headers: { accept, ...headers } })

const post = ({ path }: Pick<MailLink, 'path'>, fields: Headers, headers: Headers = {}) =>
  fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept, origin: service.url, ...headers },
    body: new URLSearchParams(fields),
  })

const buttonsIn = async (answer: Response) =>
  Array.from((await answer.text()).matchAll(/<button [^>]*value="(\w+)"/g), ([, it]) => it)

const waiting = ['confirm', 'decline']

test('no scanner confirms by HEAD and GET, and a person does afterwards, once', async () => {
  const link = await linkTo('Scanned')
  for (const agent of scanners) {
    for (const method of ['HEAD', 'GET', 'GET'])
      expect((await get(link, { 'user-agent': agent }, method)).status).toBe(200)
  }
  const page = await get(link)
  expectSecured(page)
  expect(await buttonsIn(page)).toEqual(waiting)
  for (let times = 0; times < 3; times++) {
    const answer = await post(link, { decision: 'confirm' })
    expect([answer.status, (await answer.text()).includes('<h1>Thank you</h1>')]).toEqual([
      200,
      true,
    ])
  }
  await expect.poll(() => rowsOf('Scanned')).toHaveLength(1)
  expect(rowsOf('Scanned')[0]).toContain('scanned@example.com')
})

test('who leaves after retention is told that the row stays, and the log warns of it once', async () => {
  const link = await linkTo('Expired', 'welcome')
  await expect.poll(() => rowsOf('Expired')).toHaveLength(1)
  using database = new DatabaseSync(join(dataDir(), 'journal.db'))
  database.exec(`UPDATE signup SET email = '', person = NULL WHERE email LIKE 'expired@%';
    UPDATE message SET email = '' WHERE email LIKE 'expired@%'`)
  for (let times = 0; times < 2; times++) {
    const left = await (await post(link, { decision: 'leave' })).text()
    expect(left).toContain('Please ask whoever runs it to remove that row.')
  }
  expect(rowsOf('Expired')).toHaveLength(1)
  const told = () => service.output().split('their row stays in the spreadsheet').length - 1
  await expect.poll(told).toBe(1)
  expect(service.output()).not.toContain('expired@')
})

test('a token works for its own purpose only, and a wrong one is a page that says what to do', async () => {
  const { token } = await linkTo('Purposes')
  const wrong = [
    `/leave/${token}`,
    `/confirm/${token}x`,
    '/confirm/x',
    `/confirm/${'x'.repeat(44)}`,
  ]
  for (const path of wrong) {
    for (const answer of [await get({ path }), await post({ path }, { decision: 'confirm' })]) {
      expect(answer.status).toBe(404)
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
      expect(await answer.text()).toContain('copy the whole link, or sign up once more')
    }
  }
})

test('a link whose signup has expired says so, however it is used', async () => {
  const now = Date.now() - 8 * 24 * 60 * 60_000
  const fields = { email: 'late@example.com', receivedAt: now }
  const link = await mailLink(dataDir(), 'confirm', fields, { now })
  expect((await get(link)).status).toBe(404)
  expect(await (await post(link, { decision: 'confirm' })).text()).toContain('too old')
})

describe('several sites', () => {
  test('a link of a site that is gone says so, and one of another site does not work', async () => {
    const ROLLCALL_CONFIG = JSON.stringify({ sites: { launch: {}, shop: {} } })
    await using named = await bootService({ env: { ROLLCALL_CONFIG } })
    const fields = { email: 'ada@example.com' }
    const { path } = await mailLink(dataDir(named), 'confirm', fields, { site: 'launch' })
    const ask = (query: string, init: RequestInit = {}) =>
      fetch(named.url + path + query, { ...init, headers: { accept } })
    expect((await ask('?site=launch')).status).toBe(200)
    expect((await ask('?site=shop')).status).toBe(404)
    for (const init of [
      {},
      { method: 'POST', body: new URLSearchParams({ decision: 'confirm' }) },
    ]) {
      for (const query of ['?site=gone', '']) {
        const answer = await ask(query, init)
        expect([answer.status, answer.headers.get('x-frame-options')]).toEqual([404, 'DENY'])
        expect(await answer.text()).toContain('<h1>There is no such list any more</h1>')
      }
    }
  })
})

test(
  'while another process holds the journal, a decision gets a 503, and a wrong token costs no look into it',
  { tags: 'slow' },
  async () => {
    const link = await linkTo('Held')
    using database = new DatabaseSync(join(dataDir(), 'journal.db'))
    database.exec('BEGIN IMMEDIATE')
    const decided = post(link, { decision: 'confirm' })
    expect((await post({ path: '/confirm/x' }, { decision: 'confirm' })).status).toBe(404)
    const answer = await decided
    expect([answer.status, answer.headers.get('x-frame-options')]).toEqual([503, 'DENY'])
    expect(await answer.text()).toContain('Nothing was stored')
    database.exec('ROLLBACK')
    expect((await post(link, { decision: 'confirm' })).status).toBe(200)
  },
)

test('no token is in the log or in the metrics', async () => {
  const link = await linkTo('Logged')
  const answers = [
    await get(link),
    await get({ path: `${link.path}x` }),
    await post(link, { decision: 'confirm' }, { origin: 'https://evil.example' }),
    await post(link, { decision: 'confirm', more: 'x'.repeat(5_000) }),
    await post(link, { decision: 'confirm' }),
    await post(link, {}, { 'content-type': 'text/x-strange' }),
    await get({ path: `${link.path}/more` }),
    await get(link, {}, 'DELETE'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 413, 200, 415, 404, 405])
  for (const answer of answers.slice(1)) expect(await answer.text()).not.toContain(link.token)
  const headers = { authorization: `Bearer ${metricsToken}` }
  const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text()
  expect(metrics).toContain('route="/confirm/:token"')
  expect(service.output()).toContain('/confirm/:token')
  for (const text of [metrics, service.output()]) {
    expect(text).not.toContain(link.token)
    expect(text).not.toContain(link.token.slice(0, 22))
  }
})
