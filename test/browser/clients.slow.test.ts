// @module-tag slow
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessibilityProblems, openHost, startBrowser } from '../../harness/browser.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'
import { addressesIn, readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

let browser: Browser
let challenge: ChallengeWorld
let guarded: RunningService
let plain: RunningService

beforeAll(async () => {
  ;[browser, challenge, plain] = await Promise.all([
    startBrowser(),
    createChallengeWorld(),
    startService(),
  ])
  guarded = await startService({ env: challenge.env })
})

beforeEach(() => {
  challenge.emulator.setWidget({ outcome: 'pass', expireAfterMs: 0, script: 'ok' })
  challenge.emulator.faults.clear()
})

afterAll(async () => {
  await browser.close()
  await Promise.all([plain.stop(), guarded.stop()])
  await challenge[Symbol.asyncDispose]()
})

interface Client {
  readonly client: string
  readonly head?: string
  /** The page's body with a form for this tab. */
  readonly body: (tab: string, language: string) => string
  /** What a script of the page does after that. It runs outside of the page's HTML, as a strict policy wants. */
  readonly begin?: (page: Page, tab: string, language: string) => Promise<unknown>
}

const loaded = '<script src="%s/embed.js"></script>'

const clients: readonly Client[] = [
  {
    client: 'the script tag',
    body: (tab, language) =>
      `<script src="%s/embed.js" data-tab="${tab}" data-language="${language}" async></script>`,
  },
  {
    client: 'the element',
    body: (tab, language) =>
      `<rollcall-form tab="${tab}" language="${language}"></rollcall-form>${loaded}`,
  },
  {
    client: 'Rollcall.render',
    // In the body it would draw a form of its own before this script runs.
    head: loaded,
    body: () => '',
    begin: (page, tab, language) =>
      page.evaluate((options) => void window.Rollcall.render(document.body, options), {
        tab,
        language,
      }),
  },
  {
    client: 'Rollcall.enhance',
    head: loaded,
    body: (tab) => `<form id="own" method="post" action="%s/api/signup">
      <label>Email address <input type="email" name="email" required></label>
      <input type="hidden" name="sheetTab" value="${tab}"><button type="submit">Sign up</button>
      </form>`,
    begin: (page, _, language) =>
      page
        .locator('#own')
        .evaluate((form: HTMLFormElement, options) => void window.Rollcall.enhance(form, options), {
          language,
        }),
  },
]

interface OpenOptions {
  readonly service?: RunningService
  readonly language?: string
  readonly csp?: string
}

interface Form extends AsyncDisposable {
  readonly page: Page
  readonly email: Locator
  readonly button: Locator
  readonly complaints: string[]
  /** The addresses of the rows in the form's tab. */
  rows(): (string | undefined)[]
}

let count = 0

async function open({ head, body, begin }: Client, options: OpenOptions = {}): Promise<Form> {
  const { service = guarded, language = 'en', csp } = options
  const tab = `Tab${++count}`
  const host = await openHost(browser, {
    ...(head !== undefined && { head }),
    body: body(tab, language),
    service: service.url,
    ...(csp !== undefined && { csp }),
  })
  const { page } = host
  await begin?.(page, tab, language)
  return {
    page,
    email: page.locator('input[name=email]'),
    button: page.locator('button[type=submit]'),
    complaints: host.complaints,
    rows: () => addressesIn(join(service.folder, 'data'), `${tab}.csv`),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  }
}

const address = 'ada@example.com'
const thanks = 'Thank you! You are signed up.'

async function submit({ email, button }: Form): Promise<void> {
  await email.fill(address)
  await button.click()
}

async function expectOneRow({ page, rows }: Form, text = thanks): Promise<void> {
  await page.getByText(text).waitFor()
  await expect.poll(rows).toEqual([address])
}

/** Expects that the form shows this alert and keeps what was typed. */
async function expectAlert({ page, email }: Form, text: string): Promise<void> {
  await page.getByRole('alert').getByText(text).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await email.inputValue()).toBe(address)
}

describe.each(clients)('a form by $client', (client) => {
  test('needs no mouse while the challenge is off', async () => {
    await using form = await open(client, { service: plain })
    await form.button.waitFor()
    await form.page.keyboard.press('Tab')
    await form.page.keyboard.type(address)
    await form.page.keyboard.press('Tab')
    await form.page.keyboard.press('Enter')
    await expectOneRow(form)
    const told = form.page.getByRole('status').filter({ hasText: thanks })
    expect(await told.evaluate((it) => it.matches(':focus'))).toBe(true)
    expect(form.complaints).toEqual([])
  })

  test('works under a strict policy while the challenge is on', async () => {
    const { url } = challenge.emulator
    await using form = await open(client, {
      csp: `default-src 'none'; script-src ${guarded.url} ${url}; connect-src ${guarded.url}; frame-src ${url}`,
    })
    await submit(form)
    await expectOneRow(form)
    expect(form.complaints).toEqual([])
  })

  test('says in German that a challenge failed, and the next try gets a new challenge', async () => {
    await using form = await open(client, { language: 'de' })
    challenge.emulator.setWidget({ outcome: 'error' })
    await submit(form)
    await expectAlert(form, 'Wir konnten nicht bestätigen, dass Sie ein Mensch sind.')
    challenge.emulator.setWidget({ outcome: 'pass' })
    await form.button.click()
    await expectOneRow(form, 'Vielen Dank!')
  })

  test('says that nobody solved the challenge in time, and it can be solved with the next try', async () => {
    await using form = await open(client)
    challenge.emulator.setWidget({ outcome: 'interactive' })
    await form.page.clock.install()
    await submit(form)
    await form.page.getByText('If you see a box, please tick it.').waitFor()
    const told = form.page.getByRole('alert').getByText('We could not confirm')
    while (!(await told.isVisible())) await form.page.clock.runFor(10_000)
    await expectAlert(form, 'We could not confirm that you are human.')
    await form.button.click()
    await form.page.frameLocator('iframe').getByRole('checkbox').click()
    await expectOneRow(form)
  })

  test('renews a token that expires before it is sent', async () => {
    await using form = await open(client)
    const { counters } = challenge.emulator
    const solvedBefore = counters.solved
    challenge.emulator.setWidget({ expireAfterMs: 400 })
    await form.email.fill(address)
    await expect.poll(() => challenge.emulator.counters.solved - solvedBefore).toBeGreaterThan(2)
    challenge.emulator.setWidget({ expireAfterMs: 0 })
    await form.button.click()
    await expectOneRow(form)
  })

  test('says that the script of the challenge did not load, and loads it with the next try', async () => {
    await using form = await open(client)
    challenge.emulator.setWidget({ script: 'missing' })
    await submit(form)
    await expectAlert(form, 'The check that keeps bots out did not load.')
    challenge.emulator.setWidget({ script: 'ok' })
    await form.button.click()
    await expectOneRow(form)
  })

  test('tries again during an outage of the provider, and then there is one row', async () => {
    await using form = await open(client)
    // The service itself asks the provider twice.
    challenge.emulator.faults.add({ times: 2, answer: 'serverError' })
    await form.page.clock.install()
    await submit(form)
    await form.page.getByText('Still trying').waitFor()
    await form.page.clock.runFor(10_000)
    await expectOneRow(form)
  })

  test('does not send when the public config has a challenge without a key, which only a test can make', async () => {
    await using form = await open(client)
    const { page } = form
    await page.route('**/api/config', async (route) => {
      const answer = await route.fetch()
      const config = (await answer.json()) as object
      await route.fulfill({ response: answer, json: { ...config, challengeSiteKey: null } })
    })
    await form.email.fill(address)
    await expectAlert(form, 'Signing up is not possible just now.')
    await form.button.click()
    await expectAlert(form, 'Signing up is not possible just now.')
    await page.unroute('**/api/config')
    await form.button.click()
    await expectOneRow(form)
  })

  test('sends a signup that was made offline once the network is back', async () => {
    await using form = await open(client)
    const { page } = form
    await form.email.fill(address)
    // The form has loaded everything once the challenge is solved.
    await expect.poll(() => page.locator('[name=challengeToken]').inputValue()).toMatch(/^0\./)
    await page.context().setOffline(true)
    await form.button.click()
    await page.getByRole('status').getByText('You are offline.').waitFor()
    await page.context().setOffline(false)
    await expectOneRow(form)
  })

  test('is busy while it waits for a slow network, and sends one request for a double click', async () => {
    await using form = await open(client)
    const { page, email, button } = form
    const answer = Promise.withResolvers<undefined>()
    let posts = 0
    await page.route('**/api/signup', async (route) => {
      posts += route.request().method() === 'POST' ? 1 : 0
      await answer.promise
      await route.continue()
    })
    await email.fill(address)
    const width = (await button.boundingBox())?.width
    await button.dblclick()
    await page.getByRole('status').getByText('Signing you up').waitFor()
    expect(await button.getAttribute('aria-disabled')).toBe('true')
    expect((await button.boundingBox())?.width).toBe(width)
    await email.press('Enter')
    answer.resolve(undefined)
    await expectOneRow(form)
    expect(posts).toBe(1)
  })
})

test('all four forms on one page load the script of the provider once, and each has its own challenge', async () => {
  const scriptsBefore = challenge.emulator.counters.scripts
  const tabs = clients.map((_, index) => `Together${index}`)
  await using host = await openHost(browser, {
    body: clients.map(({ body }, index) => body(tabs[index] ?? '', 'en')).join('<hr>'),
    service: guarded.url,
  })
  const { page } = host
  for (const [index, { begin }] of clients.entries()) await begin?.(page, tabs[index] ?? '', 'en')
  const emails = page.getByLabel('Email address')
  await expect.poll(() => emails.count()).toBe(clients.length)
  for (const index of clients.keys()) await emails.nth(index).fill(address)
  for (const index of clients.keys()) {
    await page.getByRole('button', { name: 'Sign up' }).first().click()
    await expect.poll(() => page.getByText(thanks).count()).toBe(index + 1)
  }
  const rows = () => tabs.map((tab) => readTab(join(guarded.folder, 'data'), `${tab}.csv`).length)
  await expect.poll(rows).toEqual(tabs.map(() => 2))
  expect(challenge.emulator.counters.scripts - scriptsBefore).toBe(1)
  expect(host.complaints).toEqual([])
})
