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

/** Axe needs scripts. The tests about axe below check these pages for visitors without scripts. */
const problemsOf = async (page: Page, javaScriptEnabled: boolean, isWhole = true) =>
  javaScriptEnabled ? accessibilityProblems(page, isWhole) : []

/** Turns the browser's own check off, which would not send a wrong form. */
const withoutItsOwnCheck = (page: Page) =>
  page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))

const ways = [
  { way: 'without JavaScript', javaScriptEnabled: false },
  { way: 'with JavaScript', javaScriptEnabled: true },
]

describe.each(ways)('$way', ({ javaScriptEnabled }) => {
  const tab = javaScriptEnabled ? 'Scripted' : 'Plain'

  test.each([
    ['the hosted page', '/', 'hosted'],
    ['the bare form', '/api/signup/form', 'form'],
  ])('%s shows an error, keeps what was typed and signs up', async (_, path, look) => {
    await using opened = await open(plain, `${path}?tab=${tab}-${look}&name`, { javaScriptEnabled })
    const { page } = opened
    await page.getByLabel('Name').fill('Ada')
    await email(page).fill('ada@nowhere')
    await withoutItsOwnCheck(page)
    await signUp(page)
    await page.locator('[aria-invalid]').waitFor()
    expect(await email(page).getAttribute('aria-invalid')).toBe('true')
    const problem = page.locator('#email-problem')
    expect(await problem.innerText()).toMatch(/such as|@|dot|domain/)
    expect(await email(page).getAttribute('aria-describedby')).toContain('email-problem')
    expect(await email(page).inputValue()).toBe('ada@nowhere')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada')
    const hasFocus = () => email(page).evaluate((it) => it === document.activeElement)
    // The bare form is made for frames, in which browsers give no field the focus.
    await expect.poll(hasFocus).toBe(javaScriptEnabled || look === 'hosted')
    expect(await problemsOf(page, javaScriptEnabled, look === 'hosted')).toEqual([])

    await email(page).fill('ada@example.com')
    await signUp(page)
    await page.getByRole('heading', { name: 'Thank you' }).waitFor()
    expect(page.url()).toContain(`/api/signup/thanks?page=${look}`)
    expect(await problemsOf(page, javaScriptEnabled, look === 'hosted')).toEqual([])
    await expect
      .poll(() => rows(plain, `${tab}-${look}`).map(([address, , , name]) => [address, name]))
      .toEqual([['ada@example.com', 'Ada']])
  })

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

  test('a signup needs consent, and the row has the text that the visitor agreed to', async () => {
    await using opened = await open(branded, `/?tab=${tab}`, { javaScriptEnabled })
    const { page } = opened
    const button = page.getByRole('button', { name: 'Count me in' })
    const box = page.getByRole('checkbox', { name: 'I have read the privacy policy.' })
    await email(page).fill('ada@example.com')
    await withoutItsOwnCheck(page)
    await button.click()
    await page.locator('[aria-invalid]').waitFor()
    expect(await box.getAttribute('aria-invalid')).toBe('true')
    expect(await problemsOf(page, javaScriptEnabled)).toEqual([])
    await box.check()
    await button.click()
    await page.getByRole('heading', { name: 'Thank you' }).waitFor()
    await expect
      .poll(() => rows(branded, tab).map((row) => row[5]))
      .toEqual([JSON.stringify({ consent: 'I have read the privacy policy.' })])
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

  test('a German visitor gets everything in German, from the form to the thank-you page', async () => {
    await using opened = await open(branded, `/?name=required`, {
      javaScriptEnabled,
      locale: 'de-AT',
    })
    const { page } = opened
    const button = page.getByRole('button', { name: 'Count me in' })
    await page.getByLabel('E-Mail-Adresse').fill('ada')
    await withoutItsOwnCheck(page)
    await button.click()
    await page.getByText('Bitte geben Sie eine Adresse wie name@example.com ein.').waitFor()
    await page.getByText('Bitte geben Sie Ihren Namen ein.').waitFor()
    await page.getByText('Bitte setzen Sie dieses Häkchen, um sich anzumelden.').waitFor()
    expect(await page.locator('main').innerText()).not.toMatch(/please|address|sign up/i)
    await page.getByLabel('E-Mail-Adresse').fill('ada@example.com')
    await page.getByLabel('Name').fill('Ada')
    await page.getByRole('checkbox').check()
    await expect
      .poll(() => page.getByText('Bitte setzen Sie').count())
      .toBe(javaScriptEnabled ? 0 : 1)
    await button.click()
    await page.getByRole('heading', { name: 'Vielen Dank' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
  })
})

test('in Arabic the page runs from right to left, and the address from left to right', async () => {
  await using opened = await open(plain, '/', { locale: 'ar-EG' })
  const { page } = opened
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
  const input = page.getByLabel('البريد الإلكتروني')
  const { direction, textAlign } = await input.evaluate((it) => getComputedStyle(it))
  expect([direction, textAlign]).toEqual(['ltr', 'right'])
  await input.fill('ada')
  await page.getByRole('button', { name: 'اشترك' }).click()
  await page.getByText('يرجى إدخال عنوان مثل').waitFor()
  expect(await accessibilityProblems(page, true)).toEqual([])
  await input.fill('ada@example.com')
  await page.getByRole('button', { name: 'اشترك' }).click()
  await page.getByRole('heading', { name: 'شكرًا لك' }).waitFor()
  expect(await accessibilityProblems(page, true)).toEqual([])
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

  test.each(['/?name=required', '/api/signup/form?theme=auto&name=required'])(
    'on %s after an error that the service or the script shows',
    async (path) => {
      for (const isScripted of [false, true]) {
        await using opened = await open(branded, path, { colorScheme })
        const { page } = opened
        if (!isScripted) {
          await page.route('**/assets/page.js', (route) => route.abort())
          await page.reload()
        }
        await withoutItsOwnCheck(page)
        await page.getByRole('button', { name: 'Count me in' }).click()
        await expect.poll(() => page.locator('[aria-invalid]').count()).toBe(3)
        await page.getByText('That did not work yet').waitFor()
        const isBare = path.includes('form')
        if (isBare && colorScheme === 'dark') await putOnDark(page)
        expect(await accessibilityProblems(page, !isBare)).toEqual([])
      }
    },
  )
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

test('no page scrolls sideways on a phone', async () => {
  for (const path of ['/', '/api/signup/form', '/api/signup/thanks', '/nothing']) {
    await using opened = await open(branded, path, { viewport: { width: 320, height: 480 } })
    const overflow = () =>
      opened.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect([path, await overflow()]).toEqual([path, 0])
  }
})
