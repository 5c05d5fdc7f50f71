// @module-tag slow

import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { shareService } from '../../harness/shared-service.ts'
import { pageTexts, problemText } from '../../src/pages/texts.ts'
import { type Language } from '../../src/signup/languages.ts'

const own = { title: 'The course', text: 'Six evenings.', closed: 'See you in spring.' }
const seats = { after: 1 }
const waiting = { after: 1, overflowTab: 'Waiting' }

const shared = shareService({
  env: {
    ALLOWED_ORIGINS: '*',
    PAGE_NAME: 'optional',
    ROLLCALL_CONFIG: JSON.stringify({
      sites: {
        // Each test that fills a list has its own.
        ...{ embed: { closing: seats }, page: { closing: seats, page: own } },
        mine: { closing: waiting },
        ...{ 'embed-waiting': { closing: waiting }, 'page-waiting': { closing: waiting } },
        full: { closing: waiting, page: { title: own.title, text: own.text } },
        closed: { closing: { at: '2026-01-01T00:00:00Z' }, page: { title: own.title } },
      },
    }),
  },
})

const tag = (site: string, more = '') =>
  `<script src="%s/embed.js?site=${site}" data-name ${more}></script>`

const wordsIn = (language: Language) => ({
  closed: problemText(pageTexts[language], 'closed').heading,
  full: pageTexts[language].closing.overflowText,
})
const { closed } = wordsIn('en')
const placed = pageTexts.en.closing.waitingText

/** Somebody else takes the last seat. */
async function fill(site: string): Promise<void> {
  const answer = await postSignup(shared.service.url, { site, email: 'first@example.com' })
  expect(answer.status).toBe(202)
}

async function type(page: Page): Promise<void> {
  await page.locator('[name=name]').fill('Ada')
  await page.locator('[name=email]').fill('ada@example.com')
}

/** Opens the form of a site in a page of somebody else, or its own page. */
function openAs(kind: string, site: string) {
  return kind === 'embed' ? shared.open({ body: tag(site) }) : shared.visit(`/?site=${site}`)
}

describe('when the last seat goes while somebody types', () => {
  test.each([
    ['embed', closed],
    ['page', own.closed],
  ])('the %s says that signups are closed, and keeps what was typed', async (kind, words) => {
    await using opened = await openAs(kind, kind)
    const { page } = opened
    await type(page)
    await fill(kind)
    await page.keyboard.press('Enter')
    await page.locator('.rollcall-alert').getByText(words).waitFor()
    expect(await page.locator('[name=name]').inputValue()).toBe('Ada')
    expect(await page.locator('[name=email]').inputValue()).toBe('ada@example.com')
    expect(await accessibilityProblems(page, kind === 'page')).toEqual([])
    // Chromium itself tells of an answer that is an error.
    expect(opened.complaints.filter((it) => !it.includes('status of 410'))).toEqual([])
  })

  test.each(['embed', 'page'])('the %s gives a place on the waiting list', async (kind) => {
    const site = `${kind}-waiting`
    await using opened = await openAs(kind, site)
    const { page } = opened
    await type(page)
    await fill(site)
    await page.keyboard.press('Enter')
    await page.locator('.rollcall-done').getByText(placed).waitFor()
    expect(await page.getByText('Thank you').count()).toBe(0)
    expect(await accessibilityProblems(page, kind === 'page')).toEqual([])
    expect(opened.complaints).toEqual([])
  })
})

test.each(['embed', 'page'])('the %s offers no place to who has one', async (kind) => {
  await fill('full')
  await using opened =
    kind === 'embed' ? await shared.open({ body: tag('full') }) : await shared.visit('/?site=full')
  const { page } = opened
  await page.locator('.notice').waitFor()
  await type(page)
  await page.keyboard.press('Enter')
  await page.locator('.rollcall-done').getByText(placed).waitFor()
  await page.locator('.notice').waitFor({ state: 'hidden' })
})

describe('a German form of somebody’s own, in an English browser,', () => {
  const form = (site: string) => `<form lang="de" method="post" action="%s/api/signup?site=${site}">
      <label>E-Mail <input type="email" name="email" /></label><button>Los</button>
    </form>
    <script src="%s/embed.js?site=${site}"></script>
    <script>Rollcall.enhance(document.querySelector('form'), { redirect: '/seated' })</script>`
  const german = wordsIn('de')

  test('tells at the first focus that signups are closed', async () => {
    await using host = await shared.open({ body: form('closed') })
    await host.page.getByLabel('E-Mail').focus()
    await host.page.locator('form .rollcall-alert').getByText(german.closed).waitFor()
    expect(host.complaints).toEqual([])
  })

  test('tells of the waiting list, and sends nobody who waits to the page for people with a seat', async () => {
    await fill('mine')
    await using host = await shared.open({ body: form('mine') })
    const { page } = host
    await page.getByLabel('E-Mail').focus()
    await page.locator('form .rollcall-status').getByText(german.full).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.type('ada@example.com')
    const address = page.url()
    await page.keyboard.press('Enter')
    await page.locator('.rollcall-done').getByText(pageTexts.de.closing.waitingText).waitFor()
    expect(page.url()).toBe(address)
    expect(host.complaints).toEqual([])
  })
})

const phone = { viewport: { width: 360, height: 640 } }
const desk = { viewport: { width: 1000, height: 700 } }
const looks: readonly (readonly [string, Language, BrowserContextOptions])[] = [
  ['light on a desk', 'en', { ...desk, colorScheme: 'light' }],
  ['dark on a phone', 'en', { ...phone, colorScheme: 'dark' }],
  ['from right to left', 'ar', { ...phone, colorScheme: 'light' }],
]

describe.each(['full', 'closed'] as const)('a list that is %s', (site) => {
  test.each(looks)('says so in the embed and on the page, %s', async (...look) => {
    const [, language, context] = look
    if (site === 'full') await postSignup(shared.service.url, { site, email: 'a@example.com' })
    const words = wordsIn(language)[site]
    const data = `data-language="${language}" data-theme="${context.colorScheme}"`
    for (const kind of ['embed', 'page']) {
      await using opened =
        kind === 'embed'
          ? await shared.open({ body: tag(site, data), context })
          : await shared.visit(`/?site=${site}&language=${language}`, context)
      const { page, complaints } = opened
      await page.getByText(words).waitFor()
      expect(await page.locator('[name=email]').count()).toBe(site === 'full' ? 1 : 0)
      expect(await accessibilityProblems(page, kind === 'page')).toEqual([])
      const isWide = () => document.documentElement.scrollWidth > innerWidth
      expect(await page.evaluate(isWide)).toBe(false)
      expect(complaints).toEqual([])
    }
  })
})
