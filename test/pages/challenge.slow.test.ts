// @module-tag slow
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProviderName } from '../../emulators/challenge/providers.ts'
import { accessibilityProblems, openPage, startBrowser } from '../../harness/browser.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { startService } from '../../harness/start-service.ts'

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(() => browser.close())

interface World extends AsyncDisposable {
  readonly challenge: ChallengeWorld
  readonly page: Page
  readonly complaints: string[]
  /** The addresses of the rows in the tab. */
  rows(): (string | undefined)[]
}

/** Opens a page of a service whose challenge is on. */
async function open(
  options: {
    path?: string
    provider?: ProviderName
    context?: BrowserContextOptions
  } = {},
): Promise<World> {
  const { path = '/?tab=Guarded', provider, context } = options
  await using stack = new AsyncDisposableStack()
  const challenge = stack.use(await createChallengeWorld(provider))
  const service = stack.use(await startService({ env: challenge.env }))
  const opened = stack.use(await openPage(browser, service.url + path, context))
  const all = stack.move()
  return {
    challenge,
    page: opened.page,
    complaints: opened.complaints,
    rows: () => addressesIn(join(service.folder, 'data'), 'Guarded.csv'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function submit(page: Page): Promise<void> {
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
}

const thanks = (page: Page) => page.getByRole('heading', { name: 'Thank you' }).waitFor()

test.each([
  ['turnstile', '/?tab=Guarded'],
  ['hcaptcha', '/api/signup/form?tab=Guarded'],
  ['recaptcha', '/?tab=Guarded'],
] as const)(
  'a visitor can sign up with %s on %s under its policy, and no script of it is loaded before the first focus',
  async (provider, path) => {
    await using world = await open({ provider, path })
    const { page, challenge } = world
    await page.waitForLoadState('networkidle')
    expect(challenge.emulator.counters.scripts).toBe(0)
    await submit(page)
    await thanks(page)
    await expect.poll(() => world.rows()).toEqual(['ada@example.com'])
    expect(world.complaints).toEqual([])
  },
)

test('the button stays where it is when the challenge appears', async () => {
  await using world = await open({ provider: 'recaptcha' })
  const { page } = world
  const placeOfButton = () => page.getByRole('button', { name: 'Sign up' }).boundingBox()
  const before = await placeOfButton()
  await page.getByLabel('Email address').focus()
  await page.locator('iframe').waitFor()
  expect(await placeOfButton()).toEqual(before)
})

test.each(['/?tab=Guarded', '/api/signup/form?tab=Guarded'])(
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
  await using world = await open()
  const { page } = world
  await page.route('**/assets/page.js', (route) => route.abort())
  await page.reload()
  expect(await page.locator('noscript').isVisible()).toBe(false)
  await submit(page)
  await page.getByText('Please allow JavaScript on this page').waitFor()
  expect(await accessibilityProblems(page, true)).toEqual([])
  await page.unroute('**/assets/page.js')
  // The answer to this try loads the script, and the next try uses it.
  const answered = page.waitForResponse('**/assets/page.js')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await answered
  await page.waitForLoadState()
  await page.getByRole('button', { name: 'Sign up' }).click()
  await thanks(page)
  await expect.poll(() => world.rows()).toEqual(['ada@example.com'])
})
