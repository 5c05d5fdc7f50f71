// @module-tag slow
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems, openPage, startBrowser } from '../../harness/browser.ts'
import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { htmlProblems } from '../../harness/html-problems.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const examples = join(projectRoot, 'examples')
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
}

/** A server of the examples, on another origin than the service that they use. */
interface Site extends AsyncDisposable {
  readonly origin: string
  serviceUrl: string
}

let browser: Browser
let site: Site
/** The service whose ALLOWED_ORIGINS names the site. */
let service: RunningService

beforeAll(async () => {
  ;[browser, site] = await Promise.all([startBrowser(), serveExamples()])
  service = await startService({ env: { ALLOWED_ORIGINS: site.origin } })
  site.serviceUrl = service.url
})

afterAll(async () => {
  await browser.close()
  await site[Symbol.asyncDispose]()
  await service.stop()
})

async function serveExamples(serviceUrl = ''): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://any')
    readExample(pathname, site).then(
      (text) => {
        response.setHeader('content-type', types[extname(pathname)] ?? 'text/plain').end(text)
      },
      // Browsers ask for an icon, too.
      () => response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end(),
    )
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const site = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serviceUrl,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return site
}

async function readExample(name: string, { origin, serviceUrl }: Site): Promise<string> {
  const text = await readFile(join(examples, name), 'utf8')
  return text
    .replaceAll('http://localhost:3000', serviceUrl)
    .replaceAll('http://localhost:8080', origin)
}

async function signUp(page: Page, email = 'ada@example.com'): Promise<void> {
  const form = await formOf(page)
  await form.getByLabel('Email address').fill(email)
  expect(await accessibilityProblems(page, true)).toEqual([])
  await form.getByRole('button').click()
}

/** The page itself, or the frame in it that has the form. */
async function formOf(page: Page): Promise<FrameLocator | Page> {
  const frame = page.locator('iframe[title^="Sign up"]')
  return (await frame.count()) > 0 ? frame.contentFrame() : page
}

const rows = (tab: string) => readTab(join(service.folder, 'data'), `${tab}.csv`).slice(1)

/** The pages with a form, the thanks that each shows, and the tab of its signups. */
const pages = [
  ['embed.html', 'Thank you! You are signed up.', 'Newsletter'],
  ['landing-page.html', 'Welcome aboard!', 'Launch'],
  ['own-form.html', 'Thank you! You are signed up.', 'Meetup'],
  ['plain-form.html', 'You will hear from us.', 'Newsletter'],
  ['frame.html', 'Thank you', 'Newsletter'],
  ['custom-frontend.html', 'Thank you! You are on the list "Newsletter".', 'Newsletter'],
] as const

test('the README of the examples explains each, and each is tested here', async () => {
  const names = await readdir(examples)
  const withForms = names.filter((name) => name.endsWith('.html') && name !== 'thanks.html')
  expect(withForms).toEqual(pages.map(([name]) => name).sort())
  const readme = await readFile(join(examples, 'README.md'), 'utf8')
  expect(withForms.filter((name) => !readme.includes(`(${name})`))).toEqual([])
})

describe.each(pages)('%s', (name, thanks, tab) => {
  test('signs somebody up from a page with an origin', async () => {
    await using opened = await openPage(browser, `${site.origin}/${name}`)
    const before = rows(tab).length
    await signUp(opened.page)
    const form = await formOf(opened.page)
    await form.getByText(thanks).first().waitFor()
    expect(await accessibilityProblems(opened.page, true)).toEqual([])
    await expect.poll(() => rows(tab)).toHaveLength(before + 1)
    expect(opened.complaints).toEqual([])
  })

  test('is accessible on a phone in a dark theme, and does not scroll sideways', async () => {
    await using opened = await openPage(browser, `${site.origin}/${name}`, {
      colorScheme: 'dark',
      viewport: { width: 360, height: 640 },
    })
    const { page } = opened
    const form = await formOf(page)
    await form.getByLabel('Email address').waitFor()
    expect(await accessibilityProblems(page, true)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  })

  test('is valid HTML', async () => {
    expect(await htmlProblems(await readFile(join(examples, name), 'utf8'))).toEqual([])
  })
})

test('thanks.html is valid HTML and accessible', async () => {
  expect(await htmlProblems(await readFile(join(examples, 'thanks.html'), 'utf8'))).toEqual([])
  await using opened = await openPage(browser, `${site.origin}/thanks.html`)
  expect(await accessibilityProblems(opened.page, true)).toEqual([])
})

test.each(['own-form.html', 'plain-form.html', 'custom-frontend.html', 'frame.html'])(
  '%s works without scripts',
  async (name) => {
    await using opened = await openPage(browser, `${site.origin}/${name}`, {
      javaScriptEnabled: false,
    })
    const form = await formOf(opened.page)
    await form.getByLabel('Email address').fill('ada@example.com')
    await form.getByRole('button').click()
    await form.getByRole('heading', { name: /thank you/i }).waitFor()
  },
)

test('an example that is opened as a file signs somebody up, too, except the frame, which needs an origin', async () => {
  await using anybody = await startService()
  await using folder = await tempFolder()
  const files = await readdir(examples, { withFileTypes: true })
  for (const { name } of files.filter((entry) => entry.isFile())) {
    const text = await readExample(name, { ...site, serviceUrl: anybody.url })
    await writeFile(join(folder.path, name), text)
  }
  for (const [name, thanks] of pages.filter(([name]) => name !== 'frame.html')) {
    await using opened = await openPage(browser, pathToFileURL(join(folder.path, name)).href)
    const { page } = opened
    await signUp(page, `${name}@example.com`)
    // A file has no allowed origin, so the plain form ends at the thank-you page of the service.
    const end = name === 'plain-form.html' ? page.getByRole('heading') : page.getByText(thanks)
    await end.filter({ hasText: /thank you|welcome/i }).waitFor()
    expect(opened.complaints, name).toEqual([])
  }
})

test('custom-frontend.html shows what is wrong, and makes one row even when an answer is lost', async () => {
  await using opened = await openPage(browser, `${site.origin}/custom-frontend.html`)
  const { page } = opened
  await signUp(page, `${'a'.repeat(65)}@example.com`)
  await page.getByRole('alert').getByText('at most 64 characters').waitFor()
  expect(await page.getByLabel('Email address').getAttribute('aria-invalid')).toBe('true')
  expect(await accessibilityProblems(page, true)).toEqual([])
  const before = rows('Newsletter').length
  await page.route(
    '**/api/signup',
    async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    },
    { times: 1 },
  )
  await signUp(page)
  await page.getByRole('alert').getByText('There is no answer just now.').waitFor()
  await page.getByRole('button').click()
  await page.getByText('Thank you!').waitFor()
  await expect.poll(() => rows('Newsletter')).toHaveLength(before + 1)
})

test('custom-frontend.html solves the proof of work when it is on', async () => {
  await using guarded = await startService({ env: { CHALLENGE_PROVIDER: 'altcha' } })
  await using there = await serveExamples(guarded.url)
  await using opened = await openPage(browser, `${there.origin}/custom-frontend.html`)
  await signUp(opened.page)
  await opened.page.getByText('Thank you!').waitFor()
  expect(opened.complaints).toEqual([])
})

test.each(['turnstile', 'hcaptcha', 'recaptcha'] as const)(
  'custom-frontend.html shows the challenge of %s when it is on',
  async (provider) => {
    await using challenge = await createChallengeWorld(provider)
    await using guarded = await startService({ env: challenge.env })
    await using there = await serveExamples(guarded.url)
    await using opened = await openPage(browser, `${there.origin}/custom-frontend.html`)
    const { page } = opened
    const field = { turnstile: 'cf-turnstile', hcaptcha: 'h-captcha', recaptcha: 'g-recaptcha' }
    const token = page.locator(`[name=${field[provider]}-response]`)
    await expect.poll(() => token.first().inputValue()).toMatch(/.{20}/)
    await signUp(page)
    await page.getByText('Thank you!').waitFor()
    expect(challenge.emulator.counters.passed).toBe(1)
  },
)
