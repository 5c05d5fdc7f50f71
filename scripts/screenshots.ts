/**
 * `npm run screenshots`: takes pictures of the form and the pages in every state, in light, in dark and
 * in phone width, into screenshots/, and those of the README into docs/pictures/.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createChallengeWorld } from '../harness/challenge-world.ts'
import { openHost, startBrowser } from '../harness/browser.ts'
import { shootFields } from './screenshots-fields.ts'
import { shootPages } from './screenshots-pages.ts'
import { shootReadme } from './screenshots-readme.ts'
import { startService } from '../harness/start-service.ts'
import { projectRoot } from '../harness/source-file.ts'

const folder = join(projectRoot, 'screenshots')

interface State {
  readonly name: string
  /** The attributes of the script tag. */
  readonly options?: string
  readonly html?: string
  readonly head?: string
  readonly challenge?: true
  readonly show?: (page: Page) => Promise<unknown>
}

const email = (page: Page) => page.locator('rollcall-form input[name=email]')
const submit = (page: Page) => page.locator('rollcall-form button[type=submit]').click()
const type = (page: Page, text: string) => email(page).fill(text)

async function answer(page: Page, status: number): Promise<void> {
  const headers = { 'access-control-allow-origin': '*' }
  await page.route('**/api/signup', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status, headers, json: { status } })
      : route.continue(),
  )
}

const panel =
  'data-text-title="The Rollcall letter" data-text-text="One short mail a month. No noise." data-name'

const states: readonly State[] = [
  { name: '01-plain' },
  { name: '02-panel', options: panel },
  { name: '03-focus', show: (page) => email(page).focus() },
  { name: '04-missing', show: submit },
  {
    name: '05-wrong',
    options: panel,
    show: async (page) => {
      await type(page, 'ada@nowhere')
      await submit(page)
    },
  },
  {
    name: '06-suggestion',
    show: async (page) => {
      await type(page, 'ada@gmial.com')
      await page.locator('.rollcall-suggestion button').waitFor()
    },
  },
  {
    name: '07-sending',
    show: async (page) => {
      await page.route('**/api/signup', () => {})
      await type(page, 'ada@example.com')
      await submit(page)
      await page.locator('.rollcall-status:not(:empty)').waitFor()
    },
  },
  {
    name: '08-retrying',
    show: async (page) => {
      await answer(page, 503)
      await type(page, 'ada@example.com')
      await submit(page)
      await page.getByText('Still trying').waitFor()
    },
  },
  {
    name: '09-error',
    options: panel,
    show: async (page) => {
      await answer(page, 400)
      await type(page, 'ada@example.com')
      await submit(page)
      await page.locator('.rollcall-alert:not(:empty)').waitFor()
    },
  },
  {
    name: '10-done',
    show: async (page) => {
      await type(page, 'ada@example.com')
      await submit(page)
      await page.locator('.rollcall-done:not(:empty)').waitFor()
    },
  },
  {
    name: '11-challenge',
    challenge: true,
    show: async (page) => {
      await type(page, 'ada@example.com')
      await page.locator('rollcall-form iframe').waitFor()
      await submit(page)
      await page.locator('.rollcall-status:not(:empty)').waitFor()
    },
  },
  { name: '12-german', html: 'lang="de"', options: 'data-name', show: submit },
  { name: '13-arabic', html: 'lang="ar" dir="rtl"', options: 'data-name', show: submit },
  {
    name: '14-arabic-plain',
    html: 'lang="ar" dir="rtl"',
    show: (page) => type(page, 'ada@example.com'),
  },
  {
    name: '15-hostile',
    options: panel,
    head: '<style>body * { all: unset !important; font-size: 50px !important; color: red !important; opacity: .5 !important }</style>',
  },
  {
    name: '16-themed',
    options: 'data-text-submit="Count me in"',
    head: '<style>rollcall-form { --rollcall-accent: #0a7a4b; --rollcall-on-accent: #fff; --rollcall-radius: 999px; --rollcall-frame: 0; --rollcall-padding: 0; --rollcall-background: transparent; --rollcall-font: Georgia, serif }</style>',
  },
  {
    name: '17-consent',
    options:
      'data-consent="I have read the [privacy policy](https://example.com/privacy) and agree to it."',
  },
  {
    name: '18-consent-missing',
    html: 'lang="ar" dir="rtl"',
    options:
      'data-consent="I have read the [privacy policy](https://example.com/privacy) and agree to it."',
    show: async (page) => {
      await type(page, 'ada@example.com')
      await submit(page)
    },
  },
]

const looks = [
  { look: 'light', width: 640, colorScheme: 'light', background: '#fff' },
  { look: 'dark', width: 640, colorScheme: 'dark', background: '#12161c' },
  { look: 'phone', width: 360, colorScheme: 'light', background: '#f4f6f8' },
] as const

await rm(folder, { recursive: true, force: true })
await mkdir(folder)
await using world = await createChallengeWorld()
world.emulator.setWidget({ outcome: 'interactive' })
await using plain = await startService()
await using guarded = await startService({ env: world.env })
const browser = await startBrowser()
for (const { look, width, colorScheme, background } of looks) {
  for (const { name, options = '', html = 'lang="en"', head = '', challenge, show } of states) {
    await using host = await openHost(browser, {
      service: (challenge ? guarded : plain).url,
      body: `<script src="%s/embed.js" data-tab="Shots" ${options} async></script>`,
      html,
      head: `<style>html { background: ${background} } body { margin: 24px }</style>${head}`,
      context: { colorScheme, viewport: { width, height: 300 } },
    })
    await host.page.locator('rollcall-form .card').waitFor()
    await show?.(host.page)
    await host.page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true })
  }
}
await shootPages(browser, folder, { looks, world })
await shootFields(browser, folder, looks)
await shootReadme(browser)
await browser.close()
process.stdout.write(`Look at them: ${folder}\n`)
