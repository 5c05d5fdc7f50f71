import { expect, test } from 'vitest'
import { cleanText, hasUnprintable } from './text.ts'

test.each([
  ['plain', 'plain'],
  ['  both ends  ', 'both ends'],
  ['a\u0000b', 'a b'],
  ['a\r\n\tb', 'a b'],
  ['a\u007f\u0080\u009fb', 'a b'],
  ['a\ud800b\udfffc', 'a b c'],
  ['a\ud800\u0000\udc00b', 'a b'],
  ['\u0000 a \u0000', 'a'],
  ['\u0000', ''],
  ['😀 stays', '😀 stays'],
  ['zero\u200bwidth\u00a0space', 'zero\u200bwidth\u00a0space'],
])('%j becomes %j', (typed, cleaned) => {
  expect(cleanText(typed)).toBe(cleaned)
  expect(hasUnprintable(cleaned)).toBe(false)
})

test.each(['\u0000', '\n', '\u007f', '\u0085', '\ud83d', '\ude00', 'a\ude00\ud83db'])(
  '%j is unprintable',
  (text) => {
    expect(hasUnprintable(text)).toBe(true)
  },
)
