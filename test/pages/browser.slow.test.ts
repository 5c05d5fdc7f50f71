// @module-tag slow
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems, openPage, startBrowser } from '../../harness/browser.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

let browser: Browser
let plain: RunningService
let branded: RunningService

beforeAll(async () => {
  ;[browser, plain, branded] = await Promise.all([
    startBrowser(),
    startService(),
    startService({
      env: {
        PAGE_TITLE: 'The letter',
        PAGE_TEXT: 'One short mail a month.',
        PAGE_BUTTON: 'Count me in',
        PAGE_ACCENT: '#ffd000',
        PAGE_CONSENT: 'I have read the [privacy policy](https://example.com/privacy).',
        PAGE_NAME: 'optional',
      },
    }),
  ])
})

afterAll(async () => {
  await browser.close()
  await Promise.all([plain.stop(), branded.stop()])
})

const open = (service: RunningService, path: string, options?: BrowserContextOptions) =>
  openPage(browser, service.url + path, options)

const rows = (service: RunningService, tab: string) =>
  readTab(join(service.folder, 'data'), `${tab}.csv`).slice(1)

const email = (page: Page) => page.getByLabel('Email address')
const signUp = (page: Page) => page.getByRole('button', { name: 'Sign up' }).click()

/** Turns the browser's own check off, which would not send a wrong form. */
const withoutItsOwnCheck = (page: Page) =>
  page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))

const ways = [
  { way: 'without JavaScript', javaScriptEnabled: false },
  { way: 'with JavaScript', javaScriptEnabled: true },
]

describe.each(ways)('$way', ({ javaScriptEnabled }) => {
  const tab = javaScriptEnabled ? 'Scripted' : 'Plain'

  test('after a signup the visitor is redirected to the place that the link names', async () => {
    await using opened = await open(plain, '/?redirect=/api/health?a=1%26b=2', {
      javaScriptEnabled,
    })
    const { page } = opened
    await email(page).fill('ada@example.com')
    await signUp(page)
    await page.waitForURL(`${plain.url}/api/health?a=1&b=2`)
    expect(opened.complaints).toEqual([])
  })

  test('a visitor needs no mouse', async () => {
    await using opened = await open(branded, `/?tab=${tab}-keys`, { javaScriptEnabled })
    const { page } = opened
    const { keyboard } = page
    await keyboard.press('Tab')
    await keyboard.type('ada@example.com')
    await keyboard.press('Tab')
    await keyboard.type('Ada')
    await keyboard.press('Tab')
    await keyboard.press('Space')
    // Past the link in the consent.
    await keyboard.press('Tab')
    await keyboard.press('Tab')
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent.trim()))
      .toBe('Count me in')
    const ring = await page.locator(':focus').evaluate((it) => getComputedStyle(it).outlineStyle)
    expect(ring).toBe('solid')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Thank you' }).waitFor()
    await expect.poll(() => rows(branded, `${tab}-keys`).map((row) => row[3])).toEqual(['Ada'])
  })
})

describe('a page works under its own policy', () => {
  test.each(['/', '/api/signup/form'])('on %s', async (path) => {
    await using opened = await open(branded, `${path}?tab=Policy`)
    const { page, complaints } = opened
    const button = page.getByRole('button', { name: 'Count me in' })
    expect(await button.evaluate((it) => getComputedStyle(it).backgroundColor)).toBe(
      'rgb(255, 208, 0)',
    )
    await email(page).fill('ada@gmial.com')
    await page.getByRole('button', { name: 'Did you mean ada@gmail.com?' }).click()
    await page.getByRole('checkbox').check()
    await button.click()
    await page.getByRole('heading', { name: 'Thank you' }).waitFor()
    expect(complaints).toEqual([])
  })
})

test('the script takes over a page that shows an error, and the error goes away with the next try', async () => {
  await using opened = await open(plain, '/?tab=Old', { javaScriptEnabled: true })
  const { page } = opened
  await page.route('**/assets/page.js', (route) => route.abort())
  await page.reload()
  await email(page).fill('ada@nowhere')
  await withoutItsOwnCheck(page)
  await signUp(page)
  await page.getByText('That did not work yet').waitFor()
  // The next answer comes with the script.
  await page.unroute('**/assets/page.js')
  await page.route('**/api/signup?*', async (route) => {
    if (route.request().resourceType() === 'fetch') await new Promise(() => {})
    else await route.continue()
  })
  const answered = page.waitForResponse('**/assets/page.js')
  await signUp(page)
  await answered
  await page.waitForLoadState()
  await page.getByText('That did not work yet').waitFor()
  await email(page).fill('ada@example.com')
  await signUp(page)
  await page.getByText('Signing you up…').waitFor()
  expect(await page.getByText('That did not work yet').count()).toBe(0)
  expect(await accessibilityProblems(page, true)).toEqual([])
})

describe.each(['light', 'dark'] as const)('in the %s theme axe finds no problem', (colorScheme) => {
  test.each([
    ['the hosted page', '/'],
    ['the bare form', '/api/signup/form?theme=auto'],
    ['the bare form that is always light', '/api/signup/form'],
    ['the thank-you page', '/api/signup/thanks'],
    ['the bare thank-you page', '/api/signup/thanks?page=form&theme=auto'],
    ['the page of a wrong address', '/nothing'],
    ['the page of a wrong link', `/?source=${'x'.repeat(300)}`],
  ])('on %s', async (_, path) => {
    const isBare = path.includes('form')
    const isDark = colorScheme === 'dark' && !path.endsWith('/form')
    for (const service of [plain, branded]) {
      await using opened = await open(service, path, { colorScheme })
      const { page } = opened
      const color = await page.evaluate(() => getComputedStyle(document.body).color)
      expect(color).toBe(isDark ? 'rgb(233, 237, 242)' : 'rgb(27, 36, 48)')
      if (isBare && isDark) await putOnDark(page)
      expect(await accessibilityProblems(page, !isBare)).toEqual([])
    }
  })
})

/** Puts a dark page behind the bare form, as axe cannot see the page around a frame. */
const putOnDark = (page: Page) =>
  page.evaluate(() => (document.documentElement.style.background = '#12161c'))

test('every control is at least 44 pixels high, except a checkbox inside its label', async () => {
  await using opened = await open(branded, '/?name')
  const { page } = opened
  await email(page).fill('ada@gmial.com')
  await page.getByText('Did you mean').waitFor()
  const heights = await page
    .locator('input:not([type=hidden], [type=checkbox]), button, label.choice')
    .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().height))
  expect(heights).toHaveLength(5)
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(44)
})
