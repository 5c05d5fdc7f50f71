import { describe, expect, test } from 'vitest'
import { expectSecured } from '../../harness/expect-secured.ts'
import { webResponse } from '../../harness/web-response.ts'
import { htmlProblems } from '../../harness/html-problems.ts'
import { pageOptions } from '../../harness/page-options.ts'
import { ApiKeys } from '../http/api-keys.ts'
import { createEdge } from '../http/edge.ts'
import { Router } from '../http/router.ts'
import { Sites } from '../http/sites.ts'
import { languages } from '../signup/languages.ts'
import { environmentNames } from '../platform/setting-names.ts'
import { linkPages, type LinkPagesOptions, type ShownLink } from './link-pages.ts'
import { answerRefusal } from './refusal.ts'
import { pageTexts } from './texts.ts'

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const elsewhere = { origin: 'https://evil.example' }
const own = 'https://signup.example'
const listed = {
  tabs: ['Beta <b>'],
  otherTabs: ['Sheet1', 'News'],
  consent: 'I agree to the <terms> (https://example.com/a?b&c).',
}
const address = 'a…@example.com'
const title = 'Tea & "biscuits"'
const pages = {
  title,
  consent: 'I agree to the [<terms>](https://example.com/a?b&c).',
}

type Options = Partial<Omit<LinkPagesOptions, 'pages' | 'decide'>> & {
  readonly pages?: Partial<LinkPagesOptions['pages']>
  readonly signupsPerMinute?: number
  readonly linkTabs?: readonly string[]
  readonly otherTabs?: readonly string[]
  readonly consent?: string
  readonly rowStays?: boolean
  readonly overflow?: true
  /** What comes of confirming. */
  readonly confirmed?: ShownLink['state']
}

/** The pages of one link that is in this state, with all that was asked of it. */
function serve(state: ShownLink['state'] | undefined, given: Options = {}) {
  const { signupsPerMinute = 0, pages: more, linkTabs = listed.tabs, ...others } = given
  const { otherTabs = listed.otherTabs, consent = listed.consent, ...rowed } = others
  const { rowStays = false, overflow, confirmed = 'confirmed', ...rest } = rowed
  const asked: string[] = []
  let link: ShownLink | undefined = state && {
    ...{
      state,
      tabs: linkTabs,
      otherTabs,
      consent,
      rowStays,
      address,
      ...(overflow && { overflow }),
    },
  }
  const options: LinkPagesOptions = {
    ...pageOptions({ pages: { name: 'off', ...more } }),
    publicUrl: undefined,
    ...rest,
    decide: (purpose, token, decision) => {
      asked.push(`${purpose} ${token} ${decision}`)
      const states = {
        look: state,
        confirm: confirmed,
        decline: 'declined',
        leave: 'left',
      } as const
      const changed = states[decision]
      link = link && changed && { ...link, ...(state !== 'over' && { state: changed }) }
      return Promise.resolve(link)
    },
  }
  const router = new Router()
  for (const { path, ...route } of linkPages(options)) router.add(path, route)
  const origins = ['https://www.example.com']
  const site = { name: 'default', origins, signupsPerMinute, settingNames: environmentNames }
  const application = createEdge({
    sites: new Sites([site], false, site),
    allowedHosts: undefined,
    trustedProxies: 0,
    clock: { elapsed: () => 0 },
    warn: () => {},
    eventsOf: () => ({
      requestRefused: () => {},
      signupsRefused: () => asked.push('a refused signup'),
      originRefused: () => asked.push('a refused origin'),
      requestFailed: (error) => {
        throw error
      },
    }),
    router,
    apiKeys: new ApiKeys([]),
    showRefusal: (refusal, exchange) => answerRefusal(refusal, exchange, options),
  })
  const ask = async (path: string, init: RequestInit = {}) => {
    const { host } = new URL(own)
    const headers = { host, accept, ...(init.headers as Record<string, string>) }
    const request = new Request(own + path, { ...init, headers })
    return webResponse(await application.fetch(request, { remoteAddress: '203.0.113.7' }))
  }
  const post = (path: string, fields: Record<string, string>, headers = {}) =>
    ask(path, { method: 'POST', headers, body: new URLSearchParams(fields) })
  return { ask, post, asked }
}

const flat = (html: string) => html.replace(/\s+/g, ' ')
const textOf = async (answer: Response) => flat(await answer.text())
const buttonsIn = (html: string) =>
  [...html.matchAll(/<button [^>]*value="(\w+)"/g)].map(([, it]) => it)

describe('a link that waits for its confirmation', () => {
  test('shows the site, the tabs and the wording with its links, and two buttons that work without a script', async () => {
    const { ask, asked } = serve('pending', { pages })
    const answer = await ask('/confirm/abc?site=launch')
    expect(answer.status).toBe(200)
    const html = await answer.text()
    expect(await htmlProblems(html)).toEqual([])
    const page = flat(html)
    expect(page).toContain(
      '<bdi lang="en">Tea &amp; &quot;biscuits&quot;</bdi> · <bdi>Beta &lt;b&gt;</bdi></p>',
    )
    expect(page).toContain('<h1>Please confirm your signup</h1> <p><bdi>a…@example.com</bdi></p>')
    expect(page).toContain('<p>Agreed to when signing up:</p> <blockquote><bdi lang="en">I agree')
    const others = '<ul> <li><bdi>Sheet1</bdi></li><li><bdi>News</bdi></li> </ul>'
    expect(page).toContain(`<p>You get a mail of its own for:</p> ${others}`)
    expect(page).toContain(
      '<a href="https://example.com/a?b&amp;c" target="_blank" rel="noopener">&lt;terms&gt;</a>.',
    )
    expect(page).toContain('<form method="post">')
    expect(buttonsIn(page)).toEqual(['confirm', 'decline'])
    expect(page).not.toMatch(/disabled|<script|onclick|http-equiv/)
    expect(asked).toEqual(['confirm abc look'])
  })

  test('has no tab to show when it is for the default one, the plain wording that the site had, and the host for a title', async () => {
    const { ask } = serve('pending', {
      linkTabs: ['Sheet1'],
      otherTabs: [],
      consent: 'Once & before',
    })
    const page = await textOf(await ask('/confirm/abc'))
    expect(page).toContain('<p class="intro">signup.example</p>')
    expect(page).not.toContain('<ul>')
    expect(page).toContain('<blockquote><bdi>Once &amp; before</bdi></blockquote>')
    expect(page).toContain('<title>Please confirm your signup – signup.example</title>')
  })

  test('leads on to the page of the site, which its form may be redirected to', async () => {
    const confirmedNext = 'https://shop.example/thanks?a=1'
    const { ask, post } = serve('pending', { pages: { confirmedNext } })
    const answer = await post('/confirm/abc', { decision: 'confirm' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, confirmedNext])
    const policy = (await ask('/confirm/abc')).headers.get('content-security-policy')
    expect(policy).toContain("form-action 'self' https://shop.example;")
  })

  test('is declined by its other button, and that is all', async () => {
    const { post, asked } = serve('pending')
    const page = await textOf(await post('/confirm/abc', { decision: 'decline' }))
    expect(page).toContain('<h1>You are not on the list</h1>')
    expect(page).not.toContain('<form')
    expect(page).not.toContain('sign up again')
    expect(asked).toEqual(['confirm abc decline'])
  })

  test.each(['leave', 'look', 'constructor', '', 'CONFIRM'])(
    'is only looked at when the decision is %j',
    async (decision) => {
      const { post, asked } = serve('pending')
      const page = await textOf(await post('/confirm/abc', { decision }))
      expect(buttonsIn(page)).toEqual(['confirm', 'decline'])
      expect(asked).toEqual(['confirm abc look'])
    },
  )

  test('is only looked at by JSON, and by one click that belongs to another link', async () => {
    const { ask, post, asked } = serve('pending')
    const headers = { 'content-type': 'application/json' }
    const body = '{"decision":"confirm"}'
    expect((await ask('/confirm/abc', { method: 'POST', headers, body })).status).toBe(200)
    await post('/confirm/abc', { 'List-Unsubscribe': 'One-Click' })
    expect(asked).toEqual(['confirm abc look', 'confirm abc look'])
  })
})

describe('a page of another site', () => {
  const foreign: Record<string, string>[] = [
    elsewhere,
    { origin: 'null' },
    { origin: 'https://www.example.com' },
    { origin: own, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'anything' },
  ]
  test.each(foreign)(
    'cannot decide by a POST with %j, and the person sees the buttons',
    async (headers) => {
      for (const [path, decision, buttons] of [
        ['/confirm/abc', 'confirm', ['confirm', 'decline']],
        ['/confirm/abc', 'decline', ['confirm', 'decline']],
        ['/leave/abc', 'leave', ['leave']],
      ] as const) {
        const { post, asked } = serve('pending')
        const answer = await post(path, { decision }, headers)
        expect(answer.status).toBe(200)
        expect(buttonsIn(await answer.text())).toEqual(buttons)
        expect(asked).toEqual([`${path.split('/')[1]} abc look`])
      }
    },
  )

  test('cannot read what a link shows', async () => {
    const { ask } = serve('pending')
    const answer = await ask('/confirm/abc', { headers: { origin: 'https://www.example.com' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })
})

test.each([
  { origin: own },
  { origin: 'http://signup.example', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { origin: 'https://public.example' },
  {},
])(
  'our own page decides with %j, also behind a proxy that does not tell our host',
  async (headers) => {
    const { post, asked } = serve('pending', { publicUrl: 'https://public.example/letters' })
    await post('/confirm/abc', { decision: 'confirm' }, headers)
    expect(asked).toEqual(['confirm abc confirm'])
  },
)

describe('when the last seat went before somebody confirmed', () => {
  test('the page says so, and asks no more than whether it was them', async () => {
    const { post } = serve('pending', { pages, confirmed: 'closed' })
    const html = await (await post('/confirm/abc', { decision: 'confirm' })).text()
    expect(await htmlProblems(html)).toEqual([])
    expect(flat(html)).toMatch(
      /<h1>Signups are closed<\/h1>.*The last place was taken before you confirmed\./,
    )
    expect(buttonsIn(html)).toEqual(['decline'])
  })

  test('the page says that the place is on the waiting list, and leads to no page for the others', async () => {
    const confirmedNext = 'https://www.example.com/welcome'
    const { post } = serve('pending', { pages: { confirmedNext }, overflow: true })
    const answer = await post('/confirm/abc', { decision: 'confirm' })
    expect(answer.status).toBe(200)
    const page = await textOf(answer)
    expect(page).toContain(pageTexts.en.closing.waitingText)
    expect(page).not.toContain(pageTexts.en.mail.onText)
  })
})

describe('the link to leave', () => {
  test('shows a button, and leaves by it', async () => {
    const { ask, post, asked } = serve('confirmed', { pages })
    const html = await (await ask('/leave/abc')).text()
    expect(await htmlProblems(html)).toEqual([])
    expect(buttonsIn(html)).toEqual(['leave'])
    expect(flat(html)).toContain(
      'any more.</p> <p>To come back, simply sign up again.</p> <form method="post">',
    )
    const page = await textOf(await post('/leave/abc', { decision: 'leave' }))
    expect(page).toContain('<h1>You are not on the list</h1>')
    expect(page).toContain('To come back, simply sign up again.')
    expect(page).not.toContain('<form')
    expect(asked).toEqual(['leave abc look', 'leave abc leave'])
  })

  test.each([
    ['as a form', new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })],
    ['in parts', Object.entries({ 'List-Unsubscribe': 'One-Click' })],
  ])('leaves by one click, %s, from any origin, and says so in plain words', async (_, body) => {
    const form = new FormData()
    if (body instanceof Array) for (const [name, value] of body) form.set(name, value)
    for (const headers of [{}, elsewhere, { 'sec-fetch-site': 'cross-site', accept: '*/*' }]) {
      const { ask, asked } = serve('confirmed')
      const init = { method: 'POST', headers, body: body instanceof Array ? form : body }
      const answer = await ask('/leave/abc', init)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(await answer.text()).toBe('You are not on the list\n')
      expect(asked).toEqual(['leave abc leave'])
    }
  })

  test('says in plain words that a row stays, on the page and to one click', async () => {
    const { post } = serve('confirmed', { rowStays: true })
    const page = await textOf(await post('/leave/abc', { decision: 'leave' }))
    expect(page).toMatch(/<h1>We will not write to you\.<\/h1>.*<p>You signed up so long ago/)
    expect(page).not.toContain('You are not on the list')
    const click = await post('/leave/abc', { 'List-Unsubscribe': 'One-Click' })
    expect(await click.text()).toMatch(/^We will not write to you\.\nYou signed up .*\n$/)
  })

  test('says the same to one click when the signup is over already', async () => {
    const { post } = serve('over')
    const answer = await post('/leave/abc', { 'List-Unsubscribe': 'One-Click' })
    expect([answer.status, await answer.text()]).toEqual([200, 'You are not on the list\n'])
  })

  test('takes no other text for one click', async () => {
    const { post, asked } = serve('confirmed')
    await post('/leave/abc', { 'List-Unsubscribe': 'one-click' }, elsewhere)
    expect(asked).toEqual(['leave abc look'])
  })
})

describe('what is decided', () => {
  test.each([
    ['/confirm/abc', 'confirmed', 'Thank you', []],
    ['/confirm/abc', 'declined', 'You are not on the list', []],
    ['/confirm/abc', 'left', 'You are not on the list', []],
    ['/leave/abc', 'left', 'You are not on the list', []],
    ['/leave/abc', 'confirmed', 'Do you want to leave the list?', ['leave']],
  ] as const)('is on the page of %s when it is %s', async (path, state, heading, buttons) => {
    const { ask } = serve(state, { pages: { confirmedNext: 'https://shop.example/' } })
    const page = await textOf(await ask(path))
    expect(page).toContain(`<h1>${heading}</h1>`)
    expect(buttonsIn(page)).toEqual(buttons)
    expect(page.includes('<form')).toBe(buttons.length > 0)
  })

  test.each(['over', undefined] as const)(
    'a link that is %s is a page that says what to do',
    async (state) => {
      const { ask, post } = serve(state)
      for (const path of ['/confirm/abc', '/leave/abc']) {
        for (const answer of [await ask(path), await post(path, { decision: 'confirm' })]) {
          expect(answer.status).toBe(404)
          expect(answer.headers.get('x-frame-options')).toBe('DENY')
          expect(await answer.text()).toContain('Please copy the whole link, or sign up once more.')
        }
      }
      const ofProgram = await ask('/leave/abc', { headers: { accept: '*/*' } })
      expect(ofProgram.headers.get('content-type')).toBe('application/problem+json')
    },
  )
})

describe.each(languages)('in %s', (language) => {
  test.each(['pending', 'confirmed', 'declined', 'left', 'over'] as const)(
    'the pages of a link that is %s are correct, and in that language only',
    async (state) => {
      const { ask } = serve(state)
      for (const path of ['/confirm/abc', '/leave/abc']) {
        const answer = await ask(path, { headers: { 'accept-language': language } })
        const html = await answer.text()
        if (language === 'ar') expect(await htmlProblems(html)).toEqual([])
        const dir = language === 'ar' ? 'rtl' : 'ltr'
        expect(html).toContain(`<html lang="${language}" dir="${dir}"`)
        const { mail, thanks, problems } = pageTexts[language]
        const headings = [mail.title, mail.off, mail.leaving, thanks.title, problems.over]
        const first = headings.map((it) => it.split('\n')[0])
        expect(first).toContain(/<h1>(.*)<\/h1>/.exec(html)?.[1])
      }
    },
  )
})

test('no page of a link may be stored or framed, loads a challenge, or tells its address to others', async () => {
  for (const path of ['/confirm/abc', '/leave/abc']) {
    for (const state of ['pending', 'confirmed', 'left', 'over', undefined] as const) {
      const widget = { siteKey: 'x', origins: ['https://challenge.example'] }
      const answer = await serve(state, { widget }).ask(path)
      expectSecured(answer)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      if (answer.status === 200)
        expect(answer.headers.get('content-security-policy')).not.toContain('challenge.example')
      expect(answer.headers.get('content-security-policy')).toContain("form-action 'self'")
    }
  }
})

describe('posts are bounded', () => {
  test('one client decides ten times as often as it may sign up, and no signup counts for that', async () => {
    const { ask, post, asked } = serve('pending', { signupsPerMinute: 1 })
    const statuses = []
    for (let i = 0; i < 11; i++)
      statuses.push((await post('/leave/abc', { decision: 'leave' })).status)
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429])
    expect(asked).toHaveLength(10)
    expect((await ask('/leave/abc')).status).toBe(429)
    expect(asked).toHaveLength(10)
  })
})
