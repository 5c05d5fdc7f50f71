// @module-tag slow
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProviderName } from '../../emulators/challenge/providers.ts'
import { accessibilityProblems, openHost, startBrowser } from '../../harness/browser.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(() => browser.close())

const thanks = 'Thank you! You are signed up.'
const tag = '<script src="%s/embed.js" data-tab="Guarded" async></script>'

interface World extends AsyncDisposable {
  readonly challenge: ChallengeWorld
  readonly service: RunningService
  readonly page: Page
  readonly complaints: string[]
  /** The addresses of the rows in the tab. */
  rows(): (string | undefined)[]
}

/** A service with a challenge, and somebody's page with a form. */
async function open(
  options: {
    provider?: ProviderName
    body?: string
  } = {},
): Promise<World> {
  const { provider, body = tag } = options
  await using stack = new AsyncDisposableStack()
  const challenge = stack.use(await createChallengeWorld(provider))
  const service = stack.use(await startService({ env: challenge.env }))
  const host = stack.use(await openHost(browser, { body, service: service.url }))
  const all = stack.move()
  return {
    challenge,
    service,
    page: host.page,
    complaints: host.complaints,
    rows: () => addressesIn(join(service.folder, 'data'), 'Guarded.csv'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const email = (page: Page) => page.getByLabel('Email address')

async function submit(page: Page, address = 'ada@example.com'): Promise<void> {
  await email(page).fill(address)
  await page.getByRole('button', { name: 'Sign up' }).click()
}

test.each(['turnstile', 'hcaptcha', 'recaptcha'] as const)(
  'a visitor can sign up with %s, and no script of it is loaded before the first focus',
  async (provider) => {
    await using world = await open({ provider })
    const { page, challenge } = world
    await page.getByRole('button', { name: 'Sign up' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(challenge.emulator.counters.scripts).toBe(0)
    await submit(page)
    await page.getByText(thanks).waitFor()
    await expect.poll(() => world.rows()).toEqual(['ada@example.com'])
    expect(world.complaints).toEqual([])
  },
)

test('a challenge that needs a click does not cover the button, and has the language and theme of the form', async () => {
  await using world = await open({
    body: tag.replace('async', 'data-theme="dark" data-language="de" async'),
  })
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
  await tick(page)
  await page.getByText('Vielen Dank!').waitFor()
})

test('the form gets a new token once when the provider refuses the first one', async () => {
  await using world = await open()
  const { page, challenge } = world
  const refused = {
    redeem: 'now',
    answer: {
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: '{"success":false,"error-codes":["timeout-or-duplicate"]}',
    },
  } as const
  challenge.emulator.faults.add({ ...refused, times: 1 })
  await submit(page)
  await page.getByText(thanks).waitFor()
  await expect.poll(() => world.rows()).toHaveLength(1)
  const tokens = challenge.emulator.calls.map(({ fields }) => fields['response'])
  expect(new Set(tokens).size).toBe(2)
})

test('the visitor is told when the script of the provider does not come', async () => {
  await using world = await open()
  const { page, challenge } = world
  challenge.emulator.setWidget({ script: 'hang' })
  await page.clock.install()
  await submit(page)
  const told = page.getByRole('alert').getByText('did not load')
  await expect
    .poll(async () => {
      await page.clock.runFor(1000)
      return told.isVisible()
    })
    .toBe(true)
})

/** Ticks the box of the widget, as a person does. */
async function tick(page: Page): Promise<void> {
  const frame = page.frameLocator('rollcall-form iframe')
  await frame.getByRole('checkbox').click()
}
