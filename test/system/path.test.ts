import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openHost, openPage, startBrowser } from '../../harness/browser.ts'
import { freePort } from '../../harness/free-port.ts'
import { patienceMs } from '../../harness/patience.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { end, path } from './world/program.ts'

const docs = readFileSync(join(projectRoot, 'docs/pages.md'), 'utf8')
const block = (kind: string) => new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``).exec(docs)?.[1] ?? ''

/** For each proxy, its settings, which include those of the guide, and its command. */
const proxies = {
  nginx: (folder: string, port: number) => ({
    settings: `daemon off; master_process off; pid ${folder}/pid; events {} http { access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((it) => `${it}_temp_path ${folder}/${it};`).join(' ')}
      server { listen 127.0.0.1:${port}; ${block('nginx')} } }`,
    command: ['nginx', '-e', 'stderr', '-p', folder, '-c', join(folder, 'settings')],
  }),
  caddy: (folder: string, port: number) => ({
    settings: `{\n admin off\n}\n${block('caddy').replace('example.com', `http://127.0.0.1:${port}`)}`,
    command: ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'settings')],
  }),
} as const

let browser: Browser
let service: RunningService

beforeAll(async () => {
  ;[browser, service] = await Promise.all([
    startBrowser(),
    startService({ env: { TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '0' } }),
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
    const folder = stack.use(await tempFolder()).path
    const port = await freePort()
    const { settings, command } = proxies[name](folder, port)
    const ours = settings.replaceAll('127.0.0.1:3000', new URL(service.url).host)
    await writeFile(join(folder, 'settings'), ours)
    const [program = '', ...rest] = command
    const env = { PATH: path, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
    const child = spawn(program, rest, { env, stdio: 'ignore' })
    stack.defer(() => end(child))
    proxy = `http://127.0.0.1:${port}`
    url = `${proxy}/rollcall`
    await vi.waitFor(() => fetch(`${url}/api/health`), { timeout: patienceMs, interval: 100 })
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
