import { expect, test } from 'vitest'
import { tried } from '../../harness/tried.ts'
import { separatorWarnings } from './config.ts'
import { apiKeys, origins, ownHosts, tabList } from './lists.ts'
import { SettingsReader } from './reader.ts'

test.each([
  ['Newsletter', ['Newsletter']],
  [' Newsletter , Waitlist,', ['Newsletter', 'Waitlist']],
  ['News,news,NEWS,Events', ['News', 'Events']],
  ["Jon's 🌵 tab,größe", ["Jon's 🌵 tab", 'größe']],
])('%j are the tabs %j', (text, tabs) => {
  expect(tried(tabList, text)).toEqual({ value: tabs })
})

test.each([',', `ok,${'x'.repeat(101)}`, 'ok,a\u0000b'])(
  '%j is refused as a list of tabs',
  (text) => {
    expect(tried(tabList, text)).toMatchObject({
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
  expect(tried(apiKeys, text)).toEqual({ value: keys })
})

test.each([',', 'two words', 'line\nbreak', 'fifteen-letters', 'a-key-of-sixteen,x'])(
  '%j is refused as a list of API keys, and the problem does not show it',
  (text) => {
    const refused = tried(apiKeys, text)
    expect(refused).toMatchObject({ problem: expect.any(String), hint: expect.any(String) })
    if (text !== ',') expect(JSON.stringify(refused)).not.toContain(text)
  },
)

test('a list with one key of the documents is refused', () => {
  expect(tried(apiKeys, 'a-key-of-our-own,another-long-random-text')).toMatchObject({
    problem: expect.stringContaining('which everybody knows'),
  })
})

test('hosts are returned as browsers write them, without the usual ports', () => {
  const text = ' Signup.Example.com, localhost:3000,[::1]:8080 ,bücher.example:443,a.example:80,'
  expect(tried(ownHosts, text)).toEqual({
    value: [
      ...['signup.example.com', 'localhost:3000', '[::1]:8080', 'xn--bcher-kva.example'],
      'a.example',
    ],
  })
})

test.each(['*', '*.example.com', 'https://example.com', 'example.com/', 'a b', 'u@h', ',', 'a:b'])(
  '%s is refused as a list of hosts',
  (text) => {
    expect(tried(ownHosts, text)).toMatchObject({
      problem: expect.stringMatching(/not a (host|list)/),
    })
  },
)

test.each([
  ['*', '*'],
  ['https://example.com', ['https://example.com']],
  [
    'https://Example.COM:443/, http://localhost:8080,, https://example.com',
    ['https://example.com', 'http://localhost:8080'],
  ],
])('%s means the origins %j', (text, value) => {
  expect(tried(origins, text)).toEqual({ value })
})

test.each([
  'example.com',
  "https://example.com;script-src-elem'unsafe-inline'",
  '*,https://example.com',
  'null',
  ',',
])('%s is refused as a list of origins', (text) => {
  expect(tried(origins, text)).toMatchObject({
    problem: expect.stringMatching(/not a (web origin|list)/),
  })
})

const key = 'a-key-of-16-signs'

test.each([
  ['News;Events', '', ['SHEET_TABS']],
  ['Other,News | EN', '', ['SHEET_TABS']],
  ['News; , Events|', '', []],
  ['a|b', `${key},${key}|${key}`, ['SHEET_TABS', 'API_KEYS']],
])('of the tabs %j and the keys %j there are warnings of %j', (tabs, keys, settings) => {
  const warnings = separatorWarnings(new SettingsReader({ SHEET_TABS: tabs, API_KEYS: keys }))
  expect(warnings.map((warning) => warning.split(' ')[0])).toEqual(settings)
  expect(warnings.join()).not.toContain(key)
})
