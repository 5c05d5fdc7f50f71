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
  { confirms = false, source = 'ad', closing = {}, change = (data: Overview) => data } = {},
) {
  await using folder = await tempFolder()
  await using journal = openSqliteSites(`${folder.path}/journal.db`, new Map([['', { closing }]]))
  const [site = expect.fail()] = journal.sites.values()
  const signups = ages.map((age) => makeSignup({ source, receivedAt: now - age * day }))
  await site.intake.append(signups)
  while (await journal.countNext());
  const account = { credentials: { email: '' }, quota: { perMinute: 50, perDay: 100 } }
  const test = () => Promise.reject(new Error('unasked'))
  const endpoints = [{ number: 1, host: 'hooks.example', key: '', test }]
  const common = {
    name: '',
    title: '',
    columns: [],
    location: '',
    confirmationDays: 7,
    account,
    closing,
    endpoints,
    journal: site,
  }
  const data = await readOverview({ ...common, confirms }, now, periodNamed('7d'))
  const text = String(await overview(change(data), (path) => path))
  return { text, words: text.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, ' ').replaceAll(/\s+/g, ' ') }
}

test('it says how many are on the list, how many came today, and what waits, the chart beside the time before', async () => {
  const { words, text } = await overviewOf([0, 0, 6, 7, 13, 14])
  expect(words).toContain('On the list 6 Signups that count')
  expect(words).toContain('Signed up today 2 Waiting for their row 6 Held 0 Erased 0')
  expect(words).toContain('3 in these 7 days 2 in the 7 days before')
  expect(text).toContain('aria-label="Signups in the last 7 days: 3, and 2 in the 7 days before"')
  expect(words).toContain('Quota left 50 of 50 calls this minute, 100 of 100 in 24 hours')
  expect(words).not.toContain('onfirm')
  // What is zero is not as large as what is not, and leads nowhere.
  expect(text).toMatch(/<a href="\/signups"><strong>6<\/strong><\/a>/)
  expect(text).toMatch(/<dt>Held<\/dt>\s*<dd>0<\/dd>/)
})

test('the owner alone reads how many seats are taken, and what becomes of new signups', async () => {
  const closing = { after: 3, overflowTab: 'Waiting', at: now + day }
  const open = await overviewOf([0, 1], { closing })
  expect(open.words).toContain('Seats 2 of 3 taken New signups open until 2026-11-21 12:00')
  const full = await overviewOf([0, 1, 1, 2], { closing })
  expect(full.words).toContain('Seats 3 of 3 taken New signups go to the tab Waiting')
  const over = await overviewOf([], { closing: { at: now } })
  expect(over.words).toContain('New signups closed since 2026-11-20 12:00')
  expect(over.words).not.toContain('Seats')
  expect((await overviewOf([0])).words).not.toContain('New signups')
})

test('it links to a spreadsheet, and names a folder', async () => {
  const at = (location: string) => (data: Overview) => ({
    ...data,
    site: { ...data.site, location },
  })
  const url = 'http://127.0.0.1:4000/spreadsheets/d/1'
  expect((await overviewOf([], { change: at(url) })).text).toContain(`<a href="${url}">`)
  expect((await overviewOf([], { change: at('./data') })).words).toContain('Rows go to ./data')
})

test('it says how many of those that are held will be erased, and by when', async () => {
  const change = (data: Overview) => {
    const heldEnding = { signups: 3, until: '2026-12-03T00:00:00.000Z' }
    const beside = { ...data.status.beside, held: 12 }
    return { ...data, status: { ...data.status, beside, heldEnding } }
  }
  const { words } = await overviewOf([], { change })
  expect(words).toContain('Held 12 of which 3 will be erased by 2026-12-03')
})

test('a site whose people confirm tells the share of those asked who have', async () => {
  const change = (data: Overview) => {
    const beside = { ...data.status.beside, asked: 8, confirmed: 5, pending: 2, erased: 1 }
    return { ...data, status: { ...data.status, beside, onList: 4 } }
  }
  const { words } = await overviewOf([], { confirms: true, change })
  expect(words).toContain('On the list 4 ')
  expect(words).toContain('Have confirmed 63 % 5 of 8 asked')
  expect(words).toContain('Pending 2 ')
  // More than are on the list may have come today.
  expect(words).toContain('Signed up today 0 erased ones, too')
  expect(words).toContain('Tabs, 14 Nov to 20 Nov, in UTC None yet.')
})

test('what does not work stands on top, each with what to do', async () => {
  const change = (data: Overview) => {
    const { status } = data
    const since = '2026-11-20T10:00:00.000Z'
    const delivery = { state: 'blocked' as const, since, error: 'No', hint: 'Share it.' }
    const mail = {
      ...status.mail,
      state: 'failing' as const,
      since,
      error: 'The mail server refuses the login',
    }
    const webhooks = status.webhooks.map((one) => {
      return { ...one, state: 'disabled' as const, since, reason: '410' }
    })
    return { ...data, status: { ...status, delivery, mail, webhooks } }
  }
  const { words, text } = await overviewOf([0], { change })
  expect(words).toMatch(
    /^ Rows are blocked: No\. Share it\. Mails are not sent: .* Check user and password in MAIL_URL\. /,
  )
  expect(words).toMatch(
    /Webhook 1, hooks.example: disabled since 2026-11-20 10:00 : 410\. Mend its/,
  )
  expect(words.indexOf('Mend its')).toBeLessThan(words.indexOf('On the list'))
  expect(text.match(/class="alert bad"/g)).toHaveLength(3)
})

test('tabs and sources have their part of the period, and what visitors name is text', async () => {
  const { words, text } = await overviewOf([0, 1, 8], { source: '<b>&"' })
  expect(words).toContain('Tabs, 14 Nov to 20 Nov, in UTC Name Signups Share Sheet1 2 100 %')
  expect(text).toContain('&lt;b&gt;&amp;&quot;')
  expect((await overviewOf([0], { source: '' })).words).toContain('No source 1 100 %')
  expect((await overviewOf([0], { source: 'a@b.c' })).words).toContain('Other 1 100 %')
})

test('other sources stand last, however many they are', async () => {
  const share = (name: string | undefined, count: number) =>
    ({ kind: 'source', name, count }) as const
  const change = (data: Overview) => ({ ...data, shares: [share(undefined, 400), share('ad', 3)] })
  const { words } = await overviewOf([], { change })
  expect(words).toContain('ad 3 under 1 % Other 400 99 %')
})
