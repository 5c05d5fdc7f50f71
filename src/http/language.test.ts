import { expect, test } from 'vitest'
import { languageOf, preferredLanguage, requestLanguage } from './negotiate.ts'

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

test.each([
  ['the query before all', '?language=fr', 'de', 'it', 'fr'],
  ['the browser when the query names none of ours', '?language=sv', 'de', 'it', 'de'],
  ['the site when the browser asks for none of ours', '', 'sv', 'it', 'it'],
  ['English when nobody says another', '', null, undefined, 'en'],
] as const)('the language of a request is that of %s', (_, query, accepted, ofSite, language) => {
  const headers = new Headers(accepted === null ? {} : { 'accept-language': accepted })
  const request = { url: `https://signup.example/api/signup${query}`, headers }
  expect(requestLanguage(request, ofSite).language).toBe(language)
})
