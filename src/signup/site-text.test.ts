import { expect, test } from 'vitest'
import { firstOf, languageFor, translationsOf } from './site-text.ts'

test('the text that was given first is stored', () => {
  expect(firstOf('Size')).toBe('Size')
  expect(firstOf({ de: 'Größe', en: 'Size' })).toBe('Größe')
  expect(firstOf({})).toBe('')
})

test('the text in the language of the pages comes first', () => {
  expect(translationsOf('Size', 'fr')).toEqual({ fr: 'Size' })
  const both = { de: 'Größe', en: 'Size' }
  expect(Object.keys(translationsOf(both, 'en'))).toEqual(['en', 'de'])
  expect(translationsOf(both, 'fr')).toBe(both)
})

test('a visitor gets the text in their language, or else the first', () => {
  const both = { de: 'Größe', en: 'Size' }
  expect(languageFor(both, 'en')).toBe('en')
  expect(languageFor(both, 'fr')).toBe('de')
})
