import { expect, test } from 'vitest'
import { tried } from '../../harness/tried.ts'
import { color, consent, logoUrl, webAddress } from './pages.ts'

test.each([
  ['#0a7a4b', '#0a7a4b'],
  ['#FA0', '#ffaa00'],
])('the colour %s is taken as %s', (text, value) => {
  expect(tried(color, text)).toEqual({ value })
})

test.each(['#12', '#12345g', 'red', '#0a7a4b;}', '#0a7a\n'])(
  'a text that is not a hexadecimal colour is refused: %j',
  (text) => {
    expect(tried(color, text)).toMatchObject({ problem: 'is not a colour.' })
  },
)

test.each([
  ['https://example.com/logo.svg', 'https://example.com/logo.svg'],
  ['HTTPS://Example.COM/a b?v=1', 'https://example.com/a%20b?v=1'],
  ['http://localhost:8080/logo.png', 'http://localhost:8080/logo.png'],
])('the URL %s of a picture is accepted', (text, value) => {
  expect(tried(logoUrl, text)).toEqual({ value })
})

test.each([
  '/logo.png',
  'http://example.com/logo.png',
  'https://user:pw@example.com/logo.png',
  "https://a;script-src'none'.example/logo.png",
  'data:image/png;base64,AAAA',
  'javascript:alert(1)',
])('a URL that no page should load is refused: %s', (text) => {
  expect(tried(logoUrl, text)).toHaveProperty('problem')
})

test.each([
  ['https://example.com', 'https://example.com/'],
  ['HTTP://Example.COM/a b?c="d"#e', 'http://example.com/a%20b?c=%22d%22#e'],
])('the address %s of a page is accepted', (text, value) => {
  expect(tried(webAddress, text)).toEqual({ value })
})

test.each([
  '/welcome',
  'https:/welcome',
  'example.com',
  'javascript:alert(1)',
  'https://user:pw@example.com/',
  'https://example.com/\na',
  'https://exa\tmple.com/',
  `https://example.com/${'x'.repeat(2_000)}`,
])('an address that is not one of a web page is refused: %j', (text) => {
  expect(tried(webAddress, text)).toHaveProperty('problem')
})

test.each([
  ['I agree.', 'I agree.'],
  ['the [policy](https://Example.com/a?b=1).', 'the [policy](https://example.com/a?b=1).'],
  [
    '[one](https://a.example) and [two](http://b.example/x)',
    '[one](https://a.example/) and [two](http://b.example/x)',
  ],
  ['<b>*Yes*</b> [1] (see below)', '<b>*Yes*</b> [1] (see below)'],
])('the consent %s is kept, with whole addresses in its links', (text, value) => {
  expect(tried(consent, text)).toEqual({ value })
})

test.each([
  'I read the [policy](/privacy).',
  'I read the [policy](javascript:alert).',
  'I read the [policy](https://exa mple.com/).',
  'x'.repeat(1_001),
])('a consent with a broken link, or that is not one line, is refused: %j', (text) => {
  expect(tried(consent, text)).toHaveProperty('problem')
})
