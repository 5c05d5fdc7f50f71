import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findChromium } from '../scripts/find-chromium.js'
import { patienceMs } from './patience.ts'

/** These let root in a container run Chromium, and keep it from calling Google. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts a real Chromium without a window. */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) {
    throw new Error('No Chromium was found: run node scripts/setup.js --for test')
  }
  return chromium.launch({ executablePath, args: [...flags, ...more], timeout: patienceMs })
}

export interface HostOptions {
  /** The content of `<body>`. `%s` is replaced by the service's address. */
  readonly body: string
  readonly head?: string
  /** Attributes of `<html>`. */
  readonly html?: string
  /** The page's `Content-Security-Policy`. */
  readonly csp?: string
  readonly service: string
  readonly context?: BrowserContextOptions
  /** What follows the page's path, such as `?tab=News`. */
  readonly query?: string
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** Errors and warnings in the console, and uncaught errors. */
  readonly complaints: string[]
}

export interface HostPage extends OpenPage {
  /** The page's origin, which is not that of the service. */
  readonly url: string
}

/** Serves somebody's page on its own origin and opens it in a fresh browser profile. */
export async function openHost(browser: Browser, options: HostOptions): Promise<HostPage> {
  const { body, head = '', html = 'lang="en"', csp, service, query = '' } = options
  const text = `<!doctype html><html ${html}><head><meta charset="utf-8"><title>Host</title>
    <meta name="viewport" content="width=device-width">${head}</head><body>${body}</body></html>`
  const server = createServer((_, response) => {
    if (csp !== undefined) response.setHeader('content-security-policy', csp)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(text.replaceAll('%s', service))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const opened = await openPage(browser, `${url}/${query}`, options.context)
  return {
    ...opened,
    url,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]()
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Opens a page in a fresh browser profile. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ locale: 'en-US', ...options })
  context.setDefaultTimeout(patienceMs)
  await context.addInitScript(waitLonger)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (/error|warning/.test(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(url)
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
}

/** Runs in the page: on a busy machine, calls may take longer than a visitor would wait. */
function waitLonger(): void {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  AbortSignal.timeout = (ms) => timeout(20 * ms)
}

/** Rules for whole pages. The host pages of the tests have no landmarks or headings. */
const wholePageRules = ['region', 'page-has-heading-one', 'landmark-one-main']

/**
 * The rule and place of each problem that axe-core finds on the page, shadow trees included.
 *
 * @param isWhole whether the whole page is ours, and not only the form in it
 */
export async function accessibilityProblems(page: Page, isWhole = false): Promise<string[]> {
  await page.evaluate(axe.source)
  const off = isWhole ? [] : wholePageRules
  const rules = Object.fromEntries(off.map((rule) => [rule, { enabled: false }]))
  return page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: AxeCore }
    // Leave frames of other origins out: they are not ours, and axe-core cannot read them.
    const { violations } = await axe.run(document, { rules, iframes: false })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
    )
  }, rules)
}

interface AxeCore {
  run(
    root: Document,
    options: object,
  ): Promise<{
    readonly violations: readonly {
      readonly id: string
      readonly nodes: readonly { readonly target: unknown[]; readonly failureSummary: string }[]
    }[]
  }>
}
