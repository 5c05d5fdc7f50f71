import { expect, test } from 'vitest'
import { pageOptions } from '../../harness/page-options.ts'
import { knownForm, withForm } from './embed-form.ts'

test('the embed knows the site, the text of the consent and its language', () => {
  const consent = 'I accept the [terms](https://example.com/)'
  const pages = { name: 'off', consent } as const
  const german = pageOptions({ pages: { ...pages, language: 'de' }, site: 'launch' })
  expect(withForm('script()', knownForm(german, ''))).toBe(
    '"use strict";{const rollcallForm={"consent":{"de":"I accept the [terms](https://example.com/)"},"site":"launch"};script()}',
  )
  expect(knownForm(pageOptions({ pages }), '')).toMatchObject({
    consent: { en: 'I accept the [terms](https://example.com/)' },
  })
})

test('the embed knows the text below the thanks, with its language, and where its link leads', () => {
  const pages = {
    name: 'off',
    thanks: 'Bis <bald>',
    next: 'https://a.example/',
    language: 'de',
  } as const
  const { thanks } = knownForm(pageOptions({ pages }), '')
  expect(thanks).toEqual([
    ['p', { dir: 'auto', lang: { de: 'de' } }, { de: 'Bis <bald>' }],
    ['a', { href: 'https://a.example/', class: 'next' }, { ours: 'next' }],
  ])
})

test('without a consent, sites and fields the embed stays as it is', () => {
  expect(withForm('script()', knownForm(pageOptions(), 'textarea{}'))).toBe('script()')
})

test('the embed knows the texts, the name field and the colour of the pages, as far as they are set', () => {
  const pages = {
    title: 'The launch',
    button: 'Join',
    accent: '#0a7a4b',
    name: 'required',
  } as const
  expect(knownForm(pageOptions({ pages }), '')).toEqual({
    texts: {
      title: ['bdi', { lang: { en: 'en' } }, { en: 'The launch' }],
      submit: ['bdi', { lang: { en: 'en' } }, { en: 'Join' }],
    },
    name: 'required',
    styles: expect.stringContaining('--fill:var(--rollcall-accent, light-dark(#0a7a4b, '),
  })
})

test('the embed knows how the declared fields are drawn, with their styles', () => {
  const { fields = [], styles } = knownForm(
    pageOptions({
      fields: [
        { name: 'company', label: '<b>', type: 'text', maxLength: 80, required: true },
        { name: 'plan', type: 'choice', options: ['free', 'pro'], required: true },
        { name: 'team', type: 'choice', options: ['1', '2', '3', '4', '5'], required: false },
        { name: 'utm_source', type: 'text', maxLength: 9, required: false },
      ],
    }),
    'textarea{}',
  )
  expect(styles).toBe('textarea{}')
  const [company, plan, team, source] = fields
  expect(company).toMatchObject([
    'div',
    { class: 'field' },
    ['label', { for: 'company.field' }, ['bdi', {}, { en: '<b>' }]],
    ['input', { id: 'company.field', name: 'company', type: 'text', required: '' }],
  ])
  expect(plan?.slice(0, 2)).toMatchObject([
    'fieldset',
    { role: 'radiogroup', 'aria-required': 'true' },
  ])
  expect(JSON.stringify(team)).toContain('["select",{"id":"team.field","name":"team"},')
  expect(source).toEqual(['input', { type: 'hidden', name: 'utm_source', 'data-collect': '9' }])
})
