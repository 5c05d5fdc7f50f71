// @module-tag slow
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'

const shared = shareService()
const { open, rows } = shared

const tag = (tab: string, more = '') =>
  `<script src="%s/embed.js" data-tab="${tab}" ${more} async></script>`

const thanks = 'Thank you! You are signed up.'

async function signUp(page: Page, email = 'ada@example.com'): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText(thanks).waitFor()
}

test('the form works and has its colours under a policy that allows no inline script and no inline style', async () => {
  const { url } = shared.service
  await using host = await open({
    csp: `default-src 'none'; script-src ${url}; connect-src ${url}; style-src 'none'; trusted-types 'none'`,
    body: tag('Strict', 'data-language="de" data-text-submit="Los"'),
  })
  const { page } = host
  const button = page.getByRole('button', { name: 'Los' })
  await expect
    .poll(() => button.evaluate((it) => getComputedStyle(it).backgroundColor))
    .toBe('rgb(28, 91, 208)')
  await page.getByLabel('E-Mail-Adresse').fill('ada@gmial.com')
  await page.getByText('Meinten Sie ada@gmail.com?').click()
  await button.click()
  await page.getByText('Vielen Dank! Sie sind angemeldet.').waitFor()
  expect(host.complaints).toEqual([])
})

test('the form works under a policy with a nonce', async () => {
  const { url } = shared.service
  await using host = await open({
    csp: `script-src 'nonce-abc'; connect-src ${url}; style-src 'none'`,
    body: tag('Nonce', 'nonce="abc"'),
  })
  await signUp(host.page)
  expect(host.complaints).toEqual([])
})

test('hostile CSS of the page does not change how the form looks', async () => {
  const hostile = `body * { all: unset !important; font-size: 60px !important; color: red !important;
    background: red !important; text-transform: uppercase !important; letter-spacing: 9px !important;
    line-height: 4 !important; display: inline !important; float: right !important; opacity: .3 !important;
    width: 40px !important; box-sizing: content-box !important; direction: rtl !important }
    html { font-size: 40px !important } head, style, script, title { display: none !important }
    input, button, label { padding: 90px !important; border-radius: 50% !important }`
  await using plain = await open({ body: tag('Looks', 'data-name data-theme="light"') })
  await using host = await open({
    body: tag('Looks', 'data-name data-theme="light"'),
    head: `<style>${hostile}</style>`,
  })
  expect(await looks(host.page)).toEqual(await looks(plain.page))
  await signUp(host.page)
})

/** Computed styles and sizes of everything in the form. */
async function looks(page: Page): Promise<unknown> {
  await page.getByRole('button', { name: 'Sign up' }).waitFor()
  return page.locator('rollcall-form').evaluate((form) => {
    const names = [
      'font',
      'color',
      'background-color',
      'letter-spacing',
      'text-transform',
      'padding',
      'margin',
      'border',
      'display',
      'direction',
      'text-align',
    ]
    return [form, ...(form.shadowRoot?.querySelectorAll('*') ?? [])].map((element) => {
      const style = getComputedStyle(element)
      const { height } = element.getBoundingClientRect()
      const isHost = element === form
      return [
        element.localName,
        isHost ? style.display : height,
        ...(isHost ? [] : names.map((name) => style.getPropertyValue(name))),
      ]
    })
  })
}

test.each(['de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'tr', 'ar', 'hi', 'ja', 'ko', 'zh'])(
  'the form is in %s when that is the language of the browser',
  async (locale) => {
    await using host = await open({ html: '', body: tag('Language'), context: { locale } })
    const card = host.page.locator('rollcall-form .card')
    await card.waitFor()
    expect(await card.getAttribute('lang')).toBe(locale)
    expect(await card.innerText()).not.toContain('Sign up')
  },
)

test('the form is in English when its language cannot be loaded', async () => {
  await using host = await open({ body: `<p>…</p>` })
  const { page } = host
  await page.route('**/de.json', (route) => route.abort())
  await page.evaluate(loadScript, `${shared.service.url}/embed.js`)
  await page.evaluate(() => window.Rollcall.render(document.body, { language: 'de' }))
  await page.getByLabel('Email address').waitFor()
})

test.each([
  ['a dark page', 'style="background: #111"', 'light', 'dark'],
  ['a light page on a dark system', 'style="background: #fff"', 'dark', 'light'],
  ['a page that follows a dark system', 'style="color-scheme: light dark"', 'dark', 'dark'],
  ['a page that says nothing on a dark system', '', 'dark', 'light'],
] as const)('on %s the form has the theme of the page', async (_, html, colorScheme, expected) => {
  await using host = await open({
    html: `lang="en" ${html}`,
    body: tag('Theme'),
    context: { colorScheme },
  })
  const { page } = host
  const card = page.locator('rollcall-form .card')
  await card.waitFor()
  expect(await card.evaluate((it) => getComputedStyle(it).colorScheme)).toBe(expected)
  expect(await accessibilityProblems(page)).toEqual([])
})

test('the page can set the theme of the form, and change it later', async () => {
  await using host = await open({ body: tag('Theme', 'data-theme="dark"') })
  const { page } = host
  const card = page.locator('rollcall-form .card')
  await card.waitFor()
  const scheme = () => card.evaluate((it) => getComputedStyle(it).colorScheme)
  expect(await scheme()).toBe('dark')
  await page.locator('rollcall-form').evaluate((it) => it.setAttribute('data-theme', 'light'))
  expect(await scheme()).toBe('light')
})

test('the button has an edge with forced colours, also while it is busy', async () => {
  await using host = await open({ body: tag('Media') })
  const { page } = host
  await page.emulateMedia({ forcedColors: 'active' })
  await page.route('**/api/signup', () => {})
  await page.getByLabel('Email address').fill('ada@example.com')
  const button = page.getByRole('button', { name: 'Sign up' })
  await button.click()
  await page.getByText('Signing you up').waitFor()
  const edge = await button.evaluate((element) => getComputedStyle(element).borderTopColor)
  expect(edge).not.toBe('rgba(0, 0, 0, 0)')
})

test('a form that is removed while it tries again stops trying', async () => {
  await using host = await open({ body: tag('Gone') })
  const { page } = host
  await page.clock.install()
  let posts = 0
  await page.route('**/api/signup', (route) => {
    posts += route.request().method() === 'POST' ? 1 : 0
    return route.abort('connectionrefused')
  })
  await page.getByLabel('Email address').fill('ada@example.com')
  // The time stands still, so that no other try is on its way when the form is taken out.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 10_000))
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText('Still trying').waitFor()
  await page.locator('rollcall-form').evaluate((element) => element.remove())
  await page.clock.runFor(60_000)
  // What the page sent before this has been seen.
  await page.evaluate(async () => (await fetch(location.href)).text())
  expect(posts).toBe(1)
})

test('a form that is moved keeps what was typed, and reset empties it for another signup', async () => {
  await using host = await open({
    body: '<rollcall-form tab="Moved"></rollcall-form><div id="there"></div><script type="module" src="%s/embed.js"></script>',
  })
  const { page } = host
  await page.getByLabel('Email address').fill('one@example.com')
  await page.evaluate(() => {
    document.querySelector('#there')?.append(document.querySelector('rollcall-form') ?? '')
  })
  expect(await page.getByLabel('Email address').inputValue()).toBe('one@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText(thanks).waitFor()
  await page.locator('rollcall-form').evaluate((it) => (it as unknown as { reset(): void }).reset())
  await expect.poll(() => page.getByText(thanks).count()).toBe(0)
  expect(await page.getByLabel('Email address').inputValue()).toBe('')
  // The same data once more is another signup.
  await signUp(page, 'one@example.com')
  await expect.poll(() => rows('Moved')).toHaveLength(2)
})

test('the page gets events of a signup, and can add to it or cancel it', async () => {
  await using host = await open({ body: tag('Events') })
  const { page } = host
  await page.evaluate(() => {
    const seen: string[] = []
    Object.assign(window, { seen, isCancelled: true })
    addEventListener('rollcall:submit', (event) => {
      const { detail } = event as CustomEvent<{ data: URLSearchParams }>
      seen.push(`submit ${detail.data.get('email') ?? ''}`)
      detail.data.append('metadata[page]', 'start')
      if ((window as unknown as { isCancelled: boolean }).isCancelled) event.preventDefault()
    })
    for (const name of ['rollcall:success', 'rollcall:error']) {
      addEventListener(name, (event) => {
        const { detail } = event as CustomEvent<{
          sheetTab?: string
          reason?: string
          status?: number
        }>
        seen.push(`${name} ${detail.sheetTab ?? `${detail.reason ?? ''} ${detail.status ?? ''}`}`)
      })
    }
  })
  const seen = () => page.evaluate(() => (window as unknown as { seen: string[] }).seen)
  const email = page.getByLabel('Email address')
  await email.fill('ada@example.com')
  await page.keyboard.press('Enter')
  await expect.poll(seen).toEqual(['submit ada@example.com'])
  await page.evaluate(() => Object.assign(window, { isCancelled: false }))
  await email.fill(`${'a'.repeat(65)}@example.com`)
  await page.keyboard.press('Enter')
  await expect.poll(seen).toContain('rollcall:error fields 422')
  await email.fill('ada@example.com')
  await page.keyboard.press('Enter')
  await expect.poll(seen).toContain('rollcall:success Events')
  await expect.poll(() => rows('Events').map((row) => row[5])).toEqual(['{"page":"start"}'])
})

test('with data-utm the UTM parameters of the page’s address go into Metadata, cut to 200 characters, and no other parameters', async () => {
  const query = `?utm_source=news&utm_campaign=${'x'.repeat(500)}&token=secret`
  await using host = await open({ body: tag('Utm', 'data-utm'), query })
  await signUp(host.page)
  await expect.poll(() => rows('Utm')).toHaveLength(1)
  expect(JSON.parse(rows('Utm')[0]?.[5] ?? '')).toEqual({
    utm_source: 'news',
    utm_campaign: 'x'.repeat(200),
  })
})

test('after a signup the form follows its redirect, but never to a script', async () => {
  await using host = await open({ body: tag('Redirect', 'data-redirect="/welcome"') })
  await host.page.getByLabel('Email address').fill('ada@example.com')
  await host.page.getByRole('button', { name: 'Sign up' }).click()
  await host.page.waitForURL(`${host.url}/welcome`)

  await using evil = await open({
    body: tag('Redirect', 'data-redirect="javascript:document.title=1"'),
  })
  await signUp(evil.page)
  expect(await evil.page.title()).toBe('Host')
})

const plainForm = `<form id="plain" method="post" action="%s/api/signup">
    <label>Email address <input type="email" name="email" required></label>
    <label>City <input name="city" required></label>
    <label><input type="checkbox" name="consent" required> Yes, please</label>
    <input type="hidden" name="sheetTab" value="Enhanced">
    <input type="hidden" name="redirect" value="https://evil.example/">
    <button>Sign up</button>
  </form><script src="%s/embed.js"></script>`

test('Rollcall.enhance takes over any form of the page, with all of its fields', async () => {
  const [form = '', script = ''] = plainForm.split(/(?=<script)/)
  await using host = await open({ head: script, body: form })
  const { page } = host
  const enhance = () =>
    page.evaluate(() => {
      const form = document.querySelector<HTMLFormElement>('#plain')
      if (form) window.Rollcall.enhance(form)
    })
  await enhance()
  await enhance()
  await page.getByLabel('Email address').fill('ada')
  await page.getByRole('button').click()
  await page.getByText('such as name@example.com').waitFor()
  expect(await page.getByLabel('City').getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel('Yes, please').getAttribute('aria-invalid')).toBe('true')
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByLabel('City').fill('London')
  await page.getByLabel('Yes, please').check()
  await signUp(page)
  expect(page.url()).toBe(`${host.url}/`)
  await expect
    .poll(() => rows('Enhanced').map((row) => [row[0], row[5]]))
    .toEqual([['ada@example.com', '{"city":"London","consent (sent)":"on"}']])
})

test('a suggestion for an address does not come up in a form that was given back', async () => {
  await using host = await open({ body: plainForm })
  const { page } = host
  await page.clock.install()
  const before = await page.locator('#plain').evaluate((it) => it.outerHTML)
  const handle = await page.evaluateHandle(() => {
    const form = document.querySelector<HTMLFormElement>('#plain')
    if (!form) throw new Error('There is no form.')
    return window.Rollcall.enhance(form)
  })
  const email = page.locator('#plain [name=email]')
  await email.focus()
  await page.waitForLoadState('networkidle')
  await email.fill('ada@gmial.com')
  await handle.evaluate((it) => it.remove())
  await page.clock.runFor(1_000)
  expect(await page.locator('#plain').evaluate((it) => it.outerHTML)).toBe(before)
})

/** Runs in the page: loads our script as a script of the page would. */
async function loadScript(url: string): Promise<void> {
  const script = document.createElement('script')
  script.src = url
  const loaded = new Promise((resolve) => (script.onload = resolve))
  document.head.append(script)
  await loaded
}

interface Handle {
  remove(): void
  reset(): void
}

declare global {
  interface Window {
    readonly Rollcall: {
      render(element: Element, options?: object): Handle
      enhance(form: HTMLFormElement, options?: object): Handle
    }
  }
}
