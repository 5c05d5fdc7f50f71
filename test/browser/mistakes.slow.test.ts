import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'

const fields = [
  { name: 'plan', type: 'choice', options: ['free', 'pro'] },
  { name: 'seats', type: 'number' },
  { name: 'news', type: 'checkbox' },
]
const sites = { launch: { tabs: ['News', 'Beta'], fields }, beta: {} }
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
  'data-site, data-tab, data-source, data-tags, data-language, data-theme, data-redirect, data-server, data-name, data-consent, data-utm, data-text-…, data-field-…'

/** The mistake, the page, and what its author reads. The visitor's form looks as if there was no mistake. */
const seenAtLoad: [mistake: string, body: string, ...lines: string[]][] = [
  [
    'an option that is a label elsewhere',
    tag('data-button="Join"'),
    'data-button is not an option. Did you mean data-text-submit?',
  ],
  [
    'two letters of an option are swapped',
    tag('data-tba="News"'),
    'data-tba is not an option. Did you mean data-tab?',
  ],
  [
    'an option with two near ones',
    tag('data-tabs="News"'),
    'data-tabs is not an option. Did you mean data-tab or data-tags?',
  ],
  [
    'an option like no other',
    tag('data-foo'),
    `data-foo is not an option. The options are ${options}.`,
  ],
  [
    'a colour, which is a matter of CSS',
    tag('data-color="#f00"'),
    'data-color is not an option. Did you mean the CSS property --rollcall-accent?',
  ],
  [
    'a misspelt group',
    tag('data-feild-plan="pro"'),
    'data-feild-plan is not an option. Did you mean data-field-plan?',
  ],
  [
    'a misspelt text',
    tag('data-text-sumbit="Join"'),
    'data-text-sumbit is not a text of the form. Did you mean data-text-submit?',
  ],
  [
    'a misspelt theme',
    tag('data-theme="drak"'),
    'data-theme "drak" is not one of light, dark, auto. Did you mean dark?',
  ],
  [
    'a language that the form does not speak',
    tag('data-language="se"'),
    'data-language "se" is not one of en, de, fr, es, pt, it, nl, pl, tr, ar, hi, ja, ko, zh. Did you mean de or es?',
  ],
  [
    'a misspelt value of an option with few',
    tag('data-name="requird" data-utm="no"'),
    'data-name "requird" is not one of required, true, false. Did you mean required?',
    'data-utm "no" is not one of true, false.',
  ],
  [
    'a link without https://',
    tag('data-redirect="www.example.com/thanks"'),
    'data-redirect "www.example.com/thanks" is not an address of a page: that begins with https:// or /.',
  ],
  [
    'a link to a script',
    tag('data-redirect="javascript:alert(1)"'),
    'data-redirect "javascript:alert(1)" is not an address of a page: that begins with https:// or /.',
  ],
  [
    'values that the fields do not have',
    tag('data-field-plan="gold" data-field-seats="many" data-field-news="ja"'),
    'data-field-plan "gold" is not one of free, pro.',
    'data-field-seats "many" is not a value of this field.',
    'data-field-news "ja" is not true or false.',
  ],
  [
    'a site that there is not',
    '<script src="%s/embed.js" data-site="lanuch" async></script>',
    'There is no site "lanuch". Correct data-site.',
  ],
  [
    'misspelt attributes of the element',
    element(
      'theme="drak" tabs="News" text-sumbit="Join" data-thme="a" data-testid="b" aria-label="c"',
    ),
    'tabs is not an option. Did you mean tab or tags?',
    'data-thme is not an option. Did you mean data-theme?',
    'text-sumbit is not a text of the form. Did you mean text-submit?',
    'theme "drak" is not one of light, dark, auto. Did you mean dark?',
  ],
  [
    'misspelt options of render',
    rendered(
      "{ site: 'launch', tabs: 'News', theme: 'drak', button: 'Join', texts: { sumbit: 'Join' }, fields: { nmae: true, hidden: { plan: 'gold' } } }",
    ),
    'tabs is not an option. Did you mean tab or tags?',
    'theme "drak" is not one of light, dark, auto. Did you mean dark?',
    'button is not an option. Did you mean texts.submit?',
    'nmae is not an option. Did you mean name?',
    'texts.sumbit is not a text of the form. Did you mean texts.submit?',
    'fields.hidden.plan "gold" is not one of free, pro.',
  ],
  [
    'misspelt options of enhance',
    own('%s/api/signup?site=launch', "{ redirct: '/thanks', texts: { doen: 'Yes' } }"),
    'redirct is not an option. Did you mean redirect?',
    'texts.doen is not a text of the form. Did you mean texts.done?',
  ],
]

test.each(seenAtLoad)('at once the console tells of %s', async (_, body, ...lines) => {
  await using host = await shared.open({ body })
  await host.page.getByRole('button', { name: /Sign up|Join/ }).waitFor()
  await expect.poll(() => linesOf(host).sort()).toEqual(lines.toSorted())
})

test.each([
  [
    'only unknown options',
    '',
    '<script src="%s/embed.js" data-button="Join" async></script>',
    'data-button is not an option, so this tag draws no form. Did you mean data-text-submit?',
  ],
  [
    'its tag in <head>',
    tag('data-tab="News"'),
    '',
    'this tag is in <head>, where no form can be seen. Move it into <body>, to the place of the form, or put this there: <rollcall-form site="launch" tab="News"></rollcall-form>',
  ],
])('a page with %s has no form, and its author reads why', async (_, head, body, line) => {
  await using host = await shared.open({ head, body })
  await expect.poll(() => linesOf(host)).toEqual([line])
  expect(await host.page.locator('rollcall-form').count()).toBe(0)
})

test('a misspelt site in the address of the script shows as a 404 in the console', async () => {
  await using host = await shared.open({
    body: '<script src="%s/embed.js?site=lanch" data-tab="News" async></script>',
  })
  await expect
    .poll(() => host.complaints)
    .toContainEqual(expect.stringContaining('the server responded with a status of 404'))
})

const nowhere = 'Signing up does not work on this page just now.'

describe('a refusal that no visitor can mend ends at once', () => {
  test.each([
    [
      'with the first focus, when no site is named',
      '<script src="%s/embed.js" data-tab="News" async></script>',
      0,
      'the site is missing: add data-site, with the name of one of the sites of this Rollcall.',
    ],
    [
      'with the first focus, when an element names no site',
      '<rollcall-form></rollcall-form><script src="%s/embed.js" async></script>',
      0,
      'the site is missing: add site, with the name of one of the sites of this Rollcall.',
    ],
    [
      'with the first focus, when a form of the page’s own names no site',
      own('%s/api/signup', '{}'),
      0,
      "the site is missing: add ?site= in the form's action.",
    ],
    [
      'with the first focus, when the site is unknown',
      '<script src="%s/embed.js" data-site="lanuch" async></script>',
      0,
      'There is no site "lanuch". Correct data-site.',
    ],
    [
      'with the first focus, when the address is of another server',
      tag('data-server="/elsewhere"'),
      0,
      "%s/elsewhere/api/signup?site=launch answered 404, so no signup can be sent there: correct data-server, or the script's address.",
    ],
    [
      'when the tab takes no signups',
      tag('data-tab="Nws"'),
      1,
      'data-tab "Nws" takes no signups. Did you mean News?',
    ],
    [
      'when no tab is like it',
      element('tab="Customers"'),
      1,
      'tab "Customers" takes no signups. The tabs that do are News, Beta.',
    ],
    [
      'when a choice of the page’s own names a tab that takes no signups',
      own('%s/api/signup?site=launch', '{}').replace(
        '<button>',
        '<select name="sheetTab" aria-label="List"><option>Nws</option></select><button>',
      ),
      1,
      'sheetTab "Nws" takes no signups. Did you mean News?',
    ],
  ])('%s', async (_, body, requests, line) => {
    await using host = await shared.open({ body })
    const { page } = host
    let sent = 0
    page.on('request', (request) => (sent += request.method() === 'POST' ? 1 : 0))
    await page.getByLabel('Email address').fill('ada@example.com')
    if (requests > 0) await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByRole('alert').getByText(nowhere).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await expect.poll(() => linesOf(host)).toEqual([line.replaceAll('%s', shared.service.url)])
    if (requests === 0) {
      await page.getByRole('button', { name: 'Sign up' }).click()
      await expect.poll(() => page.locator('form').getAttribute('aria-busy')).toBeNull()
      await page.getByRole('alert').getByText(nowhere).waitFor()
    }
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
    expect(linesOf(host)[0]).toContain(
      `answered ${status}, so no signup can be sent there: correct data-server`,
    )
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
