// @module-tag slow
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { everyField } from '../../harness/every-field.ts'
import { shareService } from '../../harness/shared-service.ts'
import { pageTexts } from '../../src/pages/texts.ts'

const fields = [
  ...[...everyField, { name: 'referrer' }],
  { name: 'topics', type: 'choices', options: ['Letters', 'Events', 'Jobs <here>'] },
  { name: 'why', type: 'textarea', maxLength: 40 },
]
const sites = {
  launch: { fields, page: { title: 'The launch' } },
  default: {},
  party: {
    page: {
      title: 'Die Feier',
      text: 'Am 1. Mai',
      button: 'Dabei sein',
      language: 'de',
      accent: '#ffd000',
      name: 'required',
    },
  },
  beta: { page: { title: 'The beta', consent: 'I agree.' }, origins: ['https://beta.example'] },
}
const shared = shareService({
  env: { ROLLCALL_CONFIG: JSON.stringify({ sites }), ALLOWED_ORIGINS: '*' },
})

const button = (page: Page) => page.getByRole('button', { name: /Sign up|اشترك/ })
const { visit } = shared
const rows = () => shared.rows('launch/Sheet1')

/** How far the content moved while the page was loaded and the form was filled in. */
const watchShifts = `<script>
  window.shifts = []
  new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map((it) => it.value)))
    .observe({ type: 'layout-shift', buffered: true })
</script>`

async function fillIn(page: Page): Promise<void> {
  await page.getByLabel('Company').fill('ACME')
  await page.getByLabel('pro').check()
  await page.getByLabel('country').selectOption('Italy')
  await page.getByLabel('Seats').fill('12')
  await page.getByLabel('Web site').fill('https://acme.example')
  await page.getByLabel('Begins on').fill('2026-12-01')
  await page.getByLabel('Phone').fill('+49 30 1234567')
  await page.getByLabel('Send me news').check()
}

const invalid = (page: Page) => page.locator('[aria-invalid=true]')

describe.each([
  ['without JavaScript', false],
  ['with JavaScript', true],
])('%s', (_, javaScriptEnabled) => {
  test.each([
    ['the hosted page', '/'],
    ['the bare form', '/api/signup/form'],
  ])('%s shows each error beside its field, keeps what was typed and signs up', async (_, path) => {
    const query = '?site=launch&utm_source=mail&field-company=Example&field-topics=Events'
    await using opened = await visit(path + query, { javaScriptEnabled })
    const { page } = opened
    expect(await page.getByLabel('Company').inputValue()).toBe('Example')
    await page.getByLabel('Jobs <here>').check()
    await page.getByLabel('why').fill('one\n\ntwo')
    await page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))
    await page.getByLabel('Email address').fill(`ada@nowhere`)
    await page.getByLabel('Company').fill('')
    await page.getByLabel('country').selectOption('Wales')
    await page.getByLabel('Seats').fill('501')
    await button(page).click()
    await expect.poll(() => invalid(page).count()).toBe(5)
    for (const id of ['email', 'company.field', 'plan.field', 'seats.field', 'news.field']) {
      const control = page.locator(`[id="${id}"]`)
      const told = (await control.getAttribute('aria-describedby')) ?? ''
      expect(await page.locator(`[id="${told}"]`).innerText(), id).not.toBe('')
    }
    expect(await page.getByLabel('country').inputValue()).toBe('Wales')
    expect(await page.getByLabel('Seats').inputValue()).toBe('501')
    const group = page.getByRole('group', { name: 'topics' })
    expect(await group.getByRole('checkbox', { checked: true }).count()).toBe(2)
    await group.getByLabel('Events').uncheck()
    if (javaScriptEnabled) expect(await accessibilityProblems(page, path === '/')).toEqual([])
    await page.getByLabel('Email address').fill('ada@example.com')
    await fillIn(page)
    const before = rows().length
    await button(page).click()
    await page.getByText('We have received your signup.').waitFor()
    expect(page.url()).toContain('site=launch')
    await expect.poll(() => rows().length).toBe(before + 1)
    expect(rows().at(-1)?.slice(-2)).toEqual(['Jobs <here>', 'one\n\ntwo'])
  })
})

test.each([
  ['light', 'en', 800, 'light'],
  ['dark', 'de', 800, 'dark'],
  ['phone', 'fr', 320, 'light'],
  ['rtl', 'ar', 320, 'dark'],
] as const)(
  'in %s the page tells every error in its language, accessibly, with its script and without',
  async (_, language, width, colorScheme) => {
    const look = { viewport: { width, height: 700 }, colorScheme }
    await using opened = await visit(`/?site=launch&language=${language}`, look)
    const { page } = opened
    const texts = pageTexts[language].fields
    const told = async (selector: string) => {
      await page.locator(selector).first().waitFor()
      await page.locator('#email:focus').waitFor()
      expect(await accessibilityProblems(page, true)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
      return page.locator(selector).allInnerTexts()
    }
    const tooHigh = texts.numberTooHigh.replace('*', '500')
    const upToDate = [
      texts.valueMissing,
      texts.choiceMissing,
      tooHigh,
      texts.urlWrong,
      texts.dateWrong,
    ]

    await page.locator('[name=seats]').fill('501')
    await page.locator('[name=home]').fill('nowhere')
    await page.locator('[name=phone]').fill('none')
    // A part of a date.
    await page.locator('[name=start]').press('1')
    await page.locator('button[type=submit]').click()
    expect(await told('.rollcall-problem:not(:empty)')).toEqual([
      texts.emailMissing,
      ...upToDate,
      texts.consentMissing,
    ])

    await page.locator('form').evaluate((form: HTMLFormElement) => {
      const start = form.elements.namedItem('start') as HTMLInputElement
      Object.assign(start, { type: 'text', value: '2026-02-30' })
      form.submit()
    })
    const fromService = await told('.problem')
    expect(fromService).toHaveLength(8)
    // In English, the messages of the service say more.
    if (language === 'en') return
    expect(fromService).toEqual([
      texts.emailMissing,
      ...upToDate,
      texts.phoneWrong,
      texts.consentMissing,
    ])
  },
)

/** Fills in the form of the site `launch` with a keyboard. Resolves with what it sends. */
async function sentByKeyboard(page: Page): Promise<Record<string, string>> {
  let sent = ''
  page.on('request', (request) => {
    if (request.method() === 'POST') sent = request.postData() ?? ''
  })
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const stamped = page.waitForResponse('**/api/stamp*')
  await page.locator('#email').focus()
  await (await stamped).finished()
  await page.keyboard.type('grace@example.com')
  await press('Tab')
  await page.keyboard.type('Navy')
  await press('Tab', 'Space', 'ArrowDown', 'Tab', 'I', 'Tab')
  await page.keyboard.type('7')
  await page.getByLabel('Send me news').focus()
  await press('Space', 'Enter')
  await expect
    .poll(() => page.getByRole('status').allInnerTexts())
    .toContain('Thank you! You are signed up.')
  return Object.fromEntries(new URLSearchParams(sent))
}

describe('the embed', () => {
  const tag = (more = '', query = '?site=launch', heightMin = '0') =>
    `${watchShifts}<p>before</p><div style="min-height: ${heightMin}">
      <script src="%s/embed.js${query}" data-site="launch" ${more}></script></div><p>after</p>`

  test.each([
    ['light', 'en', 800, 'light'],
    ['rtl', 'ar', 320, 'dark'],
  ] as const)(
    'is drawn at once in %s, and nothing moves until it is sent',
    async (_, language, width, colorScheme) => {
      const look = { viewport: { width, height: 1400 }, colorScheme }
      const colors = colorScheme === 'dark' ? '#111; color: #fff' : '#fff'
      const head = `<style>body { background: ${colors}; margin: 0 }</style>`
      const html = `lang="${language}"`
      const given = { company: 'ACME', plan: 'pro', country: 'Italy', start: '2026-12-01' }
      const wrong = { seats: '501', phone: 'none' }
      const more = Object.entries({ ...given, ...wrong }).map(([name, value]) => {
        return `data-field-${name}="${value}"`
      })
      const options = `data-text-title="The launch" ${more.join(' ')}`
      await using host = await shared.open({ body: tag(options), head, html, context: look })
      const { page } = host
      await button(page).waitFor()
      const place = () => page.getByText('after').boundingBox()
      const before = await place()
      await page.locator('#email').focus()
      await expect
        .poll(() =>
          page.evaluate(() =>
            performance.getEntriesByType('resource').some(({ name }) => name.includes('later.js')),
          ),
        )
        .toBe(true)
      await page.waitForLoadState('networkidle')
      expect(await place()).toEqual(before)
      if (language === 'en') expect(await page.evaluate('window.shifts')).toEqual([])
      const values = await page
        .locator('form')
        .evaluate((form: HTMLFormElement) => [...new FormData(form)])
      expect(Object.fromEntries(values)).toMatchObject({ ...given, ...wrong })
      expect(await accessibilityProblems(page)).toEqual([])
      await button(page).click()
      await expect.poll(() => invalid(page).count()).toBe(3)
      expect(await accessibilityProblems(page)).toEqual([])
      await page.locator('#email').fill('ada@example.com')
      await page.getByLabel('Seats').fill('12')
      await page.getByLabel('Send me news').check()
      await button(page).click()
      // Only the service knows what is a phone number.
      await expect.poll(() => page.locator('[id="phone.field-problem"]').innerText()).not.toBe('')
      expect(await invalid(page).count()).toBe(1)
      const told = await page.locator('[id="phone.field-problem"]').innerText()
      if (language !== 'en') expect(told).toBe(pageTexts[language].fields.phoneWrong)
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    },
  )

  test.each([
    ['moves the page once', '0', 1],
    ['moves nothing in an element that keeps its height', '80em', 0],
  ])(
    'asks for the fields of data-site, then draws all at once: it %s',
    async (_, height, moves) => {
      const context = { viewport: { width: 800, height: 1400 } }
      await using host = await shared.open({
        body: tag('data-field-news=true', '', height),
        context,
      })
      const { page } = host
      await page.route('**/form.json?*', async (route) => {
        // Answer when the page without the form was painted.
        await page.evaluate(
          () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50))),
        )
        await route.continue()
      })
      await page.reload()
      await button(page).waitFor()
      await page.locator('#email').focus()
      await page.waitForLoadState('networkidle')
      expect(await page.evaluate('window.shifts')).toHaveLength(moves)
      expect(await page.getByLabel('Send me news').isChecked()).toBe(true)
    },
  )

  test('needs only data-site, takes a keyboard, and collects what is declared and nothing else', async () => {
    const query = '?utm_source=mail&utm_medium=letter'
    await using host = await shared.open({ body: tag('', ''), query })
    const { page } = host
    expect(await sentByKeyboard(page)).toEqual({
      email: 'grace@example.com',
      company: 'Navy',
      plan: 'pro',
      country: 'Italy',
      seats: '7',
      home: '',
      start: '',
      phone: '',
      news: 'true',
      utm_source: 'mail',
      referrer: '',
      why: '',
      source: 'embed',
      rollcall_message: '',
      rollcall_stamp: expect.any(String) as string,
    })
    await expect.poll(() => rows().some(([email]) => email === 'grace@example.com')).toBe(true)
  })

  test('takes a collected field from its tag before the address of the page', async () => {
    const body = tag('data-field-utm_source=partner', '')
    await using host = await shared.open({ body, query: '?utm_source=mail' })
    expect(await sentByKeyboard(host.page)).toMatchObject({ utm_source: 'partner' })
  })

  test('never sends the signup of a misspelt site to another one: it draws no form', async () => {
    const body = '<script src="%s/embed.js" data-site="launhc"></script>'
    await using host = await shared.open({ body })
    await expect.poll(() => host.complaints.join()).toContain('launhc')
    expect(await button(host.page).count()).toBe(0)
  })
})

describe.each([
  ['embed.js?site=party', ''],
  ['embed.js', 'data-site="party"'],
])('the embed by %s %s', (script, site) => {
  const look = { viewport: { width: 800, height: 1400 } }
  const bodyWith = (attributes: string) =>
    `${watchShifts}<div style="min-height: 40em"><script src="%s/${script}" ${site} data-source="party" ${attributes}></script></div>`

  test('has the texts, the name field and the colour of its site from the start', async () => {
    await using host = await shared.open({ body: bodyWith(''), context: look })
    const { page } = host
    const join = page.getByRole('button', { name: 'Dabei sein' })
    await join.waitFor()
    expect(await page.getByRole('heading').innerText()).toBe('Die Feier')
    expect(await page.locator('h2 + p').innerText()).toBe('Am 1. Mai')
    for (const own of ['h2', 'p', 'button']) {
      expect(await page.locator(`rollcall-form ${own} [lang=de]`).count(), own).toBe(1)
    }
    expect(await page.getByLabel('Name').getAttribute('required')).toBe('')
    const { backgroundColor, color } = await join.evaluate((it) => getComputedStyle(it))
    expect([backgroundColor, color]).toEqual(['rgb(255, 208, 0)', 'rgb(0, 0, 0)'])
    await page.getByLabel('Email address').focus()
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate('window.shifts')).toEqual([])
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('has those of its attributes and of the page around it instead', async () => {
    const own = 'data-text-title="" data-text-text="Soon" data-text-submit="Join" data-name="false"'
    await using host = await shared.open({
      head: '<style>rollcall-form { --rollcall-accent: #004; --rollcall-on-accent: #fff }</style>',
      body: bodyWith(own),
      context: look,
    })
    const { page } = host
    const join = page.getByRole('button', { name: 'Join' })
    await join.waitFor()
    expect(await page.locator('rollcall-form :is(h2, #name)').count()).toBe(0)
    expect(await page.locator('rollcall-form p').innerText()).toBe('Soon')
    expect(await page.locator('rollcall-form [lang=de]').count()).toBe(0)
    const { backgroundColor, color } = await join.evaluate((it) => getComputedStyle(it))
    expect([backgroundColor, color]).toEqual(['rgb(0, 0, 68)', 'rgb(255, 255, 255)'])
    expect(host.complaints).toEqual([])
  })
})
