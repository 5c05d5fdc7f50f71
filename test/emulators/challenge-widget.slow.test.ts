import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { ProviderName } from '../../emulators/challenge/providers.ts'
import { type ChallengeEmulator, startChallengeEmulator } from '../../emulators/challenge/server.ts'
import { startBrowser } from '../../harness/browser.ts'
import { patienceMs } from '../../harness/patience.ts'

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(async () => {
  await browser.close()
})

interface World extends AsyncDisposable {
  readonly emulator: ChallengeEmulator
  readonly page: Page
  readonly siteKey: string
  readonly secret: string
  /** Errors, console messages and violations of the policy on the page. */
  readonly seen: string[]
  /** Renders a widget that notes its callbacks. Resolves with its id. */
  render(options?: Record<string, unknown>, box?: string): Promise<unknown>
  /** The callbacks so far, as `name` or `name:argument`. */
  events(): Promise<string[]>
}

/** A page with a form. Its policy allows the emulator's script and frame and nothing else. */
async function openPage(provider: ProviderName = 'turnstile', query = '?render=explicit') {
  const emulator = await startChallengeEmulator()
  const { siteKey, secret } = emulator.createSite(provider)
  const html = `<!doctype html><title>Host</title><form><div id="box"></div>
    <div id="second"></div><div class="cf-turnstile" data-sitekey="${siteKey}"></div></form>
    <script src="${emulator.scriptUrl(provider)}${query}"></script>`
  const policy = `default-src 'none'; script-src ${emulator.url}; frame-src ${emulator.url}`
  const host = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
    response.end(html)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => host.once('listening', resolve))
  const page = await browser.newPage()
  page.setDefaultTimeout(patienceMs)
  const seen: string[] = []
  page.on('console', (message) => seen.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => seen.push(`error: ${error.message}`))
  await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/page`)
  const world: World = {
    emulator,
    page,
    siteKey,
    secret,
    seen,
    render: (options = {}, box = '#box') =>
      page.evaluate(renderInPage, { provider, siteKey, options, box }),
    events: () => page.evaluate(() => (window as unknown as { events?: string[] }).events ?? []),
    [Symbol.asyncDispose]: async () => {
      await page.close()
      host.closeAllConnections()
      host.close()
      await emulator.stop()
    },
  }
  return world
}

interface Rendering {
  readonly provider: ProviderName
  readonly siteKey: string
  readonly options: Record<string, unknown>
  readonly box: string
}

/** Runs in the page: renders a widget. */
function renderInPage({ provider, siteKey, options, box }: Rendering): unknown {
  const page = window as unknown as Record<string, unknown> & { events?: string[] }
  const events = (page.events ??= [])
  const note = (name: string) => (what?: string) => {
    events.push(what === undefined || name === 'callback' ? name : `${name}:${what}`)
    return true
  }
  const names = ['callback', 'error-callback', 'expired-callback']
  const callbacks = Object.fromEntries(names.map((name) => [name, note(name)]))
  const api = { turnstile: 'turnstile', hcaptcha: 'hcaptcha', recaptcha: 'grecaptcha' }[provider]
  const { render } = page[api] as { render: (box: unknown, options: unknown) => unknown }
  return render(document.querySelector(box), { sitekey: siteKey, ...callbacks, ...options })
}

async function verify({ emulator, secret }: World, response: string): Promise<unknown> {
  const answer = await fetch(emulator.verifyUrl(), {
    method: 'POST',
    body: new URLSearchParams({ secret, response }),
  })
  return answer.json()
}

test('an element renders itself, unless the page asks for explicit rendering', async () => {
  await using world = await openPage('turnstile', '')
  const field = world.page.locator('.cf-turnstile [name=cf-turnstile-response]')
  await expect.poll(() => field.inputValue()).toMatch(/^0\./)
  expect(await verify(world, await field.inputValue())).toMatchObject({ success: true })
  await using other = await openPage('turnstile', '?render=explicit')
  expect(await other.page.locator('.cf-turnstile iframe').count()).toBe(0)
})

test('a second widget in one container is refused, and two containers have a widget each', async () => {
  await using world = await openPage()
  const first = await world.render()
  expect(await world.render()).toBeUndefined()
  const second = await world.render({}, '#second')
  expect(second).not.toBe(first)
  await expect.poll(() => world.events()).toEqual(['callback', 'callback'])
  expect(world.seen).toEqual([expect.stringContaining('already rendered')])
})

test.each([
  [{ sitekey: undefined }, 'sitekey'],
  [{ theme: 'pink' }, 'theme'],
  [{ size: 'huge' }, 'size'],
  [{ language: 'klingon' }, 'language'],
  [{ callback: 'not a function' }, 'callback'],
])('a widget with an option that Turnstile refuses is refused: %o', async (options, name) => {
  await using world = await openPage()
  await expect(world.render(options)).rejects.toThrow(`"${name}"`)
})

test('the widget of an unknown site key fails', async () => {
  await using world = await openPage()
  await world.render({ sitekey: '0x4unknown' })
  await expect.poll(() => world.events()).toEqual(['error-callback:110100'])
})

describe('the script', () => {
  test('warns when it is loaded twice, and the first one stays', async () => {
    await using world = await openPage()
    await world.page.evaluate((src) => {
      const tag = document.createElement('script')
      tag.src = src
      document.head.append(tag)
    }, `${world.emulator.scriptUrl()}?again`)
    await expect.poll(() => world.seen).toEqual([expect.stringContaining('loaded before')])
  })
})
