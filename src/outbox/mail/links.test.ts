import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hmacWith } from '../../platform/digest.ts'
import { linkOf, LinkTokens } from './links.ts'

const tokensOf = (key: string) => new LinkTokens(hmacWith(Buffer.from(key)))
const tokens = tokensOf('the key of this site')
const id = 'A_bcdefghijklmnop-1234'

test('a token has the id of its message, and leads back to it for its own purpose only', () => {
  const token = tokens.make('confirm', id)
  expect(token).toMatch(/^A_bcdefghijklmnop-1234[\w-]{22}$/)
  expect(tokens.find('confirm', token)).toBe(id)
  expect(tokens.find('leave', token)).toBeUndefined()
  expect(tokens.find('leave', tokens.make('leave', id))).toBe(id)
})

test('a token of another site is none of ours', () => {
  const theirs = tokensOf('the key of another site').make('confirm', id)
  expect(tokens.find('confirm', theirs)).toBeUndefined()
})

test('a token with any other character at any place is none of ours', () => {
  const token = tokens.make('confirm', id)
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'x' ? 'y' : 'x'
    const changed = token.slice(0, at) + other + token.slice(at + 1)
    expect(tokens.find('confirm', changed)).toBeUndefined()
  }
})

test.each([
  '',
  id,
  id + id,
  `${tokens.make('confirm', id)}=`,
  tokens.make('confirm', id).slice(0, -1),
  ` ${tokens.make('confirm', id)}`,
  `${tokens.make('confirm', id)}\n`,
  `${'x'.repeat(21)}\u0000${'x'.repeat(22)}`,
  'x'.repeat(1_000_000),
])('%j is no token', (text) => {
  expect(tokens.find('confirm', text)).toBeUndefined()
})

test('no text is a token by chance', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[\w-]{44}$/))
  fc.assert(fc.property(text, (it) => tokens.find('leave', it) === undefined))
})

test('a link has the purpose, the token, the site and the language of its page, behind the path of a proxy', () => {
  const base = { tokens, publicUrl: 'https://example.org/letters', site: undefined }
  const token = tokens.make('leave', id)
  expect(linkOf(base, 'leave', id, 'de')).toBe(
    `https://example.org/letters/leave/${token}?language=de`,
  )
  expect(linkOf({ ...base, site: 'launch' }, 'leave', id, 'ja')).toBe(
    `https://example.org/letters/leave/${token}?site=launch&language=ja`,
  )
})
