import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { languages } from '../signup/languages.ts'
import { pageTexts } from './texts.ts'

type Tree = string | { readonly [key: string]: Tree }

/** Every text under the path of its key. */
function flat(tree: Tree, path = ''): Record<string, string> {
  if (typeof tree === 'string') return { [path]: tree }
  return Object.assign(
    {},
    ...Object.entries(tree).map(([key, value]) => flat(value, `${path}.${key}`)),
  ) as Record<string, string>
}

const ofLanguage = (language: (typeof languages)[number]) => flat(pageTexts[language])
const english = ofLanguage('en')
const isEnded = (sentence: string) => /[.。।]$/.test(sentence)

test('the embed and the pages speak the same languages', () => {
  const ofEmbed = readdirSync(new URL('../../browser/languages', import.meta.url))
  expect(['en.json', ...ofEmbed].sort()).toEqual(languages.map((it) => `${it}.json`).sort())
})

test.each(languages)('in %s every text is there, and none besides', (language) => {
  const texts = ofLanguage(language)
  expect(Object.keys(texts)).toEqual(Object.keys(english))
  for (const [key, text] of Object.entries(texts)) {
    expect([key, text.trim()]).toEqual([key, text])
    expect([key, text]).not.toEqual([key, ''])
    // What to do is a sentence; a heading is none, and stands above it.
    const isSentence = /(\.t|T)ext$|^\.fields\.|^\.thanks\.close$/.test(key)
    const [first = '', ...others] = text.split('\n')
    expect([key, isEnded(first)]).toEqual([key, isSentence])
    expect([key, others.every(isEnded)]).toEqual([key, true])
    const count = english[key]?.split('\n').length
    expect([key, 1 + others.length]).toEqual([key, count])
    if (key.startsWith('.problems.')) expect([key, count]).toEqual([key, 2])
  }
})

test.each(languages.filter((it) => it !== 'en'))(
  'in %s nothing was left in English',
  (language) => {
    const left = Object.entries(ofLanguage(language)).filter(([key, text]) => text === english[key])
    // Words that two languages share.
    expect(left.filter(([, text]) => !['Name', 'Error'].includes(text))).toEqual([])
  },
)
