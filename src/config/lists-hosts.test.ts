import { expect, test } from 'vitest'
import { ownHosts } from './lists.ts'

test('hosts are returned as browsers write them, without the usual ports', () => {
  const text = ' Signup.Example.com, localhost:3000,[::1]:8080 ,bücher.example:443,a.example:80,'
  expect(ownHosts.parse(text, '')).toEqual({
    value: [
      'signup.example.com',
      'localhost:3000',
      '[::1]:8080',
      'xn--bcher-kva.example',
      'a.example',
    ],
  })
})

test.each([
  '*',
  '*.example.com',
  'https://example.com',
  'example.com/',
  'a b',
  'a;b',
  'a|b',
  'u@h',
  ',',
  'a:b',
])('%s is refused as a list of hosts', (text) => {
  expect(ownHosts.parse(text, '')).toMatchObject({
    problem: expect.stringMatching(/not a host|no host/),
  })
})
