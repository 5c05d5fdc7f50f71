import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminToken } from '../../harness/admin.ts'
import { openHost, openPage, startBrowser } from '../../harness/browser.ts'
import { freePort } from '../../harness/free-port.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { caddyIn, startProxy } from './world/proxies.ts'

const docs = readFileSync(join(projectRoot, 'docs/forms.md'), 'utf8')
const block = (kind: string) => new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``).exec(docs)?.[1] ?? ''

/** For each proxy, its settings, which include those of the guide, and its command. */
const proxies = {
  nginx: (port: number) => ({
    settings: `server { listen 127.0.0.1:${port}; ${block('nginx')} }`,
    command: (folder: string) => [
      'nginx',
      '-e',
      'stderr',
      '-p',
      folder,
      '-c',
      join(folder, 'main'),
    ],
  }),
  caddy: (port: number) => ({
    settings: `{\n admin off\n}\n${block('caddy').replace('example.com', `http://127.0.0.1:${port}`)}`,
    command: caddyIn,
  }),
}

let browser: Browser
let service: RunningService

beforeAll(async () => {
  ;[browser, service] = await Promise.all([
    startBrowser(),
    startService({
      env: { TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '0', ADMIN_TOKEN: adminToken },
    }),
  ])
})

afterAll(async () => {
  await browser.close()
  await service.stop()
})

const rows = (tab: string) => readTab(join(service.folder, 'data'), `${tab}.csv`).slice(1)
const signUp = async (page: Pick<Page, 'getByLabel' | 'getByRole'>) => {
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
}

describe.each(['nginx', 'caddy'] as const)('behind a path of %s', (name) => {
  const stack = new AsyncDisposableStack()
  let proxy: string
  let url: string

  beforeAll(async () => {
    const port = await freePort()
    const { settings, command } = proxies[name](port)
    const ours = settings.replaceAll('127.0.0.1:3000', new URL(service.url).host)
    proxy = `http://127.0.0.1:${port}`
    url = `${proxy}/rollcall`
    stack.use(await startProxy(ours, command, url))
  })

  afterAll(() => stack.disposeAsync())

  /** Opens a page of ours. `astray` has its requests to the host outside of our path. */
  const open = async (address: string, context?: BrowserContextOptions) => {
    const opened = await openPage(browser, 'about:blank', context)
    const astray: string[] = []
    opened.page.on('request', (request) => {
      const asked = request.url()
      if (asked.startsWith(proxy) && !asked.startsWith(`${url}/`)) astray.push(asked)
    })
    await opened.page.goto(url + address)
    return { ...opened, astray }
  }

  describe.each([
    ['without JavaScript', false],
    ['with JavaScript', true],
  ])('%s', (way, javaScriptEnabled) => {
    test.each([
      ['hosted page', '/'],
      ['bare form', '/api/signup/form'],
    ])('the %s has its styles, shows errors, signs up and says thanks', async (look, address) => {
      const tab = `${name} ${look} ${way}`
      await using opened = await open(`${address}?tab=${tab}`, { javaScriptEnabled })
      const { page, astray, complaints } = opened
      await page.locator('form').evaluate((form: HTMLFormElement) => (form.noValidate = true))
      await page.getByRole('button', { name: 'Sign up' }).click()
      await page.locator('[aria-invalid]').waitFor()
      await page.waitForLoadState()
      const field = page.getByLabel('Email address')
      expect(await field.evaluate((it) => getComputedStyle(it).borderRadius)).not.toBe('0px')
      await signUp(page)
      await page.getByRole('heading', { name: 'Thank you' }).waitFor()
      expect(page.url()).toContain(`${url}/api/signup/thanks?page=`)
      await expect.poll(() => rows(tab).map(([email]) => email)).toEqual(['ada@example.com'])
      expect([astray, complaints.filter((it) => !it.includes('422'))]).toEqual([[], []])
    })
  })

  test('a missing page has its styles, however deep its path, and so has the path without a slash', async () => {
    for (const address of ['/a/b/c', '']) {
      await using opened = await open(address)
      const main = opened.page.locator('main')
      expect(await main.evaluate((it) => getComputedStyle(it).fontFamily)).toContain('system-ui')
      if (address === '') expect(opened.page.url()).toBe(`${url}/`)
    }
  })

  test.each(['/admin', '/admin/signups'])(
    'an operator who opens %s signs in, looks around and signs out',
    async (address) => {
      await using opened = await open(address)
      const { page, astray, complaints } = opened
      await page.getByLabel('token').fill(adminToken)
      await page.getByRole('button', { name: 'Sign in' }).click()
      // To the view that was wanted.
      const wanted = address.endsWith('signups') ? 'Signups' : 'Overview'
      await page.getByRole('heading', { level: 1, name: wanted }).waitFor()
      for (const view of ['Signups', 'Sending', 'Work', 'Overview']) {
        await page.getByRole('link', { name: view, exact: true }).click()
        await page.getByRole('heading', { level: 1, name: view }).waitFor()
      }
      const [cookie] = await page.context().cookies()
      expect(cookie?.path).toBe('/rollcall/admin')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('token').waitFor()
      expect([astray, complaints]).toEqual([[], []])
    },
  )

  test('a redirect to a path is a path of the whole host', async () => {
    const answer = await fetch(`${url}/api/signup`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      redirect: 'manual',
      body: new URLSearchParams({ email: 'ada@example.com', redirect: '/welcome' }),
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/welcome'])
  })

  test('the embed and the frame work on a page of another origin', async () => {
    const tab = `${name} embedded`
    await using embedded = await openHost(browser, {
      body: `<script src="%s/embed.js" data-tab="${tab}" async></script>`,
      service: url,
    })
    await signUp(embedded.page)
    await embedded.page.getByText('Thank you! You are signed up.').waitFor()
    await using framed = await openHost(browser, {
      body: `<iframe src="%s/api/signup/form?tab=${tab}" title="Sign up"></iframe><script src="%s/embed/frame.js"></script>`,
      service: url,
    })
    const frame = framed.page.frameLocator('iframe')
    await signUp(frame)
    await frame.getByRole('heading', { name: 'Thank you' }).waitFor()
    await expect.poll(() => rows(tab)).toHaveLength(2)
    expect([embedded.complaints, framed.complaints]).toEqual([[], []])
  })
})
