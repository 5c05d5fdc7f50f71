import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openHost, openPage } from '../harness/browser.ts'
import { startService } from '../harness/start-service.ts'
import type { Look } from './screenshots-pages.ts'

const fields = [
  { name: 'company', label: 'Company', required: true, maxLength: 80 },
  {
    name: 'plan',
    label: 'Plan',
    type: 'choice',
    options: ['Free', 'Team', 'Company'],
    required: true,
  },
  {
    name: 'country',
    label: 'Country',
    type: 'choice',
    options: ['Austria', 'France', 'Italy', 'Spain', 'Wales'],
  },
  { name: 'seats', label: 'Seats', type: 'number', min: 1, max: 500 },
  { name: 'home', label: 'Web site', type: 'url' },
  { name: 'start', label: 'When do you begin?', type: 'date' },
  { name: 'phone', label: 'Phone', type: 'phone' },
  {
    name: 'news',
    label: 'Send me news about the launch, at most once a month',
    type: 'checkbox',
    required: true,
  },
]
const page = {
  title: 'The launch',
  consent: 'I have read the [privacy policy](https://example.com/).',
}

/** Takes pictures of a form with every type of field: on the page and in the embed, with errors and without. */
export async function shootFields(
  browser: Browser,
  folder: string,
  looks: readonly Look[],
): Promise<void> {
  const sites = { launch: { fields, page } }
  await using service = await startService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })
  for (const look of looks) {
    for (const language of ['en', 'ar']) {
      const name = (what: string) => join(folder, `fields-${what}-${language}-${look.look}.png`)
      await using hosted = await openLook(
        browser,
        look,
        `${service.url}/?site=launch&language=${language}`,
      )
      await shoot(hosted.page, name('page'))
      await using host = await openHost(browser, {
        service: service.url,
        html: `lang="${language}"`,
        head: `<style>html { background: ${look.background} } body { margin: 24px }</style>`,
        body: '<script src="%s/embed.js?site=launch" data-site="launch"></script>',
        context: contextOf(look),
      })
      await shoot(host.page, name('embed'))
    }
  }
}

function contextOf({ width, colorScheme }: Look) {
  return { colorScheme, viewport: { width, height: 600 } }
}

function openLook(browser: Browser, look: Look, address: string) {
  return openPage(browser, address, contextOf(look))
}

async function shoot(page: Page, path: string): Promise<void> {
  await page.locator('[type=submit]').waitFor()
  await page.screenshot({ path, fullPage: true })
  await page.locator('[name=seats]').fill('501')
  await page.locator('[name=home]').fill('nowhere')
  await page.locator('[name=start]').press('1')
  await page.locator('[type=submit]').click()
  await page.locator('[aria-invalid]').first().waitFor()
  await page.screenshot({ path: path.replace('.png', '-wrong.png'), fullPage: true })
}
