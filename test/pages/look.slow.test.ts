// @module-tag slow
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'
import { pageTexts } from '../../src/pages/texts.ts'

const options = ['I build things', 'I run a team', 'I read about it']
const fields = [
  { name: 'plan', label: 'Plan', type: 'choice', options: ['Free', 'Pro', 'Team'], required: true },
  { name: 'role', label: 'Role', type: 'choice', options },
  { name: 'news', label: 'News', type: 'checkbox' },
]
const page = {
  title: 'Tea & <b>biscuits</b>',
  text: 'One mail a month.',
  accent: '#0a7a4b',
  name: 'optional',
  consent: 'I agree to [this](https://example.com/).',
  thanks: 'See <i>you</i> & bye.',
  next: 'https://example.com/?a=1&b="2"',
}
const sites = { launch: { fields, page }, default: {} }
const shared = shareService({
  env: { ROLLCALL_CONFIG: JSON.stringify({ sites }), ALLOWED_ORIGINS: '*' },
})

const { visit } = shared

/** The form of the same site in its three places, each in a page that is 360 pixels wide and dark. */
const places = [
  ['on the hosted page', () => visit('/?site=launch', phone)],
  ['in the bare form', () => visit('/api/signup/form?site=launch&theme=dark', phone)],
  [
    'in the embed',
    () => {
      const tag = '<script src="%s/embed.js?site=launch" data-site="launch" data-text-title="Tea">'
      const head = '<style>body { background: #111; margin: 0 }</style>'
      return shared.open({ head, body: `${tag}</script>`, context: phone })
    },
  ],
] as const
const phone = {
  viewport: { width: 360, height: 900 },
  colorScheme: 'dark',
  reducedMotion: 'reduce',
} as const

const style = (page: Page, selector: string, name: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((it, name) => getComputedStyle(it).getPropertyValue(name), name)
const boxOf = async (page: Page, selector: string) =>
  (await page.locator(selector).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
const red = 'rgb(255, 180, 171)'

describe.each(places)('%s', (_, open) => {
  test('a wrong field is red, with the focus ring around it', async () => {
    await using opened = await open()
    const { page } = opened
    await page.locator('[type=submit]').click()
    await page.locator('fieldset[aria-invalid]').waitFor()
    expect(await style(page, '#email', 'outline-color')).toBe(red)
    expect(await style(page, '[name=plan]', 'border-top-color')).toBe(red)
    expect(await style(page, '[name=role]', 'border-top-color')).not.toBe(red)
    await page.locator('[name=plan]').first().press('Shift')
    expect(await style(page, '[name=plan]', 'outline-color')).toBe(red)
    // The bare form has no background of its own.
    await page.evaluate(() => (document.documentElement.style.background = '#12161c'))
    expect(await accessibilityProblems(page)).toEqual([])
  })
})

test('the page, the bare form and the embed of a site have one look', async () => {
  const looks = await Promise.all(
    places.map(async ([, open]) => {
      await using opened = await open()
      const { page } = opened
      await page.getByLabel('Email address').click()
      await page.getByLabel('Pro').check()
      await page.waitForLoadState('networkidle')
      const button = [
        'background-color',
        'border-color',
        'color',
        'border-radius',
        'font-weight',
        'margin',
      ]
      const wanted = {
        '[type=submit]': button,
        label: ['color', 'font-weight', 'font-size', 'margin'],
        small: ['color', 'font-size'],
        '#email': ['background-color', 'border-color', 'padding', 'height'],
        '[name=plan]:checked': ['border-color', 'width'],
        '.choices': ['gap'],
        '.field:nth-child(2)': ['margin'],
        'label a': ['color'],
      }
      const labels = await page.locator('label, legend').allInnerTexts()
      const seen = [labels.map((it) => it.trim())]
      for (const [selector, names] of Object.entries(wanted))
        for (const name of names) seen.push([selector, name, await style(page, selector, name)])
      await page.locator('[type=submit]').hover()
      await expect.poll(() => style(page, '[type=submit]', 'background-color')).toMatch(/^color\(/)
      return [...seen, await style(page, '[type=submit]', 'background-color')]
    }),
  )
  const [hosted, bare, embed] = looks
  expect(hosted?.[1]).toEqual(['[type=submit]', 'background-color', 'rgb(10, 122, 75)'])
  expect(embed).toEqual(hosted)
  expect(bare).toEqual(hosted)
})

test('the bare form in a wide frame is at most 28em wide', async () => {
  await using opened = await visit('/api/signup/form', { viewport: { width: 1400, height: 400 } })
  const { x, width } = await boxOf(opened.page, 'form')
  expect([x, width]).toEqual([6, 28 * 16])
})

describe('the summary of errors', () => {
  test.each(['/?site=launch', '/api/signup/form?site=launch'])(
    'is the same with JavaScript and without, on %s',
    async (path) => {
      const seen = async (javaScriptEnabled: boolean) => {
        await using opened = await visit(path, { javaScriptEnabled })
        const { page } = opened
        await page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))
        await page.locator('[type=submit]').click()
        await page.getByRole('alert').first().waitFor()
        const { y, ...size } = await boxOf(page, '.alert')
        expect(y).toBeLessThan((await boxOf(page, 'form')).y)
        const color = await style(page, '.alert', 'background-color')
        return [await page.locator('.alert').innerText(), size, color]
      }
      expect(await seen(true)).toEqual(await seen(false))
    },
  )
})

describe('the thanks', () => {
  const thanks = '/api/signup/thanks?site=launch'

  test.each([
    ['on the page', '&page=hosted', ['Tea & <b>biscuits</b>']],
    ['after a form of somebody else', '', ['Tea & <b>biscuits</b>']],
    ['in a frame, whose page has its own title', '&page=form', []],
  ])('%s have the title, the text and the link of the site, as text', async (_, query, title) => {
    await using opened = await visit(thanks + query)
    const { page } = opened
    const lines = (await page.locator('main').innerText()).split('\n').filter((line) => line !== '')
    expect(lines).toEqual([...title, 'Thank you', 'See <i>you</i> & bye.', 'Continue'])
    expect(await page.title()).toBe('Thank you – Tea & <b>biscuits</b>')
    const { x } = await boxOf(page, 'h1')
    const link = page.getByRole('link', { name: 'Continue' })
    expect((await boxOf(page, 'a')).x).toBe(x)
    expect(await link.getAttribute('href')).toBe('https://example.com/?a=1&b=%222%22')
    expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    expect(await accessibilityProblems(page, query !== '&page=form')).toEqual([])
  })

  test('of a site without settings say what was received, and that the page may be closed', async () => {
    await using opened = await visit('/api/signup/thanks?language=de&site=default')
    const { title, text, close } = pageTexts.de.thanks
    const said = await opened.page.locator('main').innerText()
    expect(said.split(/\n+/)).toEqual([title, `${text} ${close}`])
  })

  test.each([
    ['en', 'Email address', 'Thank you! You are signed up.', 'Continue'],
    ['de', 'E-Mail-Adresse', 'Vielen Dank! Sie sind angemeldet.', 'Weiter'],
  ])(
    'in the embed have the same text, link and tick, in %s',
    async (language, email, said, next) => {
      const tag = '<script src="%s/embed.js?site=launch" data-site="launch" data-language='
      await using host = await shared.open({ body: `${tag}${language}></script>` })
      const { page } = host
      await page.getByLabel(email).fill('ada@example.com')
      await page.getByLabel('Pro').check()
      await page.getByLabel('I agree').check()
      await page.locator('[type=submit]').click()
      const done = page.locator('.rollcall-done:not(:empty)')
      await done.waitFor()
      expect((await done.innerText()).split(/\n+/)).toEqual([said, 'See <i>you</i> & bye.', next])
      expect(await done.getByText('See').getAttribute('lang')).toBe('en')
      const link = done.getByRole('link', { name: next })
      expect(await link.getAttribute('href')).toBe('https://example.com/?a=1&b=%222%22')
      expect((await link.boundingBox())?.height).toBe(44)
      expect(await accessibilityProblems(page)).toEqual([])

      await using own = await visit(thanks)
      const lookOf = (page: Page, selector: string) =>
        page.locator(selector).evaluate((it) => {
          const { backgroundColor, color, padding } = getComputedStyle(it.querySelector('a') ?? it)
          return [getComputedStyle(it, '::before').content, backgroundColor, color, padding]
        })
      expect(await lookOf(page, '.rollcall-done')).toEqual(await lookOf(own.page, '.thanks'))
    },
  )
})
