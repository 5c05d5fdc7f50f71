import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { htmlProblems } from '../../harness/html-problems.ts'
import { type MailLink, mailLink } from '../../harness/mail-links.ts'
import { confirming } from '../../harness/pending-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import type { ConfigAnswer, KnownForm, Problem } from '../../src/signup/wire.ts'

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const past = '2026-01-01T00:00:00Z'
const own = { overflow: 'Full! Wait with us.', closed: { en: 'See you in spring.' } }

const sites = {
  waiting: { closing: { after: 1, overflowTab: 'Waiting' } },
  seats: { closing: { after: 1 } },
  own: { closing: { after: 1, overflowTab: 'Waiting' }, page: { ...own, thanks: 'See you!' } },
  over: { closing: { at: past } },
  'own-over': { closing: { at: past }, page: { title: 'The course', ...own } },
  never: {},
}

let service: BootedService

beforeAll(async () => {
  service = await bootService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })
  for (const site of ['waiting', 'seats', 'own']) {
    const answer = await postSignup(service.url, { site, email: 'first@example.com' })
    expect(await answer.json()).not.toHaveProperty('overflow')
  }
})

afterAll(() => service.stop())

const get = (path: string, headers = {}) =>
  fetch(service.url + path, { headers: { accept, ...headers } })

const post = (path: string, fields: Readonly<Record<string, string>>, headers = {}) =>
  fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept, ...headers },
    body: new URLSearchParams(fields),
  })

const typed = { email: 'ada@example.com', name: 'Ada' }

/** What the service tells of a site by now. */
async function config(site: string, language = 'en'): Promise<Partial<ConfigAnswer>> {
  const answer = await get(`/api/config?site=${site}&language=${language}`)
  const { open, overflow, notice, closesAt } = (await answer.json()) as ConfigAnswer
  return { open, overflow, closesAt, ...(notice !== undefined && { notice }) }
}

test('the settings for forms tell whether a list is open, and what to show when it is not', async () => {
  const open = { open: true, overflow: false, closesAt: null }
  expect(await config('never')).toEqual(open)
  await expect
    .poll(() => config('waiting'))
    .toEqual({
      ...open,
      overflow: true,
      notice: 'All places are taken. You can join the waiting list.',
    })
  const closed = { open: false, overflow: false, closesAt: null }
  await expect.poll(() => config('seats')).toEqual({ ...closed, notice: 'Signups are closed' })
  const ended = { ...closed, closesAt: '2026-01-01T00:00:00.000Z' }
  const german = { ...ended, notice: 'Die Anmeldung ist geschlossen' }
  expect(await config('over', 'de')).toEqual(german)
  expect(await config('own-over')).toEqual({ ...ended, notice: own.closed.en })
})

describe('when all seats are taken', () => {
  test('the page says so above its form, and thanks for a place on the waiting list', async () => {
    const page = () => get('/?site=waiting').then((it) => it.text())
    await expect.poll(page).toContain('You can join the waiting list.')
    expect(await htmlProblems(await page())).toEqual([])
    const sent = await post('/api/signup?site=waiting&page=hosted', typed)
    expect(sent.status).toBe(303)
    const location = sent.headers.get('location') ?? ''
    expect(location).toBe('../api/signup/thanks?site=waiting&page=hosted&waiting')
    const thanks = await (await get(location.slice(2))).text()
    expect(thanks).toContain('Your place is on the waiting list.')
    const waiting = () => addressesIn(join(service.folder, 'data'), 'waiting/Waiting.csv')
    await expect.poll(waiting).toEqual([typed.email])
  })

  test('the words and the thanks of the site are for the right people', async () => {
    const page = () => get('/api/signup/form?site=own').then((it) => it.text())
    await expect.poll(page).toContain(own.overflow)
    const thanks = await (await get('/api/signup/thanks?site=own&page=form&waiting')).text()
    expect(thanks).not.toContain('See you!')
  })

  test('a list without a waiting list gives back what was typed, and says that it is closed', async () => {
    const refused = await post('/api/signup?site=seats&page=hosted&name=optional', typed)
    expect(refused.status).toBe(410)
    const page = await refused.text()
    expect(await htmlProblems(page)).toEqual([])
    expect(page).toMatch(/role="alert"[^]*Signups are closed[^]*Nothing was stored\./)
    for (const value of Object.values(typed)) expect(page).toContain(`value="${value}"`)
    await expect.poll(() => get('/?site=seats').then((it) => it.text())).not.toContain('<form')
  })
})

describe('after the end', () => {
  test.each(['/', '/api/signup/form'])('%s has words in the place of the form', async (path) => {
    for (const [site, words] of [
      ['over', 'Signups are closed'],
      ['own-over', own.closed.en],
    ]) {
      const answer = await get(`${path}?site=${site}`)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      const page = await answer.text()
      expect(await htmlProblems(page)).toEqual([])
      expect(page).toContain(words)
      expect(page).not.toContain('<form')
    }
  })

  test('a program reads the words for visitors in their language', async () => {
    const headers = { accept: 'application/json', 'accept-language': 'fr' }
    const refused = await post('/api/signup?site=over', typed, headers)
    const { type, notice } = (await refused.json()) as Problem
    expect([refused.status, type, notice]).toEqual([
      ...[410, '/problems/closed', 'Les inscriptions sont closes'],
    ])
    const ofSite = await post('/api/signup?site=own-over', typed, headers)
    expect(await ofSite.json()).toMatchObject({ notice: own.closed.en })
  })
})

test('who confirms after the last seat has gone reads where the signup went, however often', async () => {
  const env = { ...confirming, CLOSES_AFTER: '1', OVERFLOW_TAB: 'Waiting', PAGE_TITLE: 'A course' }
  await using mailed = await bootService({ env })
  const dataDir = join(mailed.folder, 'data')
  const [first, late] = [
    await mailLink(dataDir, 'confirm', { email: 'first@example.com' }),
    await mailLink(dataDir, 'confirm', { email: 'late@example.com' }),
  ]
  const confirm = async ({ path }: MailLink) => {
    const body = new URLSearchParams({ decision: 'confirm' })
    const headers = { accept, origin: mailed.url }
    return (await fetch(mailed.url + path, { method: 'POST', headers, body })).text()
  }
  expect(await confirm(first)).toContain('You are on the list now.')
  for (let times = 0; times < 2; times++)
    expect(await confirm(late)).toContain('Your place is on the waiting list.')
  const asked = await fetch(`${mailed.url}/api/signup?page=hosted`, {
    ...{ method: 'POST', redirect: 'manual', headers: { accept } },
    body: new URLSearchParams(typed),
  })
  const thanks = new URL(asked.headers.get('location') ?? '', `${mailed.url}/api/signup`)
  expect(await (await fetch(thanks)).text()).toMatch(
    /Please look into your mail[^]*Your place is on the waiting list\./,
  )
})

describe('the embed', () => {
  const read = async (path: string) => {
    const answer = await get(path)
    return { text: await answer.text(), cached: answer.headers.get('cache-control') ?? '' }
  }

  test('has the words at once, and browsers keep them for less than a minute', async () => {
    const { text, cached } = await read('/embed/form.json?site=own-over')
    const form = JSON.parse(text) as KnownForm
    expect(form.closed).toBe(true)
    expect(form.notice?.[2]).toEqual(own.closed)
    expect(cached).toBe('public, max-age=30')
    const script = await read('/embed.js?site=own-over')
    expect([script.cached, script.text]).toEqual([cached, expect.stringContaining(own.closed.en)])
    const full = () => read('/embed/form.json?site=waiting').then((it) => it.text)
    await expect.poll(full).toContain('You can join the waiting list.')
    expect(await full()).not.toContain('"closed":')
  })

  test('is kept for longer where a list never closes, as is what does not change', async () => {
    for (const path of ['/embed.js?site=never', '/embed/later.js?site=over'])
      expect((await read(path)).cached).toContain('max-age=600')
  })
})
