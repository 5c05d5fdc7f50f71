import { describe, expect, test } from 'vitest'
import { pageOptions, visitorsView } from '../../harness/page-options.ts'
import type { Openness } from '../signup/closing.ts'
import { languages } from '../signup/languages.ts'
import { knownForm } from './embed-form.ts'
import { closedPage, formPage } from './form-page.ts'
import { noticeText } from './notice.ts'
import { pageTexts, problemText } from './texts.ts'
import { typedForm } from './typed-form.ts'

const own = {
  title: 'The course',
  overflow: { en: 'Full! Wait with us.', de: 'Voll! Warten Sie mit uns.' },
  closed: 'See you in spring.',
} as const
const pages = { name: 'off', ...own } as const

const viewOf = (now: Openness, path: string, given: { readonly own?: boolean } = {}) =>
  visitorsView(path, { openness: () => now, ...(given.own && { pages }) })

function form(view: ReturnType<typeof viewOf>): Promise<string> {
  return formPage(view, { typed: typedForm([], view), next: '/next' })
}

const escaped = (text: string) => text.replaceAll("'", '&#39;')
const wait = (language: (typeof languages)[number]) => pageTexts[language].closing
const closed = (language: (typeof languages)[number]) =>
  problemText(pageTexts[language], 'closed').heading

test.each(languages)('in %s a full list says above its form that others can wait', async (it) => {
  const view = viewOf('overflow', `/?page=hosted&language=${it}`)
  const page = await form(view)
  const words = wait(it).overflowText
  expect(page).toContain(`<p class="notice">${escaped(words)}</p>`)
  expect(page.indexOf('notice')).toBeLessThan(page.indexOf('<form'))
  expect(noticeText(view)).toBe(words)
})

test.each(languages)('in %s a closed list has words in the place of its form', async (it) => {
  const view = viewOf('closed', `/?page=hosted&language=${it}`)
  const page = await closedPage(view)
  expect(page).toContain(`<h1>${escaped(closed(it))}</h1>`)
  expect(page).not.toMatch(/<form|class="notice"/)
  expect(noticeText(view)).toBe(closed(it))
})

test('an open list says nothing of either', async () => {
  const view = viewOf('open', '/?page=hosted', { own: true })
  expect(await form(view)).not.toMatch(/notice|Full|spring/)
  expect(noticeText(view)).toBeUndefined()
})

describe('words of the site', () => {
  test('stand in the place of ours, with their language', async () => {
    const german = viewOf('overflow', '/?page=hosted&language=de', { own: true })
    expect(await form(german)).toContain(
      '<p class="notice"><bdi lang="de">Voll! Warten Sie mit uns.</bdi></p>',
    )
    const page = await closedPage(viewOf('closed', '/?page=hosted&language=de', { own: true }))
    expect(page).toContain('<h1><bdi lang="en">The course</bdi></h1>')
    expect(page).toContain('<p class="notice"><bdi lang="en">See you in spring.</bdi></p>')
    expect(page).not.toContain(closed('de'))
  })

  test('stand alone in a frame, whose page has its own heading', async () => {
    const page = await closedPage(viewOf('closed', '/api/signup/form?page=form', { own: true }))
    expect(page).toContain('See you in spring.')
    expect(page).not.toContain('<h1>')
    const plain = await closedPage(viewOf('closed', '/api/signup/form?page=form'))
    expect(plain).toContain(`<p class="notice">${closed('en')}</p>`)
  })
})

describe('the embed', () => {
  const knownOf = (now: Openness, more = {}) =>
    knownForm(pageOptions({ openness: () => now, ...more }), '')

  test('knows those of the site with their languages', () => {
    expect(knownOf('overflow', { pages }).notice).toEqual([
      'p',
      { class: 'notice', dir: 'auto', lang: { en: 'en', de: 'de' } },
      own.overflow,
    ])
  })
})
