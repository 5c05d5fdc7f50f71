import { expect, test } from 'vitest'
import { visitorsView } from '../../harness/page-options.ts'
import { languages } from '../signup/languages.ts'
import { formAddress, pendingPage } from './page-routes.ts'
import { pageTexts } from './texts.ts'

const thanks = '/api/signup/thanks'
const ownOrigin = 'https://signup.example'

/** Where the link back to the form leads. */
function linkOf(query: string, referer?: string) {
  const headers = new Headers(referer === undefined ? {} : { referer })
  const request = new Request(`http://localhost${thanks}${query}`, { headers })
  return formAddress({ request, ownOrigin }, visitorsView(thanks + query))
}

test.each(languages)(
  'in %s the page says to look into the mail and the spam folder',
  async (it) => {
    const page = await pendingPage(visitorsView(`${thanks}?page=form&language=${it}`), '../form')
    const { pending, form } = pageTexts[it]
    const [title = '', ...lines] = pending.split('\n')
    expect(page).toMatch(/<div [^>]*role="status">/)
    expect(page).toContain(`<h1>${title.replaceAll("'", '&#39;')}</h1>`)
    for (const words of [...lines, form.again]) expect(page).toContain(words)
    expect(page).toContain('href="../form"')
  },
)

test("the site's own thanks and next page are for people who have confirmed", async () => {
  const pages = { name: 'off', thanks: 'You are on it!', next: 'https://next.example' } as const
  const page = await pendingPage(visitorsView(`${thanks}?page=hosted`, { pages }), undefined)
  expect(page).not.toContain(pages.thanks)
  expect(page).not.toContain(pages.next)
  expect(page).not.toContain('class="again"')
})

test('the link leads back to the form with all that its address had', () => {
  expect(linkOf('?page=hosted', `${ownOrigin}/?tab=Beta&source=ad`)).toBe('/?tab=Beta&source=ad')
  const behind = `${ownOrigin}/letters/api/signup/form?tab=Beta`
  expect(linkOf('?page=form', behind)).toBe('/letters/api/signup/form?tab=Beta')
})

test.each([
  ['the browser does not say where it comes from', undefined],
  [
    'the form was refused before, so its page cannot be opened',
    `${ownOrigin}/api/signup?page=form`,
  ],
  [
    'an address of two slashes would lead to another host',
    `${ownOrigin}//evil.example/api/signup/form`,
  ],
  ['another origin claims to be the form', 'https://evil.example/api/signup/form'],
])('the link leads to the form in the same looks when %s', (_, referer) => {
  expect(linkOf('?page=form&language=de', referer)).toBe(
    '../../api/signup/form?page=form&language=de',
  )
})

test("after somebody else's form and after the embed there is no link", () => {
  expect(linkOf('', `${ownOrigin}/`)).toBeUndefined()
  expect(linkOf('?page=embed', `${ownOrigin}/`)).toBeUndefined()
})
