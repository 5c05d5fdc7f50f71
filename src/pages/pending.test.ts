import { expect, test } from 'vitest'
import { visitorsView } from '../../harness/page-options.ts'
import { languages } from '../signup/languages.ts'
import { pendingPage } from './page-routes.ts'
import { pageTexts } from './texts.ts'

const thanks = '/api/signup/thanks'

test.each(languages)(
  'in %s the page says to look into the mail and the spam folder',
  async (it) => {
    const page = await pendingPage(visitorsView(`${thanks}?page=form&language=${it}`))
    const { pending } = pageTexts[it]
    const [title = '', ...lines] = pending.split('\n')
    expect(page).toMatch(/<div [^>]*role="status">/)
    expect(page).toContain(`<h1>${title.replaceAll("'", '&#39;')}</h1>`)
    for (const words of lines) expect(page).toContain(words)
    // A link to the form would lead to an empty one. The browser's way back keeps what was typed.
    expect(page).not.toContain('<a ')
  },
)

test("the site's own thanks and next page are for people who have confirmed", async () => {
  const pages = { name: 'off', thanks: 'You are on it!', next: 'https://next.example' } as const
  const page = await pendingPage(visitorsView(`${thanks}?page=hosted`, { pages }))
  expect(page).not.toContain(pages.thanks)
  expect(page).not.toContain(pages.next)
})
