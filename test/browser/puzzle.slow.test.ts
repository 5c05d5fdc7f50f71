// @module-tag slow
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createChallenge, HmacAlgorithm } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accessibilityProblems, openHost, openPage, startBrowser } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'

const shared = shareService({ env: { CHALLENGE_PROVIDER: 'altcha' } })
const { open, visit, rows } = shared

/** Pages of this host come without HTTPS, and the browser knows that they do not come from this machine. */
const insecureHost = 'rollcall.test'

let insecure: Browser
beforeAll(async () => {
  insecure = await startBrowser([`--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`])
})
afterAll(() => insecure.close())

const tag = (tab: string) => `<script src="%s/embed.js" data-tab="${tab}" async></script>`
const thanks = 'Thank you! You are signed up.'
const email = (page: Page) => page.getByLabel('Email address')
const addresses = (tab: string) => rows(tab).map(([address]) => address)

async function submit(page: Page, address: string): Promise<void> {
  await email(page).fill(address)
  await page.getByRole('button', { name: 'Sign up' }).click()
}

/** The addresses that the page asks for from now on, without their origin. */
function askedFor(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  return asked
}

const puzzles = (asked: readonly string[]) => asked.filter((path) => path === '/api/challenge')

test('the embed solves a puzzle under a strict policy, from the first focus on, and shows nothing of it', async () => {
  const { url } = shared.service
  await using host = await openHost(shared.browser, {
    body: tag('Embed'),
    csp: `default-src 'none'; script-src ${url}; connect-src ${url}; style-src 'none'; trusted-types 'none'`,
    service: url,
  })
  const { page } = host
  await page.getByRole('button', { name: 'Sign up' }).waitFor()
  const asked = askedFor(page)
  await email(page).focus()
  await expect.poll(() => puzzles(asked)).toHaveLength(1)
  expect(asked).toContain('/embed/puzzle.js')
  await submit(page, 'ada@example.com')
  await page.getByText(thanks).waitFor()
  expect(
    await page.evaluate(() => document.querySelector('rollcall-form')?.childElementCount),
  ).toBe(0)
  expect(await accessibilityProblems(page)).toEqual([])
  await expect.poll(() => addresses('Embed')).toEqual(['ada@example.com'])
  expect(puzzles(asked)).toHaveLength(1)
  expect(host.complaints).toEqual([])
})

test.each(['/?tab=Hosted', '/api/signup/form?tab=Bare'])(
  'the page %s solves a puzzle and sends it',
  async (path) => {
    await using opened = await visit(path)
    await submit(opened.page, 'ada@example.com')
    await opened.page.getByRole('heading', { name: 'Thank you' }).waitFor()
    await expect.poll(() => addresses(path.split('=')[1] ?? '')).toEqual(['ada@example.com'])
    expect(opened.complaints).toEqual([])
  },
)

test('a page that was open for longer than the life of a puzzle has a new one at a later focus, and is taken', async () => {
  await using opened = await visit('/?tab=Late&name')
  const { page } = opened
  const asked = askedFor(page)
  await page.clock.install()
  await email(page).fill('ada@example.com')
  await expect.poll(() => puzzles(asked)).toHaveLength(1)
  await page.getByLabel('Name').focus()
  expect(puzzles(asked)).toHaveLength(1)
  await page.clock.fastForward('06:00')
  // A focus while the first puzzle is still being solved asks for none.
  await expect
    .poll(async () => {
      await email(page).focus()
      await page.getByLabel('Name').focus()
      return puzzles(asked)
    })
    .toHaveLength(2)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  await expect.poll(() => addresses('Late')).toEqual(['ada@example.com'])
})

test('the form stays usable while it solves a costly puzzle, and tells that it is sending', async () => {
  await using opened = await visit('/?tab=Costly')
  const { page } = opened
  const puzzle = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: 50_000,
    counter: 1_000_000,
    deriveKey,
    hmacAlgorithm: HmacAlgorithm.SHA_256,
    hmacSignatureSecret: 'nobody solves this one',
    expiresAt: Math.floor(Date.now() / 1000) + 300,
  })
  await page.route('**/api/challenge*', (route) => route.fulfill({ json: puzzle }))
  await email(page).focus()
  await page.waitForResponse('**/api/challenge*')
  await page.keyboard.type('ada@gmial.com')
  await page.getByRole('button', { name: 'Did you mean ada@gmail.com?' }).click()
  expect(await email(page).inputValue()).toBe('ada@gmail.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByRole('status').getByText('Signing you up').waitFor()
  expect(opened.complaints).toEqual([])
})

const hosted = (language: string) => `/?language=${language}`
test.each([
  ['en', 'Please open this page with https:// to sign up.'],
  [
    'de',
    'Die Anmeldung braucht eine sichere Verbindung. Bitte öffnen Sie diese Seite mit https://.',
  ],
])(
  'a page of http:// says at the first focus, in %s, that it needs https, and its author reads why',
  async (language, text) => {
    const url = `http://${insecureHost}:${new URL(shared.service.url).port}${hosted(language)}`
    await using opened = await openPage(insecure, url)
    const { page } = opened
    expect(await page.evaluate(() => isSecureContext)).toBe(false)
    await page.locator('input[name=email]').focus()
    await page.getByRole('alert').getByText(text).waitFor()
    expect(opened.complaints).toEqual([
      'Rollcall: this page needs HTTPS: browsers solve no proof of work for a page of http://.',
    ])
    expect(await accessibilityProblems(page, true)).toEqual([])
    await page.locator('input[name=email]').fill('ada@example.com')
    await page.locator('button[type=submit]').click()
    await page.getByRole('alert').getByText(text).waitFor()
  },
)

test("ALTCHA's own widget in a form of somebody's own solves a puzzle, and the form is taken", async () => {
  const body = `<form method="post" action="%s/api/signup">
    <input name="email" aria-label="Email address"><input type="hidden" name="tab" value="Widget">
    <altcha-widget challenge="%s/api/challenge"></altcha-widget><button>Sign up</button></form>`
  await using host = await open({ body })
  const { page } = host
  const content = readFileSync(fileURLToPath(import.meta.resolve('altcha')), 'utf8')
  await page.addScriptTag({ content, type: 'module' })
  await page.getByRole('checkbox').press('Space')
  await page.getByText('Verified').waitFor()
  await submit(page, 'ada@example.com')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  await expect
    .poll(() => rows('Widget').map(([address, , , , , metadata]) => [address, metadata]))
    .toEqual([['ada@example.com', '']])
})

test("a form of the page's own with ALTCHA's widget sends one solution when the embed takes it over", async () => {
  const body = `<form id="own"><input name="email" aria-label="Email address">
    <input type="hidden" name="altcha" value="of the widget"><button>Sign up</button></form>
    <script src="%s/embed.js"></script><script>Rollcall.enhance(document.querySelector('#own'))</script>`
  await using host = await open({ body })
  const sent = host.page.waitForRequest((it) => it.method() === 'POST')
  await submit(host.page, 'ada@example.com')
  const fields = new URLSearchParams((await sent).postData() ?? '')
  expect([...fields.keys()].filter((name) => name !== 'rollcall_stamp')).toEqual([
    'email',
    'challengeToken',
  ])
  await host.page.getByText(thanks).waitFor()
})
