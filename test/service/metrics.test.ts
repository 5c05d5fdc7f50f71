import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import { patienceMs } from '../../harness/patience.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { metricsText, readMetrics, valuesIn, withMetrics } from '../../harness/read-metrics.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import { endpointKeyOf } from '../../src/outbox/webhook/endpoint.ts'

/** Every metric of ours with its type and labels. */
const contract = [
  'rollcall_batch_rows histogram',
  'rollcall_challenge_duration_seconds histogram',
  'rollcall_challenge_verdicts_total counter verdict',
  'rollcall_commit_duration_seconds histogram',
  'rollcall_commit_signups histogram',
  'rollcall_delivery_last_success_timestamp_seconds gauge site',
  'rollcall_delivery_state gauge site,state',
  'rollcall_http_request_duration_seconds histogram route,method,status',
  'rollcall_mails_total counter site,kind,outcome',
  'rollcall_messages_waiting gauge site,kind',
  'rollcall_oldest_pending_age_seconds gauge site',
  'rollcall_pending_confirmations gauge site',
  'rollcall_pending_signups gauge site',
  'rollcall_provider_calls_total counter outcome',
  'rollcall_quota_remaining gauge window',
  'rollcall_replays_total counter',
  'rollcall_signups_accepted_total counter site',
  'rollcall_signups_duplicate_total counter',
  'rollcall_signups_refused_total counter reason',
  'rollcall_signups_unconfirmed_total counter site',
  'rollcall_suspect_signups_total counter site,signal',
  'rollcall_webhook_backlog gauge',
  'rollcall_webhook_messages_total counter site,outcome',
  'rollcall_webhook_oldest_seconds gauge',
]

test('what happened is counted under the names of the contract, and no word of a client is a label', async () => {
  await using google = await createGoogleWorld()
  await using challenge = await createChallengeWorld()
  const env = { ...google.env, ...challenge.env, ...withMetrics, DUPLICATES: 'ignore' }
  await using service = await bootService({ env })
  const { url } = service
  const signUp = (more: object, headers = {}) =>
    postSignup(url, { challengeToken: challenge.token(), ...more }, headers)
  const key = { 'idempotency-key': 'odd-key' }
  await signUp({ email: 'odd-ada@example.com', sheetTab: 'odd-tab' })
  await signUp({ email: 'odd-ada@example.com', sheetTab: 'odd-tab' })
  await signUp({ email: 'odd-bob@example.com', metadata: { 'odd-key': 1 } }, key)
  await signUp({ email: 'odd-bob@example.com', metadata: { 'odd-key': 1 } }, key)
  await signUp({ email: 'odd' })
  await signUp({ email: 'odd-cy@example.com', challengeToken: 'odd-token' })
  const item = (email: string) => ({ email, sheetTab: 'odd-tab' })
  const bulk = (headers: Readonly<Record<string, string>>, ...emails: string[]) =>
    postBulk(url, { signups: emails.map(item), challengeToken: challenge.token() }, headers)
  for (let at = 0; at < 2; at += 1) {
    await bulk({ 'idempotency-key': 'odd-two' }, 'odd-di@example.com', 'odd', 'odd-ed@example.com')
  }
  await bulk({}, 'odd', 'odder')
  await fetch(`${url}/odd-path?odd=odd@example.com`, { headers: { origin: 'https://odd.example' } })
  await fetch(`${url}/api/signup?site=odd`, { method: 'PROPFIND' })
  await fetch(`${url}/api/signup/odd-id`)

  // Counted right after its commit, with which nothing is pending any more.
  const written = async () => valuesIn(await metricsText(url)).get('rollcall_batch_rows_sum')
  await expect.poll(written, { timeout: patienceMs }).toBe(4)
  const text = await metricsText(url)
  const values = valuesIn(text)
  const counted = [...values].filter(
    ([name, value]) => value > 0 && /^rollcall\w+_total/.test(name),
  )
  const calls = google.emulator.counters.reads + google.emulator.counters.writes
  expect(Object.fromEntries(counted)).toEqual({
    'rollcall_signups_accepted_total{site="default"}': 5,
    rollcall_signups_duplicate_total: 1,
    rollcall_replays_total: 2,
    'rollcall_signups_refused_total{reason="fields"}': 1,
    'rollcall_signups_refused_total{reason="challenge"}': 1,
    'rollcall_signups_refused_total{reason="bulk"}': 3,
    'rollcall_challenge_verdicts_total{verdict="passed"}': 4,
    'rollcall_challenge_verdicts_total{verdict="rejected"}': 1,
    'rollcall_provider_calls_total{outcome="ok"}': calls,
  })
  const requests = (labels: string) =>
    values.get(`rollcall_http_request_duration_seconds_count{${labels}}`)
  expect({
    stored: values.get('rollcall_commit_signups_sum'),
    rows: values.get('rollcall_batch_rows_sum'),
    asked: values.get('rollcall_challenge_duration_seconds_count'),
    left: values.get('rollcall_quota_remaining{window="day"}'),
    signups: requests('route="/api/signup",method="POST",status="202"'),
    unknownPath: requests('route="other",method="GET",status="404"'),
    unknownMethod: requests('route="/api/signup",method="other",status="405"'),
  }).toEqual({
    ...{ stored: 5, rows: 4, asked: 5, left: 10_000 - calls },
    ...{ signups: 4, unknownPath: 1, unknownMethod: 1 },
  })
  const lastSuccess = values.get('rollcall_delivery_last_success_timestamp_seconds{site="default"}')
  expect(Math.abs(Date.now() / 1000 - (lastSuccess ?? 0))).toBeLessThan(patienceMs / 1000)
  expect(described(text).sort()).toEqual(contract)
  expect([...values.keys()]).toEqual(
    expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']),
  )
  expect(text).not.toMatch(/odd|example|127\.0\.0\.1/i)
})

test('what waits for a webhook shows, by site and without its host', async () => {
  await using data = await tempFolder()
  const url = 'http://127.0.0.1:9/very-secret'
  const file = join(data.path, 'journal.db')
  {
    await using journal = openSqliteJournal(file)
    await journal.webhooks.follow([endpointKeyOf(url)], Date.now())
    await journal.intake.append(makeSignups(3))
  }
  const env = { ...withMetrics, WEBHOOK_URL: url, WEBHOOK_SECRET: `whsec_${'k'.repeat(32)}` }
  await using service = await bootService({ env, dataDir: data.path })
  const text = await metricsText(service.url)
  const values = valuesIn(text)
  expect(values.get('rollcall_webhook_backlog{site="default"}')).toBe(3)
  expect(values.get('rollcall_webhook_oldest_seconds{site="default"}')).toBeGreaterThan(0)
  expect(text).not.toMatch(/very-secret|127\.0\.0\.1/)
})

test('signups of other processes show, of each site, and a service without a token has no metrics', async () => {
  await using google = await createGoogleWorld()
  google.emulator.spreadsheet(google.spreadsheetId).share(google.email, 'none')
  const other = google.emulator.createSpreadsheet()
  const sites = { news: { spreadsheet: google.spreadsheetId }, shop: { spreadsheet: other.id } }
  const env = { ...google.env, ...withMetrics, ROLLCALL_CONFIG: JSON.stringify({ sites }) }
  await using service = await bootService({ env })
  const file = join(service.folder, 'data', 'journal.db')
  {
    const policies = new Map([['news', {}]])
    await using beside = openSqliteSites(file, policies, { access: 'beside' })
    const news = beside.sites.get('news')?.intake
    await news?.append(makeSignups(3))
    await news?.ask(makeSignups(2), { addressing: { share: '', language: 'en' } })
  }
  expect((await postSignup(service.url, { email: 'ada@example.com', site: 'shop' })).status).toBe(
    202,
  )
  const values = await readMetrics(service.url)
  expect(values.get('rollcall_pending_signups{site="news"}')).toBe(3)
  expect(values.get('rollcall_pending_signups{site="shop"}')).toBe(1)
  expect(values.get('rollcall_pending_confirmations{site="news"}')).toBe(2)
  expect(values.get('rollcall_pending_confirmations{site="shop"}')).toBe(0)
  expect(values.get('rollcall_signups_accepted_total{site="news"}')).toBe(0)
  expect(values.get('rollcall_signups_accepted_total{site="shop"}')).toBe(1)
  expect(values.get('rollcall_commit_signups_sum')).toBe(1)
  expect(values.get('rollcall_commit_duration_seconds_sum')).toBeGreaterThan(0)
  expect(values.get('rollcall_oldest_pending_age_seconds{site="news"}')).toBeGreaterThan(0)
  expect(values.get('rollcall_delivery_last_success_timestamp_seconds{site="news"}')).toBe(0)
  const refused = 'rollcall_provider_calls_total{outcome="refused"}'
  await expect.poll(async () => (await readMetrics(service.url)).get(refused)).toBeGreaterThan(1)

  const answers = async (url: string) =>
    Promise.all(
      [
        fetch(`${url}/metrics`),
        fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${'x'.repeat(31)}` } }),
        fetch(`${url}/metrics`, {
          method: 'HEAD',
          headers: { authorization: `Bearer ${withMetrics.METRICS_TOKEN}` },
        }),
        fetch(`${url}/metrics`, { method: 'POST' }),
      ].map(async (asked) => {
        const { status, headers } = await asked
        const detail = ['www-authenticate', 'allow', 'content-type'].map((it) => headers.get(it))
        return [status, detail.find((it) => it !== null)]
      }),
    )
  const allow = 'GET, HEAD, OPTIONS'
  expect(await answers(service.url)).toEqual([
    [401, 'Bearer'],
    [401, 'Bearer'],
    [200, 'text/plain; version=0.0.4; charset=utf-8'],
    [405, allow],
  ])
  await using without = await bootService()
  expect((await answers(without.url)).map(([status]) => status)).toEqual([404, 404, 404, 404])
})

/** Each metric that is not of the process or of Node, with its type and its labels. */
function described(text: string): string[] {
  const blocks = text.split('\n\n').filter((block) => !/^# HELP (process|nodejs)_/.test(block))
  return blocks.map((block) => {
    const [, name, type] = /# TYPE (\S+) (\S+)/.exec(block) ?? []
    const names = Array.from(block.matchAll(/[{,](\w+)="/g), ([, label]) => label)
    const labels = [...new Set(names)].filter((label) => label !== 'le')
    return [name, type, labels.join()].filter(Boolean).join(' ')
  })
}
