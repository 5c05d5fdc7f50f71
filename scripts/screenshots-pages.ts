import { join } from 'node:path'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { openHost, openPage } from '../harness/browser.ts'
import type { ChallengeWorld } from '../harness/challenge-world.ts'
import { startService } from '../harness/start-service.ts'

/** The width, colours and background that a page is shown with. */
export interface Look {
  readonly look: string
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
  readonly background: string
}

/** The place of the form. */
type Place = Pick<Page, 'locator'> | FrameLocator

interface State {
  readonly name: string
  readonly path: string
  readonly service?: 'branded' | 'yellow' | 'guarded'
  /** The form is in a frame on somebody's page. */
  readonly isFramed?: true
  readonly isWithoutScript?: true
  readonly show?: (form: Place, page: Page) => Promise<unknown>
}

const brand = {
  PAGE_TITLE: 'The Rollcall letter',
  PAGE_TEXT: 'One short mail a month. No noise, and you can leave whenever you like.',
  PAGE_BUTTON: 'Count me in',
  PAGE_ACCENT: '#0a7a4b',
  PAGE_LOGO_URL: 'https://cdn.example/logo.svg',
  PAGE_CONSENT: 'I have read the [privacy policy](https://example.com/privacy) and agree to it.',
  PAGE_NAME: 'optional',
  PAGE_THANKS: 'The first letter comes on Sunday.',
  PAGE_NEXT_URL: 'https://example.com/',
}
const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="180" height="60" viewBox="0 0 180 60">
  <circle cx="30" cy="30" r="28" fill="#0a7a4b"/><path d="m18 31 8 8 16-18" fill="none" stroke="#fff" stroke-width="5"/>
  <text x="70" y="40" font-family="Georgia" font-size="28" fill="#0a7a4b">rollcall</text></svg>`

const form = '/api/signup/form'
const button = (form: Place) => form.locator('[type=submit]').click()

async function sendWrongWithoutCheck(page: Place): Promise<void> {
  await page.locator('form').evaluate((it: HTMLFormElement) => (it.noValidate = true))
  await page.locator('[name=email]').fill('ada@nowhere')
  await button(page)
  await page.locator('[aria-invalid]').first().waitFor()
}

const states: readonly State[] = [
  { name: '01-hosted', path: '/' },
  { name: '02-branded', path: '/', service: 'branded' },
  { name: '03-light-accent', path: '/', service: 'yellow' },
  { name: '04-wrong', path: '/', service: 'branded', show: button },
  {
    name: '05-wrong-without-script',
    path: '/',
    service: 'branded',
    isWithoutScript: true,
    show: sendWrongWithoutCheck,
  },
  {
    name: '06-sending',
    path: '/',
    show: async (_, page) => {
      await page.route('**/api/signup?*', () => {})
      await page.locator('[name=email]').fill('ada@example.com')
      await button(page)
      await page.getByText('Signing you up').waitFor()
    },
  },
  {
    name: '07-failed',
    path: '/',
    show: async (_, page) => {
      await page.route('**/api/signup?*', (route) => route.fulfill({ status: 400, json: {} }))
      await page.locator('[name=email]').fill('ada@example.com')
      await button(page)
      await page.locator('.rollcall-alert:not(:empty)').waitFor()
    },
  },
  {
    name: '08-challenge',
    path: '/',
    service: 'guarded',
    show: async (_, page) => {
      await page.locator('[name=email]').fill('ada@example.com')
      await page.locator('iframe').waitFor()
      await button(page)
      await page.locator('.rollcall-status:not(:empty)').waitFor()
    },
  },
  { name: '09-needs-script', path: '/', service: 'guarded', isWithoutScript: true },
  {
    name: '10-not-a-person',
    path: '/',
    service: 'guarded',
    isWithoutScript: true,
    show: async (_, page) => {
      await page.locator('[name=email]').fill('ada@example.com')
      await button(page)
      await page.locator('[role=alert]').waitFor()
    },
  },
  { name: '11-thanks', path: '/api/signup/thanks' },
  { name: '12-thanks-branded', path: '/api/signup/thanks?page=hosted', service: 'branded' },
  { name: '13-nothing', path: '/nothing' },
  { name: '14-wrong-link', path: `/?source=${'x'.repeat(300)}` },
  { name: '15-german', path: '/?language=de&name=required', show: button },
  { name: '16-arabic', path: '/?language=ar&name', service: 'branded', show: button },
  {
    name: '17-french',
    path: '/?language=fr&name',
    show: sendWrongWithoutCheck,
    isWithoutScript: true,
  },
  { name: '18-frame', path: form, isFramed: true },
  { name: '19-frame-wrong', path: form, isFramed: true, show: button },
  { name: '20-frame-branded', path: form, service: 'branded', isFramed: true, show: button },
  { name: '21-frame-thanks', path: '/api/signup/thanks?page=form', isFramed: true },
  {
    name: '22-frame-needs-script',
    path: form,
    service: 'guarded',
    isFramed: true,
    isWithoutScript: true,
  },
]

/** Takes pictures of every page in every state. */
export async function shootPages(
  browser: Browser,
  folder: string,
  { looks, world }: { readonly looks: readonly Look[]; readonly world: ChallengeWorld },
): Promise<void> {
  await using plain = await startService()
  await using branded = await startService({ env: brand })
  await using yellow = await startService({ env: { ...brand, PAGE_ACCENT: '#ffd000' } })
  await using guarded = await startService({ env: world.env })
  const services = { plain, branded, yellow, guarded }
  for (const look of looks) {
    for (const state of states) {
      const { url } = services[state.service ?? 'plain']
      await using opened = await openState(browser, url, state, look)
      const { page } = opened
      await page.waitForLoadState('networkidle')
      await state.show?.(state.isFramed ? page.frameLocator('iframe') : page, page)
      const path = join(folder, `page-${state.name}-${look.look}.png`)
      await page.screenshot({ path, fullPage: true, animations: 'disabled' })
    }
  }
}

async function openState(
  browser: Browser,
  service: string,
  { path, isFramed, isWithoutScript }: State,
  { width, colorScheme, background }: Look,
) {
  const context = {
    colorScheme,
    viewport: { width, height: isFramed ? 260 : 520 },
    javaScriptEnabled: !isWithoutScript,
  }
  const theme = `${path.includes('?') ? '&' : '?'}theme=${colorScheme}`
  const opened = isFramed
    ? await openHost(browser, {
        service,
        context,
        head: `<style>html { background: ${background}; color-scheme: ${colorScheme} } body { margin: 24px }</style>`,
        body: `<iframe src="%s${path}${theme}" title="Sign up" height="220" style="width: 100%; border: 0"></iframe>
          <script src="%s/embed/frame.js"></script>`,
      })
    : await openPage(browser, 'about:blank', context)
  await opened.page.route('https://cdn.example/**', (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: logo }),
  )
  if (!isFramed) await opened.page.goto(service + path)
  return opened
}
