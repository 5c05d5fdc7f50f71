/** `npm run screenshots`: takes the pictures of the README and of `docs/`: the form, the thank-you page, the sheet, the admin page, "Try to break it" and messages of chat. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { openPage, startBrowser } from '../harness/browser.ts'
import { createGoogleWorld } from '../harness/google-world.ts'
import { postSignup } from '../harness/post-signup.ts'
import { projectRoot } from '../harness/source-file.ts'
import { startService } from '../harness/start-service.ts'
import { tempFolder } from '../harness/temp-folder.ts'
import { defaultSite } from '../src/config/sites/site.ts'
import { startBreakIt } from './break-it/break-it.ts'
import { chatPage } from './chat-picture.ts'
import { makeUpMonth } from './sandbox-month.ts'

const folder = join(projectRoot, 'docs/pictures')

const page = {
  title: 'The Analytical Engine',
  text: 'It weaves algebraical patterns. Be there when it starts.',
  ...{ button: 'Count me in', accent: '#0a7a4b' },
}
const plan = { name: 'plan', type: 'choice', label: 'Plan', required: true }
const fields = [
  { name: 'company', label: 'Company', maxLength: 80 },
  { ...plan, options: ['Free', 'Pro', 'Team'] },
  { name: 'seats', type: 'number', label: 'Seats', min: 1, max: 500 },
  { name: 'news', type: 'checkbox', label: 'Send me news' },
]
const file = { sites: { launch: { defaultTab: 'Waitlist', page, fields } } }

const [grace, alan] = [
  { name: 'Grace Hopper', company: 'Navy' },
  { name: 'Alan Turing', company: 'Bletchley' },
]
const others = [
  {
    email: 'grace@example.com',
    source: 'launch-page',
    ...grace,
    plan: 'Team',
    seats: 40,
    news: true,
  },
  { email: 'alan@example.com', ...alan, plan: 'Pro', seats: 2, news: false },
]

/** With made-up signups. */
async function shootAdmin(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  await using folderOfData = await tempFolder()
  await makeUpMonth(folderOfData.path, defaultSite, 'workbook')
  const token = crypto.randomUUID()
  await using service = await startService({
    dataDir: folderOfData.path,
    env: { ADMIN_TOKEN: token, SPAM_FILTER: 'quarantine' },
  })
  const viewport = { width: 600, height: 870 }
  await using opened = await openPage(browser, `${service.url}/admin`, {
    ...{ colorScheme, viewport, deviceScaleFactor: 1.5 },
  })
  const { page } = opened
  await page.locator('#token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: '30 days' }).click()
  await page.getByText('Sources, ').waitFor()
  await page.screenshot({ path: join(folder, `admin-${colorScheme}.png`) })
}

async function shootBreakIt(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  await using breakIt = await startBreakIt()
  // High enough for all: what scrolls would lie below the numbers.
  const viewport = { width: 1120, height: 1240 }
  await using opened = await openPage(browser, breakIt.url, {
    ...{ colorScheme, viewport, deviceScaleFactor: 1.5 },
  })
  const { page } = opened
  await page.getByText('Nothing was pressed yet.').waitFor()
  for (const attempt of ['crowd', 'tenfold', 'lost', 'late', 'kill']) {
    await page.locator(`[data-attempt=${attempt}]`).click()
  }
  await page.getByText('Breaking it').waitFor()
  await page.getByText('has one row.').waitFor()
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(folder, `break-it-${colorScheme}.png`), fullPage: true })
}

async function shootChat(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  const ada = { email: 'ada@example.com', name: 'Ada Lovelace', company: 'Analytical Engines' }
  const hostile = { email: 'bob@example.com', name: '@everyone *win* evil.example' }
  await using opened = await openPage(browser, 'about:blank', {
    ...{ colorScheme, viewport: { width: 820, height: 100 } },
  })
  const { page } = opened
  await page.setContent(await chatPage([ada, hostile]))
  await page.screenshot({ path: join(folder, `chat-${colorScheme}.png`), fullPage: true })
}

async function shootLaunch(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  await using world = await createGoogleWorld()
  await using service = await startService({
    env: { ...world.env, ROLLCALL_CONFIG: JSON.stringify(file) },
  })
  for (const signup of others) await postSignup(service.url, { ...signup, site: 'launch' })

  const open = (url: string, width: number, height: number) =>
    openPage(browser, url, {
      colorScheme,
      viewport: { width, height },
      deviceScaleFactor: 1.5,
    })
  const pathOf = (name: string) => join(folder, `${name}-${colorScheme}.png`)

  await using form = await open(`${service.url}/?site=launch`, 480, 620)
  const { page } = form
  await page.locator('[name=email]').fill('ada@example.com')
  await page.locator('[name=company]').fill('Byron & Babbage')
  await page.getByLabel('Pro').check()
  await page.locator('[name=seats]').fill('3')
  await page.getByLabel('Send me news').check()
  await page.screenshot({ path: pathOf('form'), animations: 'disabled' })
  await page.getByRole('button', { name: 'Count me in' }).click()
  await page.waitForURL('**/api/signup/thanks?**')
  await page.setViewportSize({ width: 480, height: 260 })
  await page.screenshot({ path: pathOf('thanks'), animations: 'disabled' })

  const url = `${world.emulator.url}/spreadsheets/${world.spreadsheetId}`
  await using sheet = await open(url, 1200, 600)
  const table = sheet.page.locator('h2:has-text("Waitlist") ~ table').first()
  await table.getByText('ada@example.com').waitFor()
  // The page draws its tables anew while it is open, so that an element does not stay.
  const clip = (await table.boundingBox()) ?? undefined
  await sheet.page.screenshot({ path: pathOf('sheet'), ...(clip && { clip }) })
}

await mkdir(folder, { recursive: true })
const browser = await startBrowser()
for (const colorScheme of ['light', 'dark'] as const) {
  await shootLaunch(browser, colorScheme)
  await shootAdmin(browser, colorScheme)
  await shootBreakIt(browser, colorScheme)
  await shootChat(browser, colorScheme)
}
await browser.close()
