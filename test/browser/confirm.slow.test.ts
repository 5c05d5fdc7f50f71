// @module-tag slow
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { mailLink } from '../../harness/mail-links.ts'
import { shareService } from '../../harness/shared-service.ts'

const consent = 'I have read the privacy policy (https://example.com/privacy) and agree to it.'
const page = {
  title: 'The Rollcall letter',
  accent: '#0a7a4b',
  consent: 'I have read the [privacy policy](https://example.com/privacy) and agree to it.',
}
const sites = { default: { page }, next: { page: { confirmedNext: 'http://localhost:9/' } } }
const json = JSON.stringify({ sites })
const shared = shareService({ env: { ROLLCALL_CONFIG: json, LOG_LEVEL: 'warn' } })
const { visit, rows } = shared

const dataDir = () => join(shared.service.folder, 'data')
const linkTo = (tab: string, kind: 'confirm' | 'welcome' = 'confirm', site = 'default') =>
  mailLink(
    dataDir(),
    kind,
    {
      email: `${tab.toLowerCase()}@example.com`,
      sheetTab: tab,
      metadata: JSON.stringify({ consent }),
    },
    { site },
  )

const yes = (page: Page) => page.getByRole('button', { name: 'Yes, sign me up' })
const thanks = (page: Page) => page.getByRole('heading', { name: 'Thank you' }).waitFor()

/** Whether the link still waits for a decision, as the service tells. */
async function isWaiting(path: string): Promise<boolean> {
  const answer = await fetch(shared.service.url + path, { headers: { accept: 'text/html' } })
  return (await answer.text()).includes('value="confirm"')
}

test('a browser that loads the page, runs what is in it and scrolls, but does not click, confirms nothing', async () => {
  const { path } = await linkTo('Loaded')
  await using opened = await visit(path)
  const { page, complaints } = opened
  await page.waitForLoadState('networkidle')
  await page.mouse.move(200, 200)
  await page.mouse.wheel(0, 500)
  await yes(page).focus()
  await page.reload({ waitUntil: 'networkidle' })
  expect(complaints).toEqual([])
  expect(await isWaiting(path)).toBe(true)
})

describe('a page of somebody else', () => {
  const form = (path: string) => `<form method="post" action="%s${path}">
    <input name="decision" value="confirm"></form>`
  const send = '<script>document.forms[0].submit()</script>'

  test.each([
    ['on the same host', '127.0.0.1'],
    ['on another host', 'localhost'],
  ])(
    '%s that submits a form by itself confirms nothing, and the person sees the buttons',
    async (_, host) => {
      const { path } = await linkTo(`Sent-from-${host}`)
      await using opened = await shared.open({ body: form(path) })
      const { page, url } = opened
      await page.goto(url.replace('127.0.0.1', host))
      await page.evaluate(() => document.forms[0]?.submit())
      await yes(page).waitFor()
      expect(page.url()).toBe(shared.service.url + path)
      expect(await isWaiting(path)).toBe(true)
      // The person may go on from there.
      await yes(page).click()
      await thanks(page)
    },
  )

  test('cannot confirm from a frame without an origin, with fetch, or by a frame with our page', async () => {
    const { path } = await linkTo('Framed')
    const inFrame = `${form(path)}${send}`.replaceAll('"', '&quot;')
    const body = `<iframe sandbox="allow-scripts allow-forms" srcdoc="${inFrame}"></iframe>
      <iframe name="ours" src="%s${path}"></iframe>
      <script>
        const body = new URLSearchParams({ decision: 'confirm' })
        const sent = () => (document.title = 'sent')
        fetch('%s${path}', { method: 'POST', mode: 'no-cors', body }).then(sent, sent)
      </script>`
    await using opened = await shared.open({ body })
    await opened.page.waitForFunction(() => document.title === 'sent')
    await opened.page.waitForLoadState('networkidle')
    expect(await opened.page.frame('ours')?.locator('button').count()).toBe(0)
    expect(await isWaiting(path)).toBe(true)
  })
})

const ways: readonly [string, (page: Page) => Promise<unknown>, BrowserContextOptions?][] = [
  ['the mouse', (page) => yes(page).click()],
  ['the mouse, without JavaScript', (page) => yes(page).click(), { javaScriptEnabled: false }],
  ['a finger', (page) => yes(page).tap(), { hasTouch: true }],
  [
    'the keyboard',
    async ({ keyboard }) => {
      // Past the link in the wording.
      for (const key of ['Tab', 'Tab', 'Enter']) await keyboard.press(key)
    },
  ],
  [
    'the keyboard, without JavaScript',
    async ({ keyboard }) => {
      for (const key of ['Tab', 'Tab', 'Space']) await keyboard.press(key)
    },
    { javaScriptEnabled: false },
  ],
  [
    'a click without pointer events, as of a screen reader',
    (page) => yes(page).evaluate((button: HTMLElement) => button.click()),
  ],
]

test.each(ways)(
  'a person confirms with %s, and is on the list once',
  async (way, decide, options) => {
    const tab = `By-${ways.findIndex(([it]) => it === way)}`
    const { path } = await linkTo(tab)
    await using opened = await visit(path, options)
    await decide(opened.page)
    await thanks(opened.page)
    await opened.page.reload()
    await thanks(opened.page)
    await expect.poll(() => rows(tab)).toHaveLength(1)
    expect(opened.complaints).toEqual([])
  },
)

test('after the confirmation the browser goes on to the page of the site, on another origin', async () => {
  const { path } = await linkTo('Onward', 'confirm', 'next')
  await using opened = await visit(`${path}?site=next`)
  const { page } = opened
  await page.route('http://localhost:9/', (route) =>
    route.fulfill({ body: 'The page of the site' }),
  )
  await yes(page).click()
  await page.getByText('The page of the site').waitFor()
  expect(page.url()).toBe('http://localhost:9/')
})

/** All states of the pages, each with what leads there. */
const states: readonly [string, (tab: string) => Promise<string>][] = [
  ['waits', async (tab) => (await linkTo(tab)).path],
  ['is confirmed', (tab) => decided(tab, 'confirm')],
  ['is declined', (tab) => decided(tab, 'decline')],
  ['may leave', async (tab) => (await linkTo(tab, 'welcome')).path],
  ['has left', (tab) => decided(tab, 'leave', 'welcome')],
  ['is none of ours', () => Promise.resolve('/confirm/none')],
  ['is of a site that is gone', async (tab) => `${(await linkTo(tab)).path}?site=gone`],
]

async function decided(tab: string, decision: string, kind?: 'welcome'): Promise<string> {
  const { path } = await linkTo(tab, kind)
  const body = new URLSearchParams({ decision })
  await fetch(shared.service.url + path, { method: 'POST', body })
  return path
}

const looks: readonly [string, BrowserContextOptions][] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['on a phone', { viewport: { width: 320, height: 640 }, locale: 'de-DE', colorScheme: 'dark' }],
  ['from right to left', { viewport: { width: 390, height: 844 }, locale: 'ar' }],
]

describe.each(states)('a link that %s', (state, lead) => {
  test.each(looks)('has a page that all can use, %s', async (look, options) => {
    const tab = `Look-${states.findIndex(([it]) => it === state)}-${looks.findIndex(([it]) => it === look)}`
    await using opened = await visit(await lead(tab), options)
    const { page } = opened
    expect(await accessibilityProblems(page, true)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    const direction = await page.evaluate(() => getComputedStyle(document.body).direction)
    expect(direction).toBe(look === 'from right to left' ? 'rtl' : 'ltr')
    for (const button of await page.getByRole('button').all()) {
      expect(await button.isEnabled()).toBe(true)
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
      await button.hover()
      expect(await accessibilityProblems(page, true)).toEqual([])
    }
  })
})
