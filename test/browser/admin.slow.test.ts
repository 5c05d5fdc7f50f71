// @module-tag slow
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { adminToken, type Operator, signIn } from '../../harness/admin.ts'
import { accessibilityProblems, type OpenPage, openPage } from '../../harness/browser.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { shareService } from '../../harness/shared-service.ts'
import { appendTo } from '../../harness/sqlite-journal.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'
import type { Signup } from '../../src/signup/signup.ts'

/** What somebody may send to become a script, another element, or another text than it is. */
const payloads = [
  '<script>alert(1)</script>',
  '</title></td></table><script>alert(2)</script>',
  '"><img src=x onerror=alert(3)>',
  "' autofocus onfocus='alert(4)",
  '`onmouseover=alert(5) x=`',
  '<svg/onload=alert(6)><style>*{display:none}</style>',
  '<form action=https://evil.example><button>Sign out</button></form>',
  '<meta http-equiv=refresh content="0;url=https://evil.example">',
  'javascript:alert(7)//',
  '{{7*7}}${alert(8)}<%= alert(9) %>#{7*7}',
  '&lt;script&gt;alert(10)&#x3C;/script&#62;',
  'ab\u202egnp.exe\u202c\u2066cd\u2069',
  'a\u0001b\u007fc\u0085d\u2028e\ufefff',
  '--><!--]]><![CDATA[',
  'W'.repeat(300),
  'עברית العربية 漢字 👩‍👩‍👧',
  '=HYPERLINK("https://evil.example","x")',
]
const short = payloads.map((text) => text.slice(0, 90))
/** With all characters that an address may have. */
const emailOf = (at: number) => `!#$%&'*+/=?^_\`{|}~-${at}@example.com`

const bombs: readonly Signup[] = short.flatMap((text, at) => {
  const cells = { name: text, sheetTab: text, source: text, tags: [text], email: emailOf(at) }
  const more = { metadata: JSON.stringify({ [text]: text }), fields: { [text]: text } }
  const receivedAt = Date.now() - at * 60_000
  const one = makeSignup({ ...cells, ...more, receivedAt })
  return [one, makeSignup({ ...cells, ...more, receivedAt, suspect: ['hidden-field'] })]
})

let folder: TempFolder
let ada: Operator
const env = { ADMIN_TOKEN: adminToken, SPAM_FILTER: 'quarantine' }
const dataDir = await tempFolder().then((it) => (folder = it).path)
await appendTo(dataDir, bombs, { holdsSuspects: true })
const shared = shareService({ env, dataDir })
beforeAll(async () => {
  ada = await signIn(shared.service.url)
  const { url } = shared.service
  const [payload = ''] = payloads
  const headers = { 'user-agent': payload, referer: `https://evil.example/${encodeURI(payload)}` }
  expect((await postSignup(url, { email: 'ada@example.com', name: payload }, headers)).status).toBe(
    202,
  )
})
afterAll(() => folder[Symbol.asyncDispose]())

interface OpenView extends OpenPage {
  readonly isScripted: boolean
}

const isScriptedIn = ({ javaScriptEnabled = true }: BrowserContextOptions) => javaScriptEnabled

/** Opens a page of somebody who is signed in. Dialogs are told among the complaints. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<OpenView> {
  const [name = '', value = ''] = ada.cookie.split('=')
  const cookie = { name, value, domain: '127.0.0.1', path: '/admin', expires: -1, httpOnly: true }
  const cookies = [{ ...cookie, secure: false, sameSite: 'Strict' as const }]
  const state = { storageState: { cookies, origins: [] }, ...options }
  const opened = await openPage(shared.browser, shared.service.url + path, state)
  opened.page.on('dialog', (dialog) => {
    opened.complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return { ...opened, isScripted: isScriptedIn(options) }
}

/** What none of our pages has. */
const foreign =
  'img, iframe, object, embed, style, base, script:not([src$="/assets/admin.js"]), ' +
  'form[action*="evil"], [href^="javascript"], [style], [onerror], [onload], [onfocus], [onmouseover], ' +
  'meta[http-equiv="refresh"][content*="url"]'
/** They change the order of what is read, or are not seen. */
const unseen = ['\u202e', '\u2066', '\u0001', '\u007f', '\u2028']

/** Whether a view shows texts of visitors as texts, fits its window, and can be used by everybody. */
async function checkView({ page, complaints, isScripted }: OpenView): Promise<void> {
  await page.waitForLoadState()
  const where = new URL(page.url()).pathname
  const found = await page.evaluate(
    (foreign) => ({
      foreign: [...document.querySelectorAll(foreign)].map((it) => it.outerHTML.slice(0, 200)),
      text: document.body.innerText,
      over: document.documentElement.scrollWidth - innerWidth,
      headings: document.querySelectorAll('h1').length,
    }),
    foreign,
  )
  expect.soft(found.foreign, `elements at ${where}`).toEqual([])
  expect
    .soft(
      unseen.filter((it) => found.text.includes(it)),
      `unseen at ${where}`,
    )
    .toEqual([])
  expect.soft(found.over, `pixels beside the window at ${where}`).toBeLessThanOrEqual(0)
  expect.soft(found.headings, `headings at ${where}`).toBe(1)
  // axe-core waits for timers, which do not run without JavaScript.
  const problems = isScripted ? await accessibilityProblems(page, true) : []
  expect.soft(problems, `axe at ${where}`).toEqual([])
  expect.soft(complaints, `complaints at ${where}`).toEqual([])
  complaints.length = 0
}

/** Links to views, one for each set of parameters. */
async function linksOf(page: Page): Promise<readonly string[]> {
  const all = await page
    .locator('a[href]')
    .evaluateAll((all) => all.map((it) => (it as HTMLAnchorElement).href))
  return all.filter((link) => link.startsWith(`${shared.service.url}/admin`) && !link.includes('#'))
}

function kindOf(link: string): string {
  const { pathname, searchParams } = new URL(link)
  return [pathname, searchParams.get('period'), ...searchParams.keys()].join(' ')
}

/** Visits every view that a link leads to. Returns their paths. */
async function walk(opened: OpenView): Promise<ReadonlySet<string>> {
  const { page } = opened
  const seen = new Set<string>()
  const queue = [page.url()]
  for (const link of queue) {
    // The list as a file is no view.
    if (seen.has(kindOf(link)) || new URL(link).pathname.endsWith('/export')) continue
    seen.add(kindOf(link))
    await page.goto(link)
    await checkView(opened)
    queue.push(...(await linksOf(page)))
  }
  return new Set([...seen].map((kind) => kind.split(' ')[0] ?? ''))
}

const small = { viewport: { width: 360, height: 740 } }
const wide = { viewport: { width: 1280, height: 900 } }
const looks = [
  ['a phone', { ...small, colorScheme: 'light' }],
  ['a dark phone', { ...small, colorScheme: 'dark' }],
  ['a desk', { ...wide, colorScheme: 'light' }],
  ['a dark desk', { ...wide, colorScheme: 'dark' }],
  ['forced colours', { ...small, forcedColors: 'active' }],
  ['no JavaScript', { ...wide, javaScriptEnabled: false }],
] as const satisfies readonly (readonly [string, BrowserContextOptions])[]

test.each(looks)('on %s every view shows what visitors sent as text', async (_, look) => {
  await using opened = await open('/admin', look)
  const views = await walk(opened)
  for (const path of ['/admin', '/admin/signups', '/admin/sending', '/admin/work'])
    expect(views).toContain(path)
  const { page } = opened
  for (const state of ['', 'waiting', 'written', 'held', 'pending']) {
    await page.goto(`${shared.service.url}/admin/signups?state=${state}`)
    if (state === 'held') expect(await page.locator('[name="id"]').count()).toBeGreaterThan(9)
    await checkView(opened)
  }
  for (const text of [short[2], short[8], short[11], short[13]] as readonly string[]) {
    const query = new URLSearchParams({
      tab: text,
      state: text,
      before: text,
      period: text,
      id: text,
    })
    for (const view of ['', '/signups', '/sending', '/work']) {
      await page.goto(`${shared.service.url}/admin${view}?${query.toString()}`)
      const title = await page.title()
      expect(title).toMatch(/^(Overview|Signups|Sending|Work) – Rollcall$/)
    }
    expect(opened.complaints).toEqual([])
  }
})

test.each(looks)('on %s a person is shown as text too', async (_, look) => {
  await using opened = await open('/admin/signups', look)
  const { page } = opened
  await page.locator('button[name="email"]').nth(3).click()
  await page.getByRole('heading', { level: 1, name: 'Person' }).waitFor()
  await checkView(opened)
  await page.getByRole('button', { name: 'Erase this person…' }).click()
  await page.getByRole('heading', { level: 1, name: 'Erase this person?' }).waitFor()
  await checkView(opened)
})

test.each(looks)(
  'on %s the question before an erasure can be answered by everybody',
  async (_, look) => {
    await using opened = await open('/admin/signups?state=held', look)
    const { page } = opened
    await page.locator('[name="id"]').nth(2).check()
    await page.getByRole('button', { name: 'Erase the chosen ones…' }).click()
    await page.getByRole('heading', { level: 1, name: 'Erase what is held?' }).waitFor()
    await checkView(opened)
  },
)

test.each(looks)('on %s signing in can be used by everybody', async (_, look) => {
  await using opened = await openPage(shared.browser, `${shared.service.url}/admin`, look)
  await checkView({ ...opened, isScripted: isScriptedIn(look) })
  await opened.page.goto(`${shared.service.url}/admin/signups`)
  expect(new URL(opened.page.url()).pathname).toBe('/admin')
})

test('the keyboard alone is enough to sign in, to skip to the list and to release two of it', async () => {
  await using opened = await openPage(shared.browser, `${shared.service.url}/admin`)
  const { page } = opened
  const { keyboard } = page
  const focused = () =>
    page.evaluate(() => {
      const { activeElement: it } = document
      return it?.getAttribute('aria-label') ?? it?.textContent.trim() ?? ''
    })
  /** Presses Tab until what has this name has the focus. */
  const tabTo = async (name: RegExp) => {
    for (let press = 0; !name.test(await focused()); press += 1) {
      expect(press, `${name.source} cannot be reached`).toBeLessThan(60)
      await keyboard.press('Tab')
    }
  }
  await page.locator('#token:focus').waitFor()
  await keyboard.type(adminToken)
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await tabTo(/^Signups$/)
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Signups' }).waitFor()
  await keyboard.press('Tab')
  expect(await focused()).toBe('Skip to the content')
  await keyboard.press('Enter')
  // What follows is in the list, and not in the navigation.
  await keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.closest('main')?.id)).toBe('main')
  await page.getByLabel('State').focus()
  await keyboard.type('held')
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await page.waitForURL(/state=held/)
  for (const at of [1, 2]) {
    await tabTo(new RegExp(`^.*-${at}@example.com, `))
    await keyboard.press(' ')
  }
  await tabTo(/^Release the chosen ones$/)
  await keyboard.press('Enter')
  await page.getByText('Released: 2 signups.').waitFor()
  expect(opened.complaints).toEqual([])
})
