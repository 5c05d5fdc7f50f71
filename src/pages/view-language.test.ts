import { expect, test } from 'vitest'
import { languageOf, preferredLanguage } from './view.ts'

test.each([
  ['de', 'de'],
  ['de-AT', 'de'],
  ['PT-br', 'pt'],
  ['zh-Hant-TW', 'zh'],
  ['sv', undefined],
  ['', undefined],
  ['deu', undefined],
])('the tag %j means the language %s', (tag, language) => {
  expect(languageOf(tag)).toBe(language)
})

test.each([
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['en;q=0.5, fr;q=0.9', 'fr'],
  ['sv, fi;q=0.9, it;q=0.1', 'it'],
  ['de;q=0, en', 'en'],
  ['*', undefined],
  ['sv', undefined],
  ['', undefined],
  [null, undefined],
  [';;;,,,=q=1', undefined],
])('a visitor whose browser prefers %j gets %s', (accepted, language) => {
  expect(preferredLanguage(accepted)).toBe(language)
})
