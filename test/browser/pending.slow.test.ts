// @module-tag slow

import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { confirming } from '../../harness/pending-world.ts'
import { shareService } from '../../harness/shared-service.ts'
import { type Language } from '../../src/signup/languages.ts'
import { pageTexts } from '../../src/pages/texts.ts'

const shared = shareService({ env: { ...confirming, ALLOWED_ORIGINS: '*' } })

/** What the page says of a signup that waits for its confirmation, in a language. */
function textsIn(language: Language) {
  const { pending, form } = pageTexts[language]
  const [title = '', ...lines] = pending.split('\n')
  return { title, lines, again: form.again }
}

const english = textsIn('en')

const phone = { viewport: { width: 360, height: 640 } }
const desk = { viewport: { width: 1000, height: 700 } }
const looks: readonly (readonly [string, Language, BrowserContextOptions])[] = [
  ['light on a desk', 'en', { ...desk, colorScheme: 'light' }],
  ['dark on a phone', 'en', { ...phone, colorScheme: 'dark' }],
  ['from right to left', 'ar', { ...phone, colorScheme: 'light' }],
]

const tag = (more = '') => `<script src="%s/embed.js" data-name ${more}></script>`

test.each(looks)('the embed and the page ask to look into the mail, %s', async (...look) => {
  const [, language, context] = look
  const { title, lines, again } = textsIn(language)
  for (const kind of ['embed', 'page']) {
    await using opened =
      kind === 'embed'
        ? await shared.open({
            body: tag(`data-language="${language}" data-theme="auto"`),
            context,
          })
        : await shared.visit(`/?language=${language}`, context)
    const { page } = opened
    await page.locator('input[type=email]').fill('ada@example.com')
    await page.locator('[type=submit]').click()
    const status = page.getByRole('status').filter({ hasText: title })
    await status.waitFor()
    for (const words of lines) expect(await status.innerText()).toContain(words)
    await page.getByText(again).waitFor()
    expect(page.url()).not.toContain('ada')
    expect(await accessibilityProblems(page, kind === 'page')).toEqual([])
    const isWide = () => document.documentElement.scrollWidth > innerWidth
    expect(await page.evaluate(isWide)).toBe(false)
    expect(opened.complaints).toEqual([])
  }
})

describe('the embed', () => {
  test('takes the focus to the message, and back to the form with what was typed', async () => {
    await using host = await shared.open({ body: tag() })
    const { page } = host
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('Email address').fill('ada@exampel.com')
    await page.keyboard.press('Enter')
    const done = page.locator('.rollcall-done')
    await done.getByText(english.title).waitFor()
    expect(await done.getAttribute('role')).toBe('status')
    await expect.poll(() => done.evaluate((it) => it.matches(':focus'))).toBe(true)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const email = page.getByLabel('Email address')
    await expect.poll(() => email.evaluate((it) => it.matches(':focus'))).toBe(true)
    expect(await email.inputValue()).toBe('ada@exampel.com')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada')
    expect(await done.innerText()).toBe('')
    await email.fill('ada@example.com')
    await page.keyboard.press('Enter')
    await done.getByText(english.title).waitFor()
    expect(host.complaints).toEqual([])
  })

  test('tells the page that the signup is pending, and shows texts of the page', async () => {
    const script = `<script>addEventListener('rollcall:success', (event) => {
      document.title = event.detail.status
    })</script>`
    await using host = await shared.open({ body: script + tag('data-text-pending="Look there!"') })
    const { page } = host
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByText('Look there!').waitFor()
    expect(await page.title()).toBe('pending')
    expect(host.complaints).toEqual([])
  })
})

describe('the page', () => {
  const open = (path: string, context: BrowserContextOptions) => shared.visit(path, context)

  test('brings the form back as it was sent, and sends what was corrected', async () => {
    await using opened = await open('/?tab=Beta&name=optional&language=en', desk)
    const { page, complaints } = opened
    const email = page.getByLabel('Email address')
    await page.getByLabel('Name').fill('Ada')
    await email.fill('ada@exampel.com')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: english.again }).click()
    expect(await email.inputValue()).toBe('ada@exampel.com')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada')
    await email.fill('ada@example.com')
    await page.keyboard.press('Enter')
    await page.getByText(english.title).waitFor()
    expect(complaints).toEqual([])
  })

  test('has no link to an empty form where scripts are off, and the way back keeps what was typed', async () => {
    await using opened = await open('/?tab=Beta&language=en', { ...desk, javaScriptEnabled: false })
    const { page } = opened
    await page.getByLabel('Email address').fill('ada@exampel.com')
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByRole('heading', { name: english.title }).waitFor()
    expect(await page.getByRole('link').count()).toBe(0)
    await page.goBack()
    expect(await page.getByLabel('Email address').inputValue()).toBe('ada@exampel.com')
  })
})
