import { describe, expect, test } from 'vitest'
import { originList } from './origins.ts'

test.each([
  ['*', '*'],
  ['https://example.com', ['https://example.com']],
  [
    'https://Example.COM:443/, http://localhost:8080,, https://example.com',
    ['https://example.com', 'http://localhost:8080'],
  ],
  ['https://bücher.example', ['https://xn--bcher-kva.example']],
  ['http://[::1]:3000', ['http://[::1]:3000']],
])('%s means %j', (text, value) => {
  expect(originList(text)).toEqual({ value })
})

describe('a text that is not an origin is refused, and the hint says what to do', () => {
  test.each([
    ['example.com', /not a web origin/],
    ['https://example.com/page', /not a web origin/],
    ['https://example.com?x', /not a web origin/],
    ['https://user:password@example.com', /not a web origin/],
    ['ftp://example.com', /not a web origin/],
    ['https://', /not a web origin/],
    ["https://example.com;script-src-elem'unsafe-inline'", /not a web origin/],
    ['https://example.com https://example.org', /not a web origin/],
    ['https://*.example.com', /wildcard/],
    ['*,https://example.com', /beside/],
    ['null', /null/],
    [',', /names no origin/],
  ])('%s', (text, problem) => {
    expect(originList(text)).toMatchObject({
      problem: expect.stringMatching(problem),
      hint: expect.stringMatching(/\w/),
    })
  })
})
