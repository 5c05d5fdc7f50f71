import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accessibilityProblems, openHost, startBrowser } from './browser.ts'
import { projectRoot } from './source-file.ts'
import { type RunningService, startService } from './start-service.ts'

let browser: Browser
let service: RunningService

beforeAll(async () => {
  ;[browser, service] = await Promise.all([startBrowser(), startService()])
})

afterAll(async () => {
  await browser.close()
  await service.stop()
})

const docs = readFileSync(join(projectRoot, 'docs/embed.md'), 'utf8')
const snippets = docs.split('\n## ').flatMap((section) => {
  const [title = ''] = section.split('\n', 1)
  const blocks = [...section.matchAll(/```html\n([^]*?)```/g)]
  return blocks.map(([, html = ''], index) => ({ title: `${title} ${index + 1}`, html }))
})

test('the guide has its snippets', () => {
  expect(snippets).toHaveLength(7)
})

test.each(snippets)('the snippet under "$title" signs somebody up', async ({ html }) => {
  const body = html.replaceAll('https://signup.example.com', '%s')
  await using host = await openHost(browser, { body, service: service.url })
  const { page } = host
  await page.getByLabel(/^Email/).waitFor()
  const name = page.getByLabel('Name')
  if (await name.isVisible()) await name.fill('Ada')
  await page.getByLabel(/^Email/).fill('ada@example.com')
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button').click()
  await page.getByText('Thank you! You are signed up.').waitFor()
  expect(host.complaints).toEqual([])
})
