import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyField } from '../../harness/every-field.ts'
import { patienceMs } from '../../harness/patience.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'
import { pageTexts } from '../../src/pages/texts.ts'

const cells = [
  ...['Navy', 'pro', 'Italy', '7', 'https://navy.example', '2026-12-01', '+1 202 555 0100'],
  ...['TRUE', 'mail'],
]

let folder: TempFolder
let service: RunningService
let browser: Browser
beforeAll(async () => {
  folder = await tempFolder()
  service = await startService({
    env: { ROLLCALL_CONFIG: JSON.stringify({ sites: { launch: { fields: everyField } } }) },
  })
  browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    userDataDir: join(folder.path, 'profile'),
    // Firefox does not run as root in the home of somebody else.
    env: { ...process.env, HOME: folder.path },
    timeout: patienceMs,
  })
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  await folder[Symbol.asyncDispose]()
})

const ways = [
  ['the hosted page', 'en', (url: string) => `${url}/?site=launch&language=en&utm_source=mail`],
  [
    'the bare form',
    'de',
    (url: string) => `${url}/api/signup/form?site=launch&language=de&utm_source=mail`,
  ],
  ['the hosted page', 'ar', (url: string) => `${url}/?site=launch&language=ar&utm_source=mail`],
] as const

test.each(ways)(
  'in Firefox %s in %s tells errors and takes a signup by keyboard',
  async (way, language, addressOf) => {
    const page = await open(addressOf(service.url))
    const email = `${way.replaceAll(' ', '-')}.${language}@example.com`
    await signUpByKeyboard(page, language, email)
    await expect.poll(() => cellsOf(email)).toEqual(cells)
  },
)

test.each(['en', 'ar'] as const)(
  'in Firefox the embed in %s tells errors and takes a signup by keyboard',
  async (language) => {
    const script = `<script src="${service.url}/embed.js" data-site="launch"></script>`
    await using host = await hostOf(script, language)
    const page = await open(`${host.url}/?utm_source=mail`)
    const email = `embed.${language}@example.com`
    await signUpByKeyboard(page, language, email)
    await expect.poll(() => cellsOf(email)).toEqual(cells)
  },
)

test('in Firefox the hosted page and the embed solve a puzzle, and the Tab key passes the hidden field by', async () => {
  await using puzzled = await startService({ env: { CHALLENGE_PROVIDER: 'altcha' } })
  await using host = await hostOf(
    `<script src="${puzzled.url}/embed.js"></script><rollcall-form></rollcall-form>`,
    'en',
  )
  for (const [email, address] of [
    ['page@example.com', puzzled.url],
    ['embed@example.com', host.url],
  ] as const) {
    const page = await open(address)
    await (await page.waitForSelector('>>> [name=email]'))?.focus()
    await page.keyboard.type(email)
    await page.keyboard.press('Tab')
    const focused = () => {
      const { activeElement } = document
      return (activeElement?.shadowRoot?.activeElement ?? activeElement)?.tagName
    }
    expect(await page.evaluate(focused)).toBe('BUTTON')
    await page.keyboard.press('Enter')
    const addresses = () => readTab(join(puzzled.folder, 'data'), 'Sheet1.csv').map(([it]) => it)
    await expect.poll(addresses).toContain(email)
  }
})

/** Serves a page with this body on an origin of its own. */
async function hostOf(body: string, language: string) {
  const text = `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>Host</title><body>${body}`
  const host = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(text)
  }).listen(0, '127.0.0.1')
  await once(host, 'listening')
  return {
    url: `http://127.0.0.1:${(host.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      host.closeAllConnections()
      await new Promise((resolve) => host.close(resolve))
    },
  }
}

async function open(address: string): Promise<Page> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  await page.goto(address)
  return page
}

/** The messages beside the fields, and the name of the field with the focus. */
function told(page: Page): Promise<{ messages: string[]; focused: string; direction: string }> {
  return page.evaluate(() => {
    const root = document.querySelector('rollcall-form')?.shadowRoot ?? document
    const wrong = [...root.querySelectorAll('[aria-invalid=true]')]
    return {
      messages: wrong.map((control) => {
        const ids = control.getAttribute('aria-describedby') ?? ''
        const note = root.querySelector(`#${CSS.escape(ids.split(' ')[0] ?? '')}`)
        return note?.textContent ?? ''
      }),
      focused: (root.activeElement as HTMLInputElement | null)?.name ?? '',
      direction: getComputedStyle(root.querySelector('form') ?? document.body).direction,
    }
  })
}

async function signUpByKeyboard(
  page: Page,
  language: 'en' | 'de' | 'ar',
  email: string,
): Promise<void> {
  const { emailMissing, valueMissing, choiceMissing, numberTooHigh, urlWrong, consentMissing } =
    pageTexts[language].fields
  const press = async (...keys: ('Tab' | ' ' | 'ArrowDown' | 'Enter')[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const type = (text: string) => page.keyboard.type(text)
  const query = '>>> [name=email]'
  await (await page.waitForSelector(query))?.focus()

  // Everything is wrong: past company, plan and country to seats and home.
  await press('Tab', 'Tab', 'Tab', 'Tab')
  await type('501')
  await press('Tab')
  await type('nowhere')
  await press('Enter')
  const tooHigh = numberTooHigh.replace('*', '500')
  const messages = [emailMissing, valueMissing, choiceMissing, tooHigh, urlWrong, consentMissing]
  const direction = language === 'ar' ? 'rtl' : 'ltr'
  await expect.poll(() => told(page)).toEqual({ messages, focused: 'email', direction })

  await type(email)
  await press('Tab')
  await type('Navy')
  await press('Tab', ' ', 'ArrowDown', 'Tab')
  await type('I')
  await press('Tab')
  await replace(page, '7')
  await press('Tab')
  await replace(page, 'https://navy.example')
  await press('Tab')
  // The parts of a date, in the order of the browser's language.
  await type('12012026')
  // Firefox has a button for a calendar in the field.
  await press('Tab', 'Tab')
  await type('+1 202 555 0100')
  await press('Tab', ' ', 'Enter')
}

async function replace(page: Page, text: string): Promise<void> {
  await page.keyboard.down('Control')
  await page.keyboard.press('a')
  await page.keyboard.up('Control')
  await page.keyboard.type(text)
}

/** The cells of the fields in the row with this address. */
function cellsOf(email: string): string[] | undefined {
  const rows = readTab(join(service.folder, 'data'), 'launch/Sheet1.csv')
  return rows.find(([address]) => address === email)?.slice(7)
}
