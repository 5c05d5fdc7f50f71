import { expect, test } from 'vitest'
import { separatorWarnings } from './config.ts'
import { apiKeys, origins, ownHosts, tabList } from './lists.ts'
import { SettingsReader } from './reader.ts'

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

test.each([',', 'two words', 'line\nbreak', 'fifteen-letters', 'a-key-of-sixteen,x'])(
  '%j is refused as a list of API keys, and the problem does not show it',
  (text) => {
    const refused = apiKeys.parse(text, example)
    expect(refused).toMatchObject({ problem: expect.any(String), hint: expect.any(String) })
    if (text !== ',') expect(JSON.stringify(refused)).not.toContain(text)
  },
)

test.each([
  ['a-key-of-sixteen,x', /is too short: it needs at least 16 characters\.$/, /openssl rand/],
  [
    'the-first-one-16 the-second-one-16',
    /has white space in it\.$/,
    /^Put a comma between two keys/,
  ],
  ['schlüssel-schlüssel', /has a character that no HTTP header can carry\.$/, /openssl rand/],
])('of the API keys %j it is told what is wrong with one of them', (text, problem, hint) => {
  expect(apiKeys.parse(text, example)).toMatchObject({
    problem: expect.stringMatching(problem),
    hint: expect.stringMatching(hint),
  })
})

test('a list with one key of the example is refused', () => {
  expect(apiKeys.parse('a-key-of-our-own,one-of-the-documentation', example)).toMatchObject({
    problem: expect.stringContaining('which everybody knows'),
  })
})

test('hosts are returned as browsers write them, without the usual ports', () => {
  const text = ' Signup.Example.com, localhost:3000,[::1]:8080 ,bücher.example:443,a.example:80,'
  expect(ownHosts.parse(text, '')).toEqual({
    value: [
      ...['signup.example.com', 'localhost:3000', '[::1]:8080', 'xn--bcher-kva.example'],
      'a.example',
    ],
  })
})

test.each(['*', '*.example.com', 'https://example.com', 'example.com/', 'a b', 'u@h', ',', 'a:b'])(
  '%s is refused as a list of hosts',
  (text) => {
    expect(ownHosts.parse(text, '')).toMatchObject({
      problem: expect.stringMatching(/not a host|no entry/),
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
  expect(origins.parse(text, '')).toEqual({ value })
})

test.each([
  'example.com',
  'https://example.com/page',
  'https://user:password@example.com',
  "https://example.com;script-src-elem'unsafe-inline'",
  'https://*.example.com',
  '*,https://example.com',
  'null',
  ',',
])('%s is refused as a list of origins', (text) => {
  expect(origins.parse(text, '')).toMatchObject({
    problem: expect.stringMatching(/not a web origin|no entry/),
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
