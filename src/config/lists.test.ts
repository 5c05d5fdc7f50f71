import { expect, test } from 'vitest'
import { apiKeys, separatorWarnings, tabList } from './lists.ts'

const example = 'one-of-the-documentation,another-of-the-documentation'

test.each([
  ['Newsletter', ['Newsletter']],
  [' Newsletter , Waitlist,', ['Newsletter', 'Waitlist']],
  ['News,news,NEWS,Events', ['News', 'Events']],
  ["Jon's 🌵 tab,größe", ["Jon's 🌵 tab", 'größe']],
])('%j are the tabs %j', (text, tabs) => {
  expect(tabList.parse(text, '')).toEqual({ value: tabs })
})

test.each([',', ' , ,', `ok,${'x'.repeat(101)}`, 'ok,a\u0000b'])(
  '%j is refused as a list of tabs',
  (text) => {
    expect(tabList.parse(text, '')).toMatchObject({
      problem: expect.any(String),
      hint: expect.any(String),
    })
  },
)

test.each([
  ['the-first-one-16', ['the-first-one-16']],
  [' the-first-one-16 , the-second-one-16,', ['the-first-one-16', 'the-second-one-16']],
  ['a=b/c+d~!a=b/c+d~!', ['a=b/c+d~!a=b/c+d~!']],
])('%j are the API keys %j', (text, keys) => {
  expect(apiKeys.parse(text, example)).toEqual({ value: keys })
})

test.each([
  ',',
  'two words',
  'schlüssel',
  'line\nbreak',
  'ok,two words',
  'Qq',
  'fifteen-letters',
  'a-key-of-sixteen,x',
])('%j is refused as a list of API keys, and the problem does not show it', (text) => {
  const refused = apiKeys.parse(text, example)
  expect(refused).toMatchObject({ problem: expect.any(String), hint: expect.any(String) })
  if (text !== ',') expect(JSON.stringify(refused)).not.toContain(text)
})

test('a list with one key of the example is refused', () => {
  expect(apiKeys.parse('a-key-of-our-own,one-of-the-documentation', example)).toMatchObject({
    problem: expect.stringContaining('which everybody knows'),
  })
})

const key = 'a-key-of-16-signs'

test.each([
  ['News;Events', undefined, ['SHEET_TABS']],
  ['Other,News | EN', undefined, ['SHEET_TABS']],
  ['News; , Events|', undefined, []],
  [undefined, `${key};${key}`, ['API_KEYS']],
  ['a|b', `${key},${key}|${key}`, ['SHEET_TABS', 'API_KEYS']],
  [undefined, `${key};short`, []],
  [undefined, undefined, []],
])('of the tabs %j and the keys %j there are warnings of %j', (tabs, keys, settings) => {
  const warnings = separatorWarnings({ tabs, keys })
  expect(warnings.map((warning) => warning.split(' ')[0])).toEqual(settings)
  expect(warnings.join()).not.toContain(key)
})
