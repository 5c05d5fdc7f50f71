// @module-tag slow
import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'

const fields = [
  { name: 'plan', type: 'choice', options: ['free', 'pro'] },
  { name: 'seats', type: 'number' },
  { name: 'news', type: 'checkbox' },
]
const page = { title: 'Launch' }
const sites = { launch: { tabs: ['News', 'Beta'], fields, page }, beta: {} }
/** There is no site `default`, so each form has to name its site. */
const shared = shareService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })

/** A script tag of a form that has no mistake but those in its attributes. */
const tag = (attributes: string) =>
  `<script src="%s/embed.js?site=launch" data-site="launch" ${attributes} async></script>`
/** A form by `<rollcall-form>`. */
const element = (attributes: string) =>
  `<rollcall-form site="launch" ${attributes}></rollcall-form><script src="%s/embed.js?site=launch" async></script>`
/** A form by `Rollcall.render`. */
const rendered = (options: string) =>
  `<script src="%s/embed.js?site=launch"></script><script>Rollcall.render(document.body, ${options})</script>`
/** A form of the page's own. */
const own = (action: string, options: string) =>
  `<form id="own" method="post" action="${action}"><label>Email address <input type="email" name="email"></label><button>Sign up</button></form>
  <script src="%s/embed.js"></script><script>Rollcall.enhance(document.querySelector('#own'), ${options})</script>`

const options =
  'site, tab, source, tags, language, theme, redirect, server, name, consent, utm, text-…, field-…'
const noOption = (names: string) => `${names}: no such option. The options are ${options}.`

const unknownNames: [where: string, body: string, line: string][] = [
  [
    'a script tag',
    tag('data-tba="News" data-button data-cfasync'),
    noOption('data-tba, data-button'),
  ],
  ['an element', element('tabs="News" class="a" data-testid="b" aria-label="c"'), noOption('tabs')],
  [
    'render',
    rendered("{ site: 'launch', tabs: 'News', texts: {}, fields: { nmae: true } }"),
    noOption('tabs, nmae'),
  ],
  ['enhance', own('%s/api/signup?site=launch', "{ redirct: '/thanks' }"), noOption('redirct')],
]

test.each(unknownNames)(
  'one line of the console tells which options of %s are none, and which there are',
  async (_, body, line) => {
    await using host = await shared.open({ body })
    await host.page.getByLabel('Email address').focus()
    await expect.poll(() => linesOf(host)).toEqual([line])
  },
)

test('a script tag in <head> draws no form, and its author reads why', async () => {
  await using host = await shared.open({ head: tag('data-tab="News"'), body: '' })
  const line = 'A script tag in <head> draws no form. Put it into <body>, to the place of the form.'
  await expect.poll(() => linesOf(host)).toEqual([line])
  expect(await host.page.locator('rollcall-form').count()).toBe(0)
})

const detail = 'There is no such site, or none is named: check ?site= in the address.'

test.each([
  ['misspelt in a script tag', '<script src="%s/embed.js" data-site="lanuch"></script>', 'lanuch'],
  ['misspelt in an element', element('').replace('"launch"', '"lanuch"'), 'lanuch'],
  ['missing in a script tag', '<script src="%s/embed.js" data-tab="News"></script>', ''],
  ['missing in a bare script tag', '<script src="%s/embed.js" async></script>', ''],
  [
    'missing in an element',
    '<rollcall-form></rollcall-form><script src="%s/embed.js"></script>',
    '',
  ],
])('a site that is %s is told when the page loads, and no form is drawn', async (_, body, site) => {
  await using host = await shared.open({ body })
  const named = site ? `the site "${site}"` : 'no option site'
  await expect.poll(() => linesOf(host)).toEqual([`No form is drawn with ${named}. ${detail}`])
  expect(await host.page.locator('form').count()).toBe(0)
})

test('a misspelt site in the address of the script is told when the page loads, and no form is drawn', async () => {
  await using host = await shared.open({
    body: '<script src="%s/embed.js?site=lanch" data-tab="News" async></script>',
  })
  const line =
    'There is no such site, so no form is drawn. Correct ?site= in the address of the script.'
  await expect.poll(() => linesOf(host)).toEqual([line])
  expect(await host.page.locator('form').count()).toBe(0)
})

const nowhere = 'Signing up does not work on this page just now.'

describe('a refusal that no visitor can mend ends at once', () => {
  test.each([
    [
      'with the first focus, when a form of the page’s own names no site',
      own('%s/api/signup', '{}'),
      0,
      '%s/api/signup answered 422. site: The site is missing: add ?site= and its name to the address.',
    ],
    [
      'with the first focus, when the address is of another server',
      '<script src="%s/embed.js?site=launch" data-server="/elsewhere"></script>',
      0,
      expect.stringMatching(/\/elsewhere\/api\/signup\?site=launch answered 404\./),
    ],
    [
      'when the tab takes no signups',
      tag('data-tab="Nws"'),
      1,
      expect.stringMatching(/answered 422\. sheetTab: /),
    ],
  ])('%s', async (_, body, requests, line: unknown) => {
    await using host = await shared.open({ body })
    const { page } = host
    let sent = 0
    page.on('request', (request) => (sent += request.method() === 'POST' ? 1 : 0))
    await page.getByLabel('Email address').fill('ada@example.com')
    if (requests > 0) await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByRole('alert').getByText(nowhere).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    const expected: unknown =
      typeof line === 'string' ? line.replaceAll('%s', shared.service.url) : line
    await expect.poll(() => linesOf(host)).toEqual([expected])
    expect(sent).toBe(requests)
  })

  test.each([400, 404, 405, 413, 415, 422])('with an answer of %i', async (status) => {
    await using host = await shared.open({ body: tag('') })
    const { page } = host
    let sent = 0
    await page.route('**/api/signup?*', (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      sent++
      return route.fulfill({ status, headers: { 'access-control-allow-origin': '*' }, body: 'No.' })
    })
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByRole('alert').getByText(nowhere).waitFor()
    await expect.poll(() => linesOf(host)).toHaveLength(1)
    expect(linesOf(host)[0]).toContain(`/api/signup?site=launch answered ${status}.`)
    expect(sent).toBe(1)
  })
})

test('a page without a mistake loads nothing to tell of one, and its console stays empty', async () => {
  await using host = await shared.open({
    body: `${tag('data-tab="News" data-theme="dark" data-language="de-AT" data-name="required" data-tags="a, b" data-utm data-redirect="/thanks" data-field-plan="pro" data-field-seats="5" data-text-submit="Join"')}
      <rollcall-form site="launch" class="a" id="b" style="--rollcall-width: 20em" tab="News" name></rollcall-form>`,
  })
  const { page } = host
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.reload({ waitUntil: 'networkidle' })
  await page.locator('#email').nth(1).focus()
  await expect.poll(() => asked.some((url) => url.includes('/api/config'))).toBe(true)
  expect(asked.filter((url) => url.includes('author.js'))).toEqual([])
  expect(host.complaints).toEqual([])
})

/** What Rollcall tells the author of the page, without its name in front. */
function linesOf({ complaints }: { readonly complaints: readonly string[] }): string[] {
  return complaints.flatMap((it) => (it.startsWith('Rollcall: ') ? [it.slice(10)] : []))
}
