// @module-tag slow
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityProblems, openHost } from '../../harness/browser.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { shareService } from '../../harness/shared-service.ts'
import { startService } from '../../harness/start-service.ts'

const shared = shareService()
const { open, rows } = shared

/** A script tag of a form for this tab. */
const tag = (tab: string, more = '') =>
  `<script src="%s/embed.js" data-tab="${tab}" ${more} async></script>`

const thanks = 'Thank you! You are signed up.'

test('a script tag puts a form where it stands, and a signup becomes a row', async () => {
  await using host = await open({
    body: `<p id="before">before</p>${tag('Plain', 'data-tags="a, b" data-source="footer" data-name data-field-plan="pro"')}<p id="after">after</p>`,
  })
  const { page } = host
  await page.getByLabel('Name (optional)').fill('Ada Lovelace')
  await page.getByLabel('Email address').fill('ada@example.com')
  expect(await accessibilityProblems(page)).toEqual([])
  const [before, form, after] = await Promise.all(
    ['#before', 'rollcall-form', '#after'].map((it) => page.locator(it).boundingBox()),
  )
  expect(before?.y).toBeLessThan(form?.y ?? 0)
  expect(form?.y).toBeLessThan(after?.y ?? 0)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await expect.poll(() => page.getByRole('status').allInnerTexts()).toContain(thanks)
  expect(await accessibilityProblems(page)).toEqual([])
  await expect.poll(() => rows('Plain')).toHaveLength(1)
  expect(rows('Plain')[0]).toEqual([
    'ada@example.com',
    expect.any(String),
    'footer',
    'Ada Lovelace',
    'a, b',
    '{"plan":"pro"}',
    'Plain',
  ])
  expect(host.complaints).toEqual([])
})

test.each(['', 'async', 'defer', 'type="module"'])(
  'a script tag %s without options draws one form where it stands',
  async (how) => {
    const body = `<p>before</p><script src="%s/embed.js" ${how}></script><p id="after">after</p>`
    await using host = await open({ body })
    await host.page.getByLabel('Email address').waitFor()
    expect(await host.page.locator('script + rollcall-form + #after').count()).toBe(1)
    expect(host.complaints).toEqual([])
  },
)

const bare = '<script src="%s/embed.js"></script>'

test.each([
  ['has an element', `${bare}<rollcall-form></rollcall-form>`, 1],
  ['has a tag with options', `${bare}<script src="%s/embed.js" data-tab="Plain"></script>`, 1],
  ['renders one', `${bare}<script>Rollcall.render(document.body)</script>`, 1],
  [
    'enhances its own',
    `<form><label>Email address <input name="email"></label></form>${bare}<script>Rollcall.enhance(document.querySelector('form'))</script>`,
    0,
  ],
])('a script tag without options adds no form to a page that %s', async (_, body, count) => {
  await using host = await open({ body })
  await host.page.waitForLoadState('networkidle')
  await host.page.getByLabel('Email address').waitFor()
  expect(await host.page.locator('rollcall-form').count()).toBe(count)
})

test('the form asks about a domain that looks mistyped, and sends it all the same', async () => {
  await using host = await open({ body: tag('Slip') })
  const { page } = host
  const email = page.getByLabel('Email address')
  await email.fill('Ada.L@gmial.con')
  await page.getByRole('button', { name: 'Did you mean Ada.L@gmail.com?' }).click()
  expect(await email.inputValue()).toBe('Ada.L@gmail.com')
  await email.fill('ada@gmal.com')
  await page.getByText('Did you mean ada@gmail.com?').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText(thanks).waitFor()
  await expect.poll(() => rows('Slip').map(([address]) => address)).toEqual(['ada@gmal.com'])
})

test('a form that the page removes while somebody types throws no error', async () => {
  const form =
    '<form id="own"><label>Email <input name="email" type="email" required></label>' +
    '<button>Join</button></form><script src="%s/embed.js"></script>' +
    "<script>Rollcall.enhance(document.querySelector('#own'))</script>"
  await using host = await open({ body: `<main>${form}</main>` })
  const { page } = host
  const email = page.getByLabel('Email')
  await email.fill('ada@gmial.com')
  await page.getByText('Did you mean ada@gmail.com?').waitFor()
  await page.clock.install()
  await email.fill('ada@gmal.com')
  await page.locator('main').evaluate((main) => main.remove())
  await page.clock.runFor(1000)
  expect(host.complaints).toEqual([])
})

test('a request whose answer is lost is sent again with the same key, and is one row', async () => {
  await using host = await open({ body: tag('Lost') })
  const { page } = host
  const keys: (string | undefined)[] = []
  await page.route('**/api/signup', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length > 2) return route.continue()
    await route.fetch()
    await route.abort('connectionreset')
  })
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText('Still trying').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByText(thanks).waitFor()
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  await expect.poll(() => rows('Lost')).toHaveLength(1)
})

test.each([429, 503])(
  'after a %i the form tries again when Retry-After says, and not before',
  async (status) => {
    await using host = await open({ body: tag(`Busy${status}`) })
    const { page } = host
    await page.clock.install()
    let posts = 0
    await page.route('**/api/signup', (route) => {
      if (route.request().method() !== 'POST' || ++posts > 1) return route.continue()
      const headers = {
        'retry-after': '40',
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'Retry-After',
      }
      return route.fulfill({ status, headers, json: { status } })
    })
    await page.getByLabel('Email address').fill('ada@example.com')
    const now = () => page.evaluate(() => Date.now())
    const sentAfter = await now()
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByText('Still trying').waitFor()
    const answeredBefore = await now()
    await page.clock.pauseAt(sentAfter + 39_900)
    expect(posts).toBe(1)
    await page.clock.pauseAt(answeredBefore + 40_100)
    await page.getByText(thanks).waitFor()
    expect(posts).toBe(2)
  },
)

test('the visitor is told when no answer comes, and the next try has the same text and the same key', async () => {
  await using host = await open({ body: tag('GiveUp') })
  const { page } = host
  await page.clock.install()
  const keys: (string | undefined)[] = []
  let isDown = true
  await page.route('**/api/signup', (route) => {
    if (route.request().method() === 'POST') keys.push(route.request().headers()['idempotency-key'])
    return isDown ? route.abort('connectionrefused') : route.continue()
  })
  const email = page.getByLabel('Email address')
  await email.fill('ada@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText('Still trying').waitFor()
  const told = page.getByRole('alert').getByText('We could not confirm that you are signed up.')
  while (!(await told.isVisible())) await page.clock.runFor(5000)
  expect(await email.inputValue()).toBe('ada@example.com')
  expect(await accessibilityProblems(page)).toEqual([])
  isDown = false
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText(thanks).waitFor()
  expect(new Set(keys).size).toBe(1)
})

test('a form on a page that may not use the service says so at once, and tells its author what to set', async () => {
  await using strict = await startService({ env: { ALLOWED_ORIGINS: 'https://named.example' } })
  await using host = await openHost(shared.browser, {
    html: 'lang="de"',
    body: tag('Refused'),
    service: strict.url,
  })
  const { page } = host
  const told = page.getByRole('alert').getByText('Auf dieser Seite ist eine Anmeldung gerade nicht')
  await page.getByLabel('E-Mail-Adresse').fill('ada@example.com')
  await told.waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Anmelden' }).click()
  await told.waitFor()
  await expect
    .poll(() => host.complaints.join('\n'))
    .toContain(
      `answered 403. Pages of ${host.url} may not send signups here. The operator of this service can add the origin to ALLOWED_ORIGINS.`,
    )
  const answer = await fetch(`${strict.url}/api/ready`)
  const { refusedByOrigin } = (await answer.json()) as { refusedByOrigin: number }
  expect(refusedByOrigin).toBeGreaterThanOrEqual(2)
  const lines = strict.output().split('\n')
  expect(lines.filter((line) => line.includes(`"origin":"${host.url}"`))).toHaveLength(1)
  expect(readTab(join(strict.folder, 'data'), 'Refused.csv')).toEqual([])
})

const consent = 'I have read the [privacy policy](https://example.com/privacy).'

test('with PAGE_CONSENT the form has a checkbox from the start, which must be ticked, and needs no mouse', async () => {
  await using asking = await startService({ env: { PAGE_CONSENT: consent, PAGE_NAME: 'required' } })
  await using host = await openHost(shared.browser, { body: tag('Agreed'), service: asking.url })
  const { page } = host
  const box = page.getByRole('checkbox', { name: 'I have read the privacy policy.' })
  await box.waitFor()
  const hasFocus = () => box.evaluate((element) => element.matches(':focus'))
  const top = () => page.locator('rollcall-form').evaluate((it) => it.clientHeight)
  const height = await top()
  const config = page.waitForResponse('**/api/config')
  await page.getByLabel('Email address').focus()
  await (await config).finished()
  await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(await top()).toBe(height)
  await page.keyboard.type('ada@example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Ada')
  await page.keyboard.press('Enter')
  await expect.poll(() => describedBy(page, 'consent')).toBe('Please tick this box to sign up.')
  expect(await hasFocus()).toBe(true)
  expect(await accessibilityProblems(page)).toEqual([])
  await page.keyboard.press('Space')
  await expect.poll(() => describedBy(page, 'consent')).toBe('')
  await page.keyboard.press('Tab')
  const link = page.getByRole('link', { name: 'privacy policy' })
  expect(await link.evaluate((element) => element.matches(':focus'))).toBe(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText(thanks).waitFor()
  const rows = () => readTab(join(asking.folder, 'data'), 'Agreed.csv').slice(1)
  await expect
    .poll(() => rows().map((row) => row[5]))
    .toEqual(['{"consent":"I have read the privacy policy (https://example.com/privacy)."}'])
  expect(host.complaints).toEqual([])
})

test('a form with a consent of its own shows that as text, fits on a phone and runs from right to left', async () => {
  const hostile = `<img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](https://example.com/?a=1&amp;b='2')`
  await using host = await open({
    html: 'lang="ar" dir="rtl" style="background: #111"',
    body: tag('Own', `data-consent="${hostile}"`),
    context: { viewport: { width: 320, height: 600 } },
  })
  const { page } = host
  const form = page.locator('rollcall-form')
  const text = `<img src=x onerror=alert(1)> [a](javascript:alert(1)) b`
  await form.getByRole('checkbox', { name: text }).waitFor()
  expect(await form.locator('img').count()).toBe(0)
  const hrefs = form.locator('a').evaluateAll((all) => all.map((it) => it.getAttribute('href')))
  expect(await hrefs).toEqual([`https://example.com/?a=1&b='2'`])
  expect(await form.locator('.card').getAttribute('dir')).toBe('rtl')
  const email = await form.locator('#email').evaluate((it) => getComputedStyle(it))
  expect([email.direction, email.textAlign]).toEqual(['ltr', 'right'])
  const label = form.locator('.choice')
  const { height = 0, width = 0 } = (await label.boundingBox()) ?? {}
  expect(height).toBeGreaterThanOrEqual(44)
  expect(width).toBeLessThan(320)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  await form.locator('#email').fill('ada@example.com')
  await form.locator('button').click()
  await page.getByText('يرجى وضع علامة في هذا المربع للاشتراك.').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await form.getByRole('checkbox').check()
  await form.locator('button').click()
  await expect
    .poll(() => rows('Own').map((row) => row[5]))
    .toEqual([JSON.stringify({ 'consent (sent)': `${text} (https://example.com/?a=1&b='2')` })])
})

/** The text of the elements that describe a field of the only form on the page. */
async function describedBy(page: Page, id: string): Promise<string> {
  return page.locator(`rollcall-form #${id}`).evaluate((field) => {
    const ids = field.getAttribute('aria-describedby')?.split(' ') ?? []
    const root = field.getRootNode() as ShadowRoot
    return ids.map((it) => root.getElementById(it)?.textContent ?? '').join(' ')
  })
}
