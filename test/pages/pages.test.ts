import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageTexts } from '../../src/pages/texts.ts'
import { languages } from '../../src/signup/languages.ts'
import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { htmlProblems } from '../../harness/html-problems.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

/** The header `Accept` of Chromium. */
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const branding = {
  PAGE_TITLE: 'Tea & <script>alert(1)</script>',
  PAGE_TEXT: 'One "short" mail a month.',
  PAGE_BUTTON: "Count <b>me</b> in, it's free",
  PAGE_ACCENT: '#ffd000',
  PAGE_LOGO_URL: 'https://cdn.example/logo.svg?a=1&b=2',
  PAGE_CONSENT: 'I agree to the [<terms>](https://example.com/terms?a=1&b=2) & more.',
  PAGE_NAME: 'required',
}
const consent = 'I agree to the <terms> (https://example.com/terms?a=1&b=2) & more.'

let plain: BootedService
let branded: BootedService
let strict: BootedService

beforeAll(async () => {
  ;[plain, branded, strict] = await Promise.all([
    bootService(),
    bootService({ env: branding }),
    bootService({
      env: {
        SHEET_TABS: 'News',
        PAGE_LANGUAGE: 'de',
        PAGE_TITLE: 'Der Brief',
        ALLOWED_ORIGINS: 'https://site.example',
        RATE_LIMIT_PER_MINUTE: '1',
        TRUST_PROXY: '1',
      },
    }),
  ])
})

afterAll(() => Promise.all([plain, branded, strict].map((service) => service.stop())))

type Headers = Readonly<Record<string, string>>

function get(service: BootedService, path: string, headers: Headers = {}): Promise<Response> {
  return fetch(service.url + path, { headers: { accept, ...headers } })
}

function post(
  service: BootedService,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Headers = {},
): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept, ...headers },
    body: new URLSearchParams(fields),
  })
}

/** Folds white space, as browsers do. */
const flat = (html: string) => html.replace(/\s+/g, ' ')

test('the hosted page shows every setting, and none of them as markup', async () => {
  const answer = await get(branded, '/')
  const page = flat(await answer.text())
  expect(page).toContain('<title>Tea &amp; &lt;script&gt;alert(1)&lt;/script&gt;</title>')
  expect(page).toContain(
    '<h1><bdi lang="en">Tea &amp; &lt;script&gt;alert(1)&lt;/script&gt;</bdi></h1>',
  )
  expect(page).toContain(
    '<p class="intro"><bdi lang="en">One &quot;short&quot; mail a month.</bdi></p>',
  )
  expect(page).toContain('content="One &quot;short&quot; mail a month."')
  expect(page).toContain('Count &lt;b&gt;me&lt;/b&gt; in, it&#39;s free</bdi> </button>')
  expect(page).toContain('src="https://cdn.example/logo.svg?a=1&amp;b=2"')
  expect(page).toContain(
    'I agree to the <a href="https://example.com/terms?a=1&amp;b=2" target="_blank" rel="noopener">&lt;terms&gt;</a> &amp; more.',
  )
  expect(page).toMatch(/<input id="name" name="name"[^>]* required="" /)
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(answer.headers.get('content-security-policy')).toContain(
    "img-src 'self' data: https://cdn.example;",
  )
  const styles = await (await get(branded, '/assets/page.css')).text()
  expect(styles).toContain('--fill:var(--rollcall-accent, light-dark(#ffd000, #ffd000))')
})

describe('the service checks what the pages ask for', () => {
  const filled = { email: 'ada@example.com', name: 'Ada', 'metadata[consent]': consent }

  test('a signup with both becomes a row with the text of the consent', async () => {
    const answer = await post(branded, '/api/signup?page=hosted', { ...filled, sheetTab: 'Agreed' })
    expect(answer.status).toBe(303)
    const rows = () => readTab(join(branded.folder, 'data'), 'Agreed.csv').slice(1)
    await expect.poll(rows).toHaveLength(1)
    expect(rows()[0]?.slice(2, 6)).toEqual(['form', 'Ada', '', JSON.stringify({ consent })])
  })

  test('a form of another page needs neither, and its errors have neither', async () => {
    expect((await post(branded, '/api/signup', { email: 'ada@example.com' })).status).toBe(303)
    const page = await (await post(branded, '/api/signup', { email: 'ada' })).text()
    expect(page).not.toMatch(/metadata\[consent\]|name="name"|Count/)
  })

  test('a form of the embed needs the consent, but no name', async () => {
    const path = '/api/signup?page=embed'
    const missing = await post(branded, path, { email: 'ada@example.com' }, { accept: '*/*' })
    expect(await missing.json()).toMatchObject({
      status: 422,
      errors: [{ field: 'metadata[consent]' }],
    })
    const given = { email: filled.email, 'metadata[consent]': consent }
    expect((await post(branded, path, given, { accept: '*/*' })).status).toBe(202)
    expect((await post(plain, path, { email: 'ada@example.com' })).status).toBe(303)
  })

  test('a link cannot give the consent', async () => {
    for (const given of ['yes', consent]) {
      const query = new URLSearchParams({ 'field-consent': given, 'field-plan': 'pro' })
      const page = await (await get(branded, `/?${query}`)).text()
      expect(page.match(/name="metadata\[consent\]"/g)).toHaveLength(1)
      expect(page).toContain('name="metadata[plan]" value="pro"')
      expect(page).not.toContain('checked')
    }
  })
})

test('a link can set the hidden fields of a form, and its options stay after an error', async () => {
  const query =
    'tab=Poster&source=%22%3E%3Cb%3E&tags=a,b&field-plan=pro&utm_source=x&name=required&theme=dark&language=en&redirect=/w?a=1%26b=2&gclid=1'
  const page = flat(await (await get(plain, `/api/signup/form?${query}`)).text())
  expect(page).toContain(
    'action="../../api/signup?page=form&amp;language=en&amp;theme=dark&amp;name=required"',
  )
  expect(page).toContain('data-next="/w?a=1&amp;b=2"')
  expect(page).toContain('data-theme="dark"')
  for (const hidden of [
    'name="sheetTab" value="Poster"',
    'name="source" value="&quot;&gt;&lt;b&gt;"',
    'name="tags" value="a,b"',
    'name="metadata[plan]" value="pro"',
    'name="redirect" value="/w?a=1&amp;b=2"',
  ]) {
    expect(page).toContain(`<input type="hidden" ${hidden}>`)
  }
  expect(page).not.toMatch(/gclid|utm_source/)

  const path = '/api/signup?page=form&language=de&theme=dark&name=required'
  const refused = await post(plain, path, { email: 'x', name: 'Ada', 'metadata[plan]': 'pro' })
  const again = flat(await refused.text())
  expect(again).toContain(`action="..${path.replaceAll('&', '&amp;')}"`)
  expect(again).toMatch(/<html lang="de" dir="ltr" data-theme="dark">.*<body class="bare">/)
  expect(again).toContain('Bitte geben Sie eine Adresse wie name@example.com ein.')
  expect(again).toMatch(/name="name" [^>]*required="" value="Ada"/)
  expect(again).toContain('name="metadata[plan]" value="pro"')
  const sent = await post(plain, path, { email: 'ada@example.com', name: 'Ada', sheetTab: 'Kept' })
  expect(sent.headers.get('location')).toBe(
    '../api/signup/thanks?page=form&language=de&theme=dark&name=required',
  )
  const rows = () => readTab(join(plain.folder, 'data'), 'Kept.csv').slice(1)
  await expect.poll(rows).toHaveLength(1)
  expect(rows()[0]?.[5]).toBe('')
})

const stamped = /<input type="hidden" name="rollcall_stamp" value="[\w.-]{20,100}">/

test.each([
  'language=xx',
  'theme=blue',
  'name=false',
  'page=form',
  'email=a',
  'field-=1',
  'utm_source=1',
])('a page ignores the meaningless parameter %s of its link', async (query) => {
  const shown = async (path: string) => {
    const page = await (await get(plain, path)).text()
    // Each page has a stamp of its own time.
    expect(page).toMatch(stamped)
    return page.replace(stamped, '')
  }
  expect(await shown(`/?${query}`)).toBe(await shown('/'))
})

test('the script of a page redirects to the thank-you page when the redirect of the link is not allowed', async () => {
  const page = await (await get(strict, '/?redirect=https://evil.example/&language=en')).text()
  expect(page).toContain('data-next="./api/signup/thanks?page=hosted&amp;language=en"')
  const named = await (await get(strict, '/?redirect=https://site.example/x')).text()
  expect(named).toContain('data-next="https://site.example/x"')
})

const readable = (page: string) => page.replaceAll('&#39;', "'").replaceAll('&quot;', '"')

let visitors = 0
/** The limit is one signup a minute for each address. */
const visitor = () => ({ 'x-forwarded-for': `2001:db8:${(++visitors).toString(16)}::1` })

// The texts of all languages are in src/pages/texts.test.ts.
describe.each(['en', 'de', 'ar'] as const)(
  'no page in %s says to a visitor what only operators understand',
  (language) => {
    const { problems } = pageTexts[language]
    const operators = /\/api\/|JSON|sheetTab:|\?site=|leave it out|send true/
    const email = 'ada@example.com'

    test.each<[string, Record<string, string>, RegExp, 'forbidden' | 'tooLarge']>([
      [
        'a tab that is not allowed',
        { sheetTab: 'Other' },
        /takes no signups\. Those that do: Sheet1/,
        'forbidden',
      ],
      [
        'the same tab by its short name',
        { tab: 'Other' },
        /takes no signups\. Those that do: Sheet1/,
        'forbidden',
      ],
      ['two tabs', { tab: 'Sheet1', sheetTab: 'Other' }, /different tabs: send one/, 'forbidden'],
      ['a long source', { source: 'x'.repeat(201) }, /at most 200 characters/, 'forbidden'],
      ['a long text besides', { message: 'x'.repeat(10_001) }, /characters as JSON/, 'tooLarge'],
    ])('after a form with %s', async (_, fields, detail, problem) => {
      const path = `/api/signup?language=${language}`
      const refused = await post(strict, path, { email, ...fields }, visitor())
      expect(refused.status).toBe(422)
      const page = await refused.text()
      for (const line of problems[problem].split('\n')) expect(readable(page)).toContain(line)
      expect(page.replace(/<form[^]*<\/form>/, '')).not.toMatch(operators)
      expect(await htmlProblems(page)).toEqual([])
      const json = { ...visitor(), accept: 'application/json' }
      const told = await post(strict, path, { email, ...fields }, json)
      expect(await told.text()).toMatch(detail)
    })

    test('behind a link to a tab that is not allowed, and after a form for an unknown site', async () => {
      const linked = await get(strict, `/?tab=Other&language=${language}`)
      expect(await linked.text()).not.toMatch(operators)
      const path = `/api/signup?site=other&language=${language}`
      const other = await post(strict, path, { email }, visitor())
      const page = await other.text()
      for (const line of problems.forbidden.split('\n')) expect(readable(page)).toContain(line)
      expect(page.replace(/<form[^]*<\/form>/, '')).not.toMatch(operators)
    })
  },
)

const bad = { email: 'x', name: 'n'.repeat(300), sheetTab: 'Other', 'metadata[a]': '"<' }

describe('html-validate finds no problem in', () => {
  test.each(languages)('the pages and errors in %s', async (language) => {
    const answers = await Promise.all([
      get(branded, `/?language=${language}&tab=A&field-a=b`),
      get(branded, `/api/signup/form?language=${language}`),
      get(branded, `/api/signup/thanks?language=${language}`),
      get(branded, `/api/signup/thanks?page=form&language=${language}`),
      get(branded, `/nothing?language=${language}`),
      get(branded, `/api/signup?language=${language}`),
      get(branded, `/?source=${'x'.repeat(300)}&language=${language}`),
      post(branded, `/api/signup?language=${language}`, bad),
      post(branded, `/api/signup?page=hosted&language=${language}`, bad),
      post(branded, `/api/signup?page=form&language=${language}`, bad),
      post(strict, `/api/signup?page=form&language=${language}`, bad, { 'content-type': 'text/x' }),
      post(strict, `/api/signup?page=form&language=${language}`, bad, { origin: 'https://a.b' }),
    ])
    const statuses = [200, 200, 200, 200, 404, 405, 400, 422, 422, 422, 415, 403]
    expect(answers.map(({ status }) => status)).toEqual(statuses)
    for (const answer of answers) expect(await htmlProblems(await answer.text())).toEqual([])
  })

  test('the page after too many signups', async () => {
    const visitor = { 'x-forwarded-for': '203.0.113.9' }
    await post(strict, '/api/signup', { email: 'ada@example.com' }, visitor)
    const tooMany = await post(strict, '/api/signup', { email: 'ada@example.com' }, visitor)
    expect(tooMany.status).toBe(429)
    expect(await htmlProblems(await tooMany.text())).toEqual([])
  })

  test('the pages while the challenge is on', async () => {
    await using world = await createChallengeWorld()
    await using guarded = await bootService({ env: world.env })
    for (const path of ['/', '/api/signup/form']) {
      const answer = await get(guarded, path)
      const page = await answer.text()
      expect(page).toContain('This form needs JavaScript')
      expect(await htmlProblems(page)).toEqual([])
      const policy = answer.headers.get('content-security-policy')
      expect(policy).toContain(`script-src 'self' ${world.emulator.url}`)
      expect(policy).not.toContain('unsafe')
    }
    const refused = await post(guarded, '/api/signup?page=form', { email: 'ada@example.com' })
    expect(refused.status).toBe(403)
    expect(await htmlProblems(await refused.text())).toEqual([])
    world.emulator.faults.add({ times: 9, answer: 'serverError' })
    const failed = await post(guarded, '/api/signup?page=form', {
      email: 'ada@example.com',
      challengeToken: world.token(),
    })
    expect(failed.status).toBe(503)
    expect(await htmlProblems(await failed.text())).toEqual([])
  })
})
