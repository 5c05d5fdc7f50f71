import { expect, test } from 'vitest'
import { describeGiven } from './problem.ts'

test.each([
  ['twelve letters, capitals and small ones mixed', 'aBcdEfghIjkl', 'a text of 12 characters'],
  ['a secret key of hCaptcha', 'ES_0123', 'a text of 7 characters'],
  ['thirty-two letters and digits', '0123456789abcdef'.repeat(2), 'a text of 32 characters'],
])('a value that may be a secret is not shown: %s', (_, text, shown) => {
  expect(describeGiven('PORT', text)).toBe(shown)
})

test('a value made of words is shown', () => {
  for (const text of ['aBcdEfghIjk', '3000 or so', 'a-long-name-without-capitals']) {
    expect(describeGiven('PORT', text)).toBe(JSON.stringify(text))
  }
})

test('a mebibyte of any text is described at once', () => {
  for (const piece of ['\\', ' ', 'a', '1', '/', '\n', '-']) {
    expect(describeGiven('PORT', piece.repeat(2 ** 20))).toMatch(/^a text of 1,048,576 characters/)
  }
})
