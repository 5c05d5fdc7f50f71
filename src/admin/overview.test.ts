import { expect, test } from 'vitest'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteSites } from '../journal/sqlite/sqlite-journal.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { day } from '../platform/clock.ts'
import { overview, readOverview } from './overview.ts'
import { periodNamed } from './periods.ts'

const now = Date.UTC(2026, 10, 20, 12)

type Overview = Parameters<typeof overview>[0]

/** The words of the overview of a journal with these signups, without marks and tables. */
async function overviewOf(
  ages: readonly number[],
  { confirms = false, source = 'ad', change = (data: Overview) => data } = {},
) {
  await using folder = await tempFolder()
  await using journal = openSqliteSites(`${folder.path}/journal.db`, new Map([['', {}]]))
  const [site = expect.fail()] = journal.sites.values()
  const signups = ages.map((age) => makeSignup({ source, receivedAt: now - age * day }))
  await site.intake.append(signups)
  while (await journal.countNext());
  const account = { credentials: { email: '' }, quota: { perMinute: 50, perDay: 100 } }
  const test = () => Promise.reject(new Error('unasked'))
  const endpoints = [{ number: 1, host: 'hooks.example', key: '', test }]
  const common = { name: '', location: '', account, endpoints, journal: site }
  const data = await readOverview({ ...common, confirms }, now, periodNamed('7d'))
  const text = String(await overview(change(data), (state) => `/${state}`))
  return { text, words: text.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, ' ').replaceAll(/\s+/g, ' ') }
}

test('each figure stands beside that of the time before, in words', async () => {
  const { words, text } = await overviewOf([0, 0, 6, 7, 13, 14])
  expect(words).toContain('Accepted 3 2 the 7 days before')
  expect(text).toContain('aria-label="Accepted in the last 7 days: 3, and 2 the 7 days before"')
  expect(words).toContain('Waiting 6, the oldest since 2026-11-20 12:00 ')
  expect(words).toContain('Webhook 1, hooks.example no service has run with it yet')
  expect(words).toContain('Quota left 50 of 50 calls this minute, 100 of 100 in 24 hours')
  expect(words).not.toContain('onfirm')
})

test('a site whose people confirm has figures of that', async () => {
  const { words } = await overviewOf([], { confirms: true })
  expect(words).toContain('Asked to confirm 0 0 the 7 days before')
  expect(words).toContain('Tabs, 14 Nov to 20 Nov, in UTC Name Signups Share None was counted.')
})

test('tabs and sources have their part of the period, and what visitors name is text', async () => {
  const { words, text } = await overviewOf([0, 1, 8], { source: '<b>&"' })
  expect(words).toContain('Tabs, 14 Nov to 20 Nov, in UTC Name Signups Share Sheet1 2 100 %')
  expect(text).toContain('&lt;b&gt;&amp;&quot;')
  expect((await overviewOf([0], { source: '' })).words).toContain('No source 1 100 %')
  expect((await overviewOf([0], { source: 'a@b.c' })).words).toContain('All others 1 100 %')
})

test('other sources stand last, however many they are', async () => {
  const share = (name: string | undefined, count: number) =>
    ({ kind: 'source', name, count }) as const
  const change = (data: Overview) => ({ ...data, shares: [share(undefined, 400), share('ad', 3)] })
  const { words } = await overviewOf([], { change })
  expect(words).toContain('ad 3 under 1 % All others 400 99 %')
})
