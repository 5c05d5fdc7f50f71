// @module-tag slow
import { gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityProblems, type HostOptions } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'
import { projectRoot } from '../../harness/source-file.ts'

const shared = shareService()

const frame = '<iframe src="%s/api/signup/form?tab=Framed" title="Sign up" height="321"></iframe>'
const script = '<script src="%s/embed/frame.js" async></script>'

const open = (options: Partial<HostOptions> = {}) =>
  shared.open({ body: frame + script, ...options })

const inside = (page: Page) => page.frameLocator('iframe')
const heightOf = (page: Page) => page.locator('iframe').evaluate((it) => it.clientHeight)
/** The height of the page in the frame. */
const contentOf = (page: Page) =>
  inside(page)
    .locator('html')
    .evaluate((it) => Math.ceil(it.getBoundingClientRect().height))

async function expectFit(page: Page): Promise<number> {
  await expect.poll(async () => (await heightOf(page)) - (await contentOf(page))).toBe(0)
  return heightOf(page)
}

describe.each([
  ['after the frame', frame + script],
  ['before the frame', script + frame],
  ['as a module', frame + script.replace('async', 'type="module"')],
])('with the script %s', (_, body) => {
  test('the frame is as high as its content, with errors and thanks', async () => {
    await using host = await open({ body })
    const { page } = host
    const email = inside(page).getByLabel('Email address')
    const button = inside(page).getByRole('button', { name: 'Sign up' })
    await email.waitFor()
    const first = await expectFit(page)
    await button.click()
    await inside(page).getByText('Please enter your email address.').waitFor()
    const wrong = await expectFit(page)
    expect(wrong).toBeGreaterThan(first)
    await email.fill('ada@example.com')
    // The note beside the field is gone. The summary stays until the next try.
    await expect.poll(() => heightOf(page)).toBeLessThan(wrong)
    await button.click()
    await inside(page).getByRole('heading', { name: 'Thank you' }).waitFor()
    expect(await expectFit(page)).toBeLessThan(first)
    expect(host.complaints).toEqual([])
  })
})

test('a page with a strict policy has to allow the frame and the script, and nothing else', async () => {
  const { url } = shared.service
  await using host = await open({
    csp: `default-src 'none'; frame-src ${url}; script-src ${url}; style-src 'none'; trusted-types 'none'`,
  })
  await inside(host.page).getByLabel('Email address').waitFor()
  await expectFit(host.page)
  expect(host.complaints).toEqual([])
})

test('without a script on the page around it, the frame works with its given height', async () => {
  await using host = await open({ body: frame, context: { javaScriptEnabled: false } })
  const { page } = host
  await inside(page).getByLabel('Email address').fill('framed@example.com')
  await inside(page).getByRole('button', { name: 'Sign up' }).click()
  await inside(page).getByRole('heading', { name: 'Thank you' }).waitFor()
  expect(await heightOf(page)).toBe(321)
  const emails = () => shared.rows('Framed').map(([email]) => email)
  await expect.poll(emails).toContain('framed@example.com')
  expect(host.complaints).toEqual([])
})

test('an error page of the service stays bare in the frame, and does not ask for the focus', async () => {
  await using host = await open({ context: { javaScriptEnabled: false } })
  const { page } = host
  await inside(page)
    .getByLabel('Email address')
    .fill(`${'a'.repeat(65)}@example.com`)
  await inside(page).getByRole('button', { name: 'Sign up' }).click()
  await inside(page).getByText('That did not work yet').waitFor()
  expect(await inside(page).locator('body').getAttribute('class')).toBe('bare')
  expect(await inside(page).locator('[autofocus]').count()).toBe(0)
  expect(page.url()).toBe(`${host.url}/`)
  expect(host.complaints).toEqual([
    'Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)',
  ])
})

test.each([
  ['a light page', '', 'light', 'rgb(27, 36, 48)'],
  ['a light page on a dark system', '', 'dark', 'rgb(27, 36, 48)'],
  ['a page that follows a dark system', 'theme=auto', 'dark', 'rgb(233, 237, 242)'],
  ['a dark page on a light system', 'theme=dark', 'light', 'rgb(233, 237, 242)'],
] as const)('on %s the frame is transparent', async (_, theme, colorScheme, color) => {
  const isDark = color !== 'rgb(27, 36, 48)'
  await using host = await open({
    body: frame.replace('tab=', `${theme}&tab=`),
    html: `lang="en" style="color-scheme: ${isDark ? 'dark' : 'light'}; background: ${isDark ? '#111' : '#eee'}"`,
    context: { colorScheme },
  })
  const { page } = host
  const body = inside(page).locator('body')
  await inside(page).getByLabel('Email address').waitFor()
  const style = await body.evaluate((it) => {
    const { color, backgroundColor } = getComputedStyle(it)
    return { color, backgroundColor }
  })
  expect(style).toEqual({ color, backgroundColor: 'rgba(0, 0, 0, 0)' })
  const shot = await page.locator('iframe').screenshot()
  const corner = await pixelOf(page, shot.toString('base64'))
  expect(corner).toEqual(isDark ? [17, 17, 17] : [238, 238, 238])
})

/** The colour that a visitor sees in the corner of the frame. */
async function pixelOf(page: Page, png: string): Promise<number[]> {
  return page.evaluate(async (data) => {
    const image = new Image()
    image.src = `data:image/png;base64,${data}`
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 10
    const context = canvas.getContext('2d')
    context?.drawImage(image, 0, 0)
    return [...(context?.getImageData(4, 4, 1, 1).data ?? [])].slice(0, 3)
  }, png)
}

test('two frames on a page have heights of their own', async () => {
  await using host = await open({
    body: `${frame}${frame.replace('tab=Framed', 'name&tab=Framed')}${script}`,
  })
  const heights = () =>
    host.page.locator('iframe').evaluateAll((all) => all.map((it) => it.clientHeight))
  await expect.poll(async () => (await heights()).includes(321)).toBe(false)
  const [one = 0, other = 0] = await heights()
  expect(other).toBeGreaterThan(one)
})

describe('hostile messages do not change the height', () => {
  test.each([
    ['with a text', '"rollcall:height"'],
    ['with nothing', 'null'],
    ['of another kind', '{ type: "height", height: 50 }'],
    ['without a height', '{ type: "rollcall:height" }'],
    ['with a text as height', '{ type: "rollcall:height", height: "50px; position: fixed" }'],
    ['with no number', '{ type: "rollcall:height", height: NaN }'],
    ['with an infinite height', '{ type: "rollcall:height", height: Infinity }'],
    ['with a negative height', '{ type: "rollcall:height", height: -50 }'],
    ['with a huge height', '{ type: "rollcall:height", height: 5001 }'],
    ['with a list of heights', '{ type: "rollcall:height", height: [50] }'],
  ])('from the frame %s', async (_, message) => {
    await using host = await open({ body: script })
    const { page } = host
    await putFrame(page, `parent.postMessage(${message}, '*')`, shared.service.url)
    expect(await setHeightOf(page)).toBe('321px')
  })

  test('a message with a good height does change it, which shows that messages arrive in these tests', async () => {
    await using host = await open({ body: script })
    await putFrame(
      host.page,
      'parent.postMessage({ type: "rollcall:height", height: 50 }, "*")',
      shared.service.url,
    )
    expect(await setHeightOf(host.page)).toBe('50px')
  })

  test('from a frame of another origin, and from the page itself', async () => {
    const good = '{ type: "rollcall:height", height: 50 }'
    await using host = await open({ body: script })
    const { page } = host
    await putFrame(page, `parent.postMessage(${good}, '*')`, 'http://other.example')
    expect(await setHeightOf(page)).toBe('321px')
    await page.evaluate((origin) => {
      const data = { type: 'rollcall:height', height: 50 }
      postMessage(data, '*')
      dispatchEvent(new MessageEvent('message', { data, origin, source: window }))
    }, shared.service.url)
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))
    expect(await setHeightOf(page)).toBe('321px')
  })
})

/** Adds a frame of this origin that runs only this code, and waits until it has. */
async function putFrame(page: Page, code: string, origin: string): Promise<void> {
  const body = `<!doctype html><script>${code}; parent.postMessage('done', '*')</script>`
  await page.route(`${origin}/hostile`, (route) =>
    route.fulfill({ contentType: 'text/html', body }),
  )
  await page.evaluate(async (src) => {
    const element = document.createElement('iframe')
    Object.assign(element, { src, title: 'Hostile' })
    element.style.height = '321px'
    const done = new Promise<void>((resolve) => {
      addEventListener('message', ({ data }) => {
        if (data === 'done') resolve()
      })
    })
    document.body.append(element)
    await done
  }, `${origin}/hostile`)
}

const setHeightOf = (page: Page) =>
  page.locator('iframe').evaluate((it: HTMLIFrameElement) => it.style.height)

test('a frame sends its height to the page around it and nothing else', async () => {
  await using host = await open({
    body: `<script>window.told = []; addEventListener('message', ({ data }) => told.push(data))</script>${frame}${script}`,
  })
  const { page } = host
  await inside(page).getByLabel('Email address').fill('secret@example.com')
  await inside(page).getByRole('button', { name: 'Sign up' }).click()
  await inside(page).getByRole('heading', { name: 'Thank you' }).waitFor()
  await expectFit(page)
  const told = await page.evaluate(() => (window as unknown as { told: object[] }).told)
  expect(told.length).toBeGreaterThan(1)
  for (const message of told) {
    expect(message).toEqual({ type: 'rollcall:height', height: expect.any(Number) })
  }
})

test('axe finds no problem on a page with a frame', async () => {
  await using host = await open()
  await inside(host.page).getByRole('button', { name: 'Sign up' }).click()
  await inside(host.page).getByText('Please enter your email address.').waitFor()
  expect(await accessibilityProblems(host.page)).toEqual([])
})

test('the script for the page around a frame is under 1 KB', () => {
  const bytes = readFileSync(join(projectRoot, 'dist/embed/frame.js'))
  expect(bytes.byteLength).toBeLessThan(1024)
  expect(gzipSync(bytes).byteLength).toBeLessThan(600)
})
