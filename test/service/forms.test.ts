import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectSecured } from '../../harness/expect-secured.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { stampField } from '../../src/signup/filter-fields.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

/** The header `Accept` of Chromium. */
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

/** Posts a form as a browser does, without following the redirect. */
async function postForm(
  { url }: BootedService,
  body: URLSearchParams | Record<string, string>,
): Promise<Response> {
  return fetch(`${url}/api/signup`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept },
    body: new URLSearchParams(body),
  })
}

async function expectPage(answer: Response, status: number): Promise<string> {
  expect(answer.status).toBe(status)
  expectSecured(answer)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toContain("style-src 'self'")
  const page = await answer.text()
  expect(page).toMatch(/^<!doctype html>\s*<html lang="en" dir="ltr" data-theme="auto">/)
  expect(page).not.toMatch(
    /<script(?! src="[./]*\/assets\/page.js" defer><)|<style|\sstyle=|\son\w+=/,
  )
  return page
}

/** The fields of the form in the page, as a browser would send them again. */
function fieldsOf(page: string): [name: string, value: string][] {
  return [...page.matchAll(/<input\s[^>]*>/g)].map(([input]) => [
    attribute(input, 'name'),
    attribute(input, 'value'),
  ])
}

function attribute(tag: string, name: string): string {
  const raw = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return raw.replace(/&(#?\w+);/g, (entity, code: string) => entities[code] ?? entity)
}

test('a form that a person sends becomes a row, and redirects to a page that says thank you', async () => {
  await using service = await bootService()
  const answer = await postForm(service, {
    email: 'grace@example.com',
    name: 'Grace',
    company: 'AE',
  })
  expect(answer.status).toBe(303)
  expectSecured(answer)
  expect(answer.headers.get('location')).toBe('../api/signup/thanks')
  expect(answer.headers.get('vary')).toContain('Accept')
  expect(await answer.text()).toBe('')

  for (const _reload of [1, 2]) {
    const page = await expectPage(await fetch(`${service.url}/api/signup/thanks`), 200)
    expect(page).toContain('<title>Thank you</title>')
  }
  const dataDir = join(service.folder, 'data')
  await expect.poll(() => readTab(dataDir, 'Sheet1.csv')).toHaveLength(2)
  const [, row] = readTab(dataDir, 'Sheet1.csv')
  expect(row).toEqual([
    'grace@example.com',
    expect.any(String),
    'form',
    'Grace',
    '',
    '{"company":"AE"}',
    'Sheet1',
  ])
  await service.stop()
  expect(service.output()).not.toMatch(/grace|company/i)
})

test('a form that is refused comes back with all that was typed, and becomes a row when it is corrected and sent again', async () => {
  await using service = await bootService()
  const typed: [string, string][] = [
    ['email', 'zoe"><b>@'],
    ['name', `Zoë & "Co" <script>alert('1')</script>`],
    ['sheetTab', 'Launch'],
    ['source', 'page'],
    ['tags', 'a'],
    ['tags[]', 'b'],
    ['metadata[plan]', 'pro'],
    ['company', '"Line one\r\nline two"'],
    ['redirect', '/welcome?a=1&b=2'],
  ]
  const tokens: [string, string][] = [['cf-turnstile-response', 'spent-token']]
  const refused = await postForm(service, new URLSearchParams([...typed, ...tokens]))
  const page = await expectPage(refused, 422)
  expect(page).not.toContain('spent-token')
  const shown = fieldsOf(page)
  expect(shown.filter(([name]) => name !== stampField)).toEqual(typed)
  expect(page.replace(/\s+/g, ' ')).toMatch(
    /<input id="email" name="email"[^>]* required="" [^>]* aria-invalid="true" aria-describedby="email-problem" autofocus/,
  )

  const mended = shown.map(([name, value]) => [name, name === 'email' ? 'zoe@example.com' : value])
  const answer = await postForm(service, new URLSearchParams(mended))
  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toBe('/welcome?a=1&b=2')
  const dataDir = join(service.folder, 'data')
  await expect.poll(() => readTab(dataDir, 'Launch.csv')).toHaveLength(2)
  expect(readTab(dataDir, 'Launch.csv')[1]).toEqual([
    'zoe@example.com',
    expect.any(String),
    'page',
    `Zoë & "Co" <script>alert('1')</script>`,
    'a, b',
    '{"plan":"pro","company":"\\"Line one line two\\""}',
    'Launch',
  ])
  expect(service.output()).not.toMatch(/zo[eë]|launch|spent-token|line one/i)
})
