// @module-tag slow
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { htmlProblems } from '../../harness/html-problems.ts'
import { shareService } from '../../harness/shared-service.ts'
import { projectRoot } from '../../harness/source-file.ts'

const docs = readFileSync(join(projectRoot, 'docs/forms.md'), 'utf8')
const blockAfter = (heading: string, kind: string) => {
  const [, section = ''] = docs.split(`\n## ${heading}\n`)
  return new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``).exec(section)?.[1] ?? ''
}
const frame = blockAfter('In a frame', 'html')
const settings = parseEnv(blockAfter('The hosted page', 'sh')) as Record<string, string>

const shared = shareService({ env: settings })

test('the settings in the guide make the page that the guide describes', async () => {
  expect(Object.keys(settings)).toHaveLength(10)
  await using opened = await shared.visit('')
  const { page } = opened
  await page.getByRole('heading', { name: 'The letter' }).waitFor()
  await page.getByText('One short mail a month.').waitFor()
  await page.getByLabel('Name').waitFor()
  await page.getByRole('link', { name: 'privacy policy' }).waitFor()
  const button = page.getByRole('button', { name: 'Count me in' })
  expect(await button.evaluate((it) => getComputedStyle(it).backgroundColor)).toBe(
    'rgb(10, 122, 75)',
  )
})

test('the frame in the guide signs somebody up, and is as high as its content', async () => {
  const body = frame.replaceAll('https://signup.example.com', '%s')
  const page = `<!doctype html><html lang="en"><head><title>x</title></head><body>${frame}`
  expect(await htmlProblems(page)).toEqual([])
  await using host = await shared.open({ body })
  const inFrame = host.page.frameLocator('iframe')
  await inFrame.getByLabel('Email address').fill('ada@example.com')
  await inFrame.getByRole('checkbox').check()
  const height = () => host.page.locator('iframe').evaluate((it) => it.clientHeight)
  await expect.poll(height).toBeGreaterThan(200)
  await inFrame.getByRole('button', { name: 'Count me in' }).click()
  await inFrame.getByRole('heading', { name: 'Thank you' }).waitFor()
  await inFrame.getByText('The first letter comes on Sunday.').waitFor()
  await inFrame.getByRole('link', { name: 'Continue' }).waitFor()
  await expect.poll(height).toBeLessThan(200)
  const rows = () => shared.rows('Newsletter')
  await expect.poll(() => rows()[0]?.[0]).toBe('ada@example.com')
  expect(host.complaints).toEqual([])
})

test('a signup by the link in the guide goes to its tab, with its source', async () => {
  const link = /`https:\/\/signup\.example\.com(\/\?[^`]+)`/.exec(docs)?.[1] ?? ''
  await using opened = await shared.visit(link)
  const { page } = opened
  await page.getByLabel('Email address').fill('link@example.com')
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Count me in' }).click()
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  const rows = () => shared.rows('Newsletter')
  await expect
    .poll(() => rows().find(([email]) => email === 'link@example.com')?.[2])
    .toBe('poster')
})
