// @module-tag slow
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { shareService } from '../../harness/shared-service.ts'

const { open, visit } = shareService()

const tag = '<script src="%s/embed.js" data-tab="Stamped" data-name async></script>'
const email = (page: Page) => page.getByLabel('Email address')
const button = (page: Page) => page.getByRole('button', { name: 'Sign up' })

const headers = { 'access-control-allow-origin': '*' }

interface Sent {
  readonly stamp: string | null
  readonly key: string | undefined
}

/** Answers `GET /api/stamp` with `stamp-1`, `stamp-2` and so on, and tells of all signups. */
async function observe(page: Page, answer?: (route: Route) => Promise<unknown>) {
  const asked: string[] = []
  const sent: Sent[] = []
  await page.route('**/api/stamp*', async (route) => {
    asked.push(new URL(route.request().url()).search)
    const json = { stamp: `stamp-${asked.length}` }
    await (answer ?? ((it) => it.fulfill({ headers, json })))(route)
  })
  page.on('request', (request) => {
    if (request.method() !== 'POST') return
    const fields = new URLSearchParams(request.postData() ?? '')
    sent.push({ stamp: fields.get('rollcall_stamp'), key: request.headers()['idempotency-key'] })
  })
  return { asked, sent }
}

const ways = [
  ['the hosted page', () => visit('/?tab=Stamped&name'), 'heading'],
  ['the embed', () => open({ body: tag }), 'status'],
] as const

test.each(ways)('%s asks for a stamp at the first focus, and sends it', async (_, opened) => {
  await using it = await opened()
  const { page } = it
  await button(page).waitFor()
  const { asked, sent } = await observe(page)
  await page.waitForLoadState('networkidle')
  expect(asked).toEqual([])
  const answered = page.waitForResponse('**/api/stamp*')
  await email(page).focus()
  await (await answered).finished()
  expect(asked).toEqual([''])
  await page.getByLabel('Name').focus()
  await email(page).fill('ada@example.com')
  await button(page).click()
  await page.getByText('Thank you').first().waitFor()
  expect(asked).toHaveLength(1)
  expect(sent.map(({ stamp }) => stamp)).toEqual(['stamp-1'])
})

test('a form that is an hour older asks for a new stamp at the next focus', async () => {
  await using host = await open({ body: tag })
  const { page } = host
  const { asked, sent } = await observe(page)
  await page.clock.install()
  await email(page).fill('ada@example.com')
  await expect.poll(() => asked).toHaveLength(1)
  await page.clock.fastForward('59:00')
  await page.getByLabel('Name').focus()
  await page.waitForLoadState('networkidle')
  expect(asked).toHaveLength(1)
  await page.clock.fastForward('02:00')
  const answered = page.waitForResponse('**/api/stamp*')
  await email(page).focus()
  await (await answered).finished()
  await button(page).click()
  await page.getByText('Thank you').waitFor()
  expect(sent.map(({ stamp }) => stamp)).toEqual(['stamp-2'])
})

test('another stamp makes no other signup: the key of a repeated one stays', async () => {
  await using host = await open({ body: tag })
  const { page } = host
  const { asked, sent } = await observe(page)
  await page.clock.install()
  const first = page.waitForResponse('**/api/stamp*')
  await email(page).fill('ada@example.com')
  await (await first).finished()
  expect(asked).toHaveLength(1)
  await page.route('**/api/signup*', (route) =>
    sent.length > 1 ? route.fallback() : route.fulfill({ status: 400, headers, json: {} }),
  )
  await button(page).click()
  await page.getByRole('alert').getByText('Signing up does not work').waitFor()
  await page.clock.fastForward('01:01:00')
  const answered = page.waitForResponse('**/api/stamp*')
  await page.getByLabel('Name').focus()
  await (await answered).finished()
  await button(page).click()
  await page.getByText('Thank you').waitFor()
  expect(sent.map(({ stamp }) => stamp)).toEqual(['stamp-1', 'stamp-2'])
  expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
})

const failures: readonly (readonly [what: string, (route: Route) => Promise<unknown>])[] = [
  ['refuses', (route) => route.fulfill({ status: 503, headers, json: { title: 'Unavailable' } })],
  ['answers with a page of a proxy', (route) => route.fulfill({ headers, body: '<p>Sorry</p>' })],
  ['does not answer', () => new Promise(() => undefined)],
]

test.each(failures)('a signup is sent all the same when the service %s', async (_, answer) => {
  await using host = await open({ body: tag })
  const { page } = host
  const { sent } = await observe(page, answer)
  await email(page).fill('ada@example.com')
  await button(page).click()
  await page.getByText('Thank you').waitFor()
  expect(sent.map(({ stamp }) => stamp)).toEqual([null])
})

test("without JavaScript, and when there is no new stamp, the hosted page sends the page's own", async () => {
  for (const javaScriptEnabled of [false, true]) {
    await using opened = await visit('/?tab=Own', { javaScriptEnabled })
    const { page } = opened
    const { sent } = await observe(page, (route) => route.abort())
    const own = await page.locator('input[name=rollcall_stamp]').getAttribute('value')
    expect(own).toMatch(/^[\w.-]{20,100}$/)
    await email(page).fill('ada@example.com')
    await button(page).click()
    await page.getByText('Thank you').waitFor()
    expect(sent.map(({ stamp }) => stamp)).toEqual([own])
  }
})
