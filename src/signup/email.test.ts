import { expect, test } from 'vitest'
import { emailProblem, storedEmail } from './email.ts'

const local64 = 'l'.repeat(64)
/** A domain of this many characters, made of labels that are as long as labels may be. */
const domain = (length: number) => `${`${'d'.repeat(61)}.`.repeat(5).slice(0, length - 4)}.com`

test.each([
  ['  name@example.com\r\n', 'name@example.com'],
  ['\u00a0name@example.com\ufeff', 'name@example.com'],
  ['First.Last@Example.COM', 'First.Last@example.com'],
  ["!#$%&'*+/=?^_`{|}~-@example.com", "!#$%&'*+/=?^_`{|}~-@example.com"],
  ['.dot..dot.@example.com', '.dot..dot.@example.com'],
  ['=1+1@example.com', '=1+1@example.com'],
  ['a@b-c.d1', 'a@b-c.d1'],
  ['a@xn--mnchen-3ya.de', 'a@xn--mnchen-3ya.de'],
  ['a@münchen.de', 'a@xn--mnchen-3ya.de'],
  ['a@mu\u0308nchen.de', 'a@xn--mnchen-3ya.de'],
  ['a@straße.de', 'a@xn--strae-oqa.de'],
  ['a@例え.テスト', 'a@xn--r8jz45g.xn--zckzah'],
  ['a@ｅｘａｍｐｌｅ．ｃｏｍ', 'a@example.com'],
  ['a@\u212aelvin.com', 'a@kelvin.com'],
  [`${local64}@example.com`, `${local64}@example.com`],
  [`${local64}@${domain(189)}`, `${local64}@${domain(189)}`],
  [`a@${'d'.repeat(63)}.com`, `a@${'d'.repeat(63)}.com`],
])('%j is stored as %j', (typed, stored) => {
  expect(storedEmail(typed)).toBe(stored)
  expect(emailProblem(stored)).toBeUndefined()
  expect(storedEmail(stored)).toBe(stored)
})

test.each([
  'name',
  'name@',
  '@example.com',
  'name@localhost',
  'name@example.com.',
  'name@example..com',
  'name@example-.com',
  'name@exam ple.com',
  'a@b@example.com',
  'Name <name@example.com>',
  'jürgen@example.com',
  '\u212a@example.com',
  'name＠example.com',
  'name@127.0.0.1',
  'name@example.123',
  'name@１２７.0.0.1',
  'name@0x7f.１',
  'name@[IPv6:::1]',
  'name@münchen.de:25',
  'name@münchen.de/path',
  'name@münchen.de\\path',
  'name@user:password@münchen.de',
  'name@m%C3%BCnchen.ü.de',
  'name@ü％2e.de',
  'name@ü／path.de',
  'name@ü\u2100.de',
  'name@münchen.de.',
  'name@münchen',
  'name@xn--a.münchen.de',
  'na\u0000me@example.com',
  'name@example.com\u0000',
  'na\ud800me@example.com',
  'name@exam\udc00ple.com',
  `a@${'d'.repeat(64)}.com`,
])('%j is refused with an example of an address', (typed) => {
  expect(emailProblem(storedEmail(typed))).toBe('Enter an email address such as name@example.com.')
})

test.each(['', ' ', '\t\r\n'])('%j is a missing address', (typed) => {
  expect(emailProblem(storedEmail(typed))).toBe('The email address is missing.')
})

test.each([
  [`${local64}l@example.com`, 'The part before the @ is too long: at most 64 characters.'],
  [`${local64}@${domain(190)}`, 'The email address is too long: at most 254 characters.'],
  [`a@${'ü'.repeat(2_000)}`, expect.stringContaining('254')],
  [`a@${'ü'.repeat(60)}.${'ü'.repeat(60)}.${'ü.'.repeat(30)}de`, expect.stringContaining('254')],
])('an address one past a limit is refused with the limit: %j', (typed, problem) => {
  expect(emailProblem(storedEmail(typed))).toEqual(problem)
})

test('a domain that is too long for an address is not made into ASCII, which takes long', () => {
  const email = `ada@${'ü.'.repeat(600)}example`
  expect(storedEmail(email)).toBe(email)
})
