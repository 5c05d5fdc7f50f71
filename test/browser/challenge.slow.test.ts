// @module-tag slow
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProviderName } from '../../emulators/challenge/providers.ts'
import { accessibilityProblems, openHost, openPage, startBrowser } from '../../harness/browser.ts'
import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { startService } from '../../harness/start-service.ts'

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(() => browser.close())

const tag = '<script src="%s/embed.js" data-tab="Guarded" async></script>'
const page = '/?tab=Guarded'
const bareForm = '/api/signup/form?tab=Guarded'

interface Options {
  readonly provider?: ProviderName
  /** Of a page of ours. */
  readonly path?: string
  /** Of somebody's page, when there is no path. */
  readonly body?: string
  readonly context?: BrowserContextOptions
}

/** A service with a challenge, and a page with its form. */
async function open({ provider, path, body = tag, context = {} }: Options = {}) {
  await using stack = new AsyncDisposableStack()
  const challenge = stack.use(await createChallengeWorld(provider))
  const service = stack.use(await startService({ env: challenge.env }))
  const opened = stack.use(
    path === undefined
      ? await openHost(browser, { body, service: service.url, context })
      : await openPage(browser, service.url + path, context),
  )
  const all = stack.move()
  return {
    ...{ challenge, page: opened.page, complaints: opened.complaints },
    /** The addresses of the rows in the tab. */
    rows: () => addressesIn(join(service.folder, 'data'), 'Guarded.csv'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function submit(page: Page): Promise<void> {
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
}

const thanks = (page: Page) => page.getByText('Thank you').first().waitFor()

test.each<[ProviderName, string, string | undefined]>([
  ['turnstile', 'the embed', undefined],
  ['hcaptcha', 'the embed', undefined],
  ['recaptcha', 'the embed', undefined],
  ['turnstile', 'the page', page],
  ['hcaptcha', 'the bare form', bareForm],
  ['recaptcha', 'the page', page],
])(
  'a visitor can sign up with %s in %s, and no script of it is loaded before the first focus',
  async (provider, _, path) => {
    await using world = await open({ provider, ...(path !== undefined && { path }) })
    const { page, challenge } = world
    await page.getByRole('button', { name: 'Sign up' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(challenge.emulator.counters.scripts).toBe(0)
    await submit(page)
    await thanks(page)
    await expect.poll(() => world.rows()).toEqual(['ada@example.com'])
    expect(world.complaints).toEqual([])
  },
)

test('a challenge that needs a click does not cover the button, and has the language and theme of the form', async () => {
  const body = tag.replace('async', 'data-theme="dark" data-language="de" async')
  await using world = await open({ body })
  const { page, challenge } = world
  challenge.emulator.setWidget({ outcome: 'interactive' })
  await page.getByLabel('E-Mail-Adresse').fill('ada@example.com')
  const frame = page.locator('rollcall-form iframe')
  await frame.waitFor()
  expect(await frame.getAttribute('src')).toMatch(/language=de/)
  expect(await frame.getAttribute('src')).toMatch(/theme=dark/)
  await page.getByRole('button', { name: 'Anmelden' }).click()
  await page.getByText('Falls ein Kästchen erscheint').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  const [box, button] = await Promise.all([
    frame.boundingBox(),
    page.getByRole('button').first().boundingBox(),
  ])
  expect(
    (box?.y ?? 0) >= (button?.y ?? 0) + (button?.height ?? 0) ||
      (box?.y ?? 0) + (box?.height ?? 0) <= (button?.y ?? 0),
  ).toBe(true)
  await page.frameLocator('rollcall-form iframe').getByRole('checkbox').click()
  await page.getByText('Vielen Dank!').waitFor()
})

test('the form gets a new token once when the provider refuses the first one', async () => {
  await using world = await open()
  const { page, challenge } = world
  const answer = {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: '{"success":false,"error-codes":["timeout-or-duplicate"]}',
  }
  challenge.emulator.faults.add({ redeem: 'now', answer, times: 1 })
  await submit(page)
  await thanks(page)
  await expect.poll(() => world.rows()).toHaveLength(1)
  const tokens = challenge.emulator.calls.map(({ fields }) => fields['response'])
  expect(new Set(tokens).size).toBe(2)
})

test('the visitor is told when the script of the provider hangs', async () => {
  await using world = await open()
  const { page, challenge } = world
  challenge.emulator.setWidget({ script: 'hang' })
  await page.clock.install()
  await submit(page)
  const told = page.getByRole('alert').getByText('did not load')
  await expect.poll(() => page.clock.runFor(1000).then(() => told.isVisible())).toBe(true)
})

test('the button stays where it is when the challenge appears', async () => {
  await using world = await open({ provider: 'recaptcha', path: page })
  const { page: opened } = world
  const placeOfButton = () => opened.getByRole('button', { name: 'Sign up' }).boundingBox()
  const before = await placeOfButton()
  await opened.getByLabel('Email address').focus()
  await opened.locator('iframe').waitFor()
  expect(await placeOfButton()).toEqual(before)
})

test.each([page, bareForm])(
  'without JavaScript, %s says that it needs it, why, and what to do',
  async (path) => {
    await using world = await open({ path, context: { javaScriptEnabled: false } })
    const { page } = world
    const told = page.locator('noscript')
    await told.waitFor()
    expect(await told.innerText()).toMatch(
      /This form needs JavaScript\s+Without it we cannot keep bots out. Please switch it on/,
    )
    // A form that is sent all the same comes back with what was typed, and says it again.
    await submit(page)
    await page.getByText('Please allow JavaScript on this page').waitFor()
    expect(await told.count()).toBe(0)
    expect(await page.getByLabel('Email address').inputValue()).toBe('ada@example.com')
    expect(world.rows()).toEqual([])
  },
)

test('when our script is blocked, the visitor is told what to allow, and can sign up after that', async () => {
  await using world = await open({ path: page })
  const { page: opened } = world
  await opened.route('**/assets/page.js', (route) => route.abort())
  await opened.reload()
  expect(await opened.locator('noscript').isVisible()).toBe(false)
  await submit(opened)
  await opened.getByText('Please allow JavaScript on this page').waitFor()
  expect(await accessibilityProblems(opened, true)).toEqual([])
  await opened.unroute('**/assets/page.js')
  // The answer to this try loads the script, and the next try uses it.
  const answered = opened.waitForResponse('**/assets/page.js')
  await opened.getByRole('button', { name: 'Sign up' }).click()
  await answered
  await opened.waitForLoadState()
  await opened.getByRole('button', { name: 'Sign up' }).click()
  await thanks(opened)
  await expect.poll(() => world.rows()).toEqual(['ada@example.com'])
})
