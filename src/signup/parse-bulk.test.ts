import { expect, test } from 'vitest'

import { parseBulk, type ParseContext, parseForm, parseSignup } from './parse.ts'
import { tabsByKey } from './tab.ts'

const email = 'ada@example.com'

test.each([
  ['a list', { signups: [{ email }] }, undefined],
  ['a token beside the list', { signups: [1], challengeToken: 'token' }, 'token'],
  ['an empty token', { signups: [1], challengeToken: '' }, undefined],
  ['no token', { signups: [1], challengeToken: null }, undefined],
])('%s is a bulk request', (_, input, challengeToken) => {
  const parsed = parseBulk(input)
  expect(parsed).toEqual({
    ok: true,
    items: input.signups,
    ...(challengeToken !== undefined && { challengeToken }),
  })
})

test.each<[string, unknown, readonly string[]]>([
  ['a token that is no text', { signups: [1], challengeToken: 5 }, ['challengeToken']],
  [
    'everything wrong',
    { signups: [], challengeToken: 5, x: 1 },
    ['challengeToken', 'signups', 'x'],
  ],
  [
    '__proto__ and constructor',
    JSON.parse('{"signups":[1],"__proto__":{},"constructor":1}'),
    ['__proto__', 'constructor'],
  ],
  [
    'another name for the token',
    { signups: [1], 'cf-turnstile-response': 'x' },
    ['cf-turnstile-response'],
  ],
])('a bulk request with %s is refused, and each wrong field is named', (_, input, fields) => {
  const parsed = parseBulk(input)
  const problems = parsed.ok ? [] : parsed.problems
  expect(problems.map(({ field }) => field).toSorted()).toEqual(fields)
  for (const { message } of problems) expect(message).toMatch(/\w{3}.*\.$/)
})

test.each([
  [{}, 'The list of signups is missing.'],
  [{ signups: null }, 'The list of signups is missing.'],
  [{ signups: 'a@b.co' }, 'The signups must be a list.'],
  [{ signups: [] }, 'The list of signups is empty.'],
])('%j says what is wrong with the list', (input, message) => {
  expect(parseBulk(input)).toEqual({ ok: false, problems: [{ field: 'signups', message }] })
})

test.each([
  ['signup', 'Did you mean "signups"?'],
  ['email', 'into each signup'],
  ['x', 'Known are signups, challengeToken, confirmed.'],
])('the problem of the unknown field %s in a bulk request says what to do', (name, words) => {
  const parsed = parseBulk({ signups: [1], [name]: 1 })
  expect(parsed).toMatchObject({
    problems: [{ field: name, message: expect.stringContaining(words) }],
  })
})

const context: ParseContext = {
  defaultTab: 'Waitlist',
  knownTabs: tabsByKey(['News', 'Events']),
  onlyKnownTabs: true,
  source: 'api',
}

test.each([
  ['News', 'News'],
  [' nEWS ', 'News'],
  ['WAITLIST', 'Waitlist'],
  ['', 'Waitlist'],
  [null, 'Waitlist'],
  [undefined, 'Waitlist'],
])('when only some tabs are allowed, %j is %s', (sheetTab, tab) => {
  expect(parseSignup({ email, sheetTab }, context)).toMatchObject({ value: { sheetTab: tab } })
})

test('a tab that is not allowed is a wrong field, in JSON and in a form, and told which ones are', () => {
  const input = { email: 'nobody', sheetTab: 'Other' }
  const message = 'This tab takes no signups. Those that do: Waitlist, News, Events.'
  const problems = [{ field: 'email' }, { field: 'sheetTab', message }]
  expect(parseSignup(input, context)).toMatchObject({ ok: false, problems })
  expect(parseForm(Object.entries(input), context)).toMatchObject({ ok: false, problems })
})

test('a tab with a wrong name has one problem, which is about the name', () => {
  for (const sheetTab of ['x'.repeat(101), 'a\u0000b', ' ', 7, ['News', 'Events']]) {
    const parsed = parseSignup({ email, sheetTab }, context)
    expect(parsed).toMatchObject({ ok: false, problems: [{ field: 'sheetTab' }] })
  }
})

test('an unknown field of a bulk signup is told with the known fields, and is not compared with them', () => {
  const parsed = parseSignup({ email, nmae: 1 }, { ...context, source: 'bulk' })
  expect(parsed).toMatchObject({
    problems: [{ field: 'nmae', message: expect.stringContaining('Known are email, sheetTab') }],
  })
})

test('a bulk request may say that its people have confirmed, with true or false, and no item may', () => {
  const items = { signups: [1] }
  expect(parseBulk({ ...items, confirmed: true })).toMatchObject({ isConfirmed: true })
  for (const confirmed of [false, null, '', undefined]) {
    expect(parseBulk({ ...items, confirmed })).not.toHaveProperty('isConfirmed')
  }
  expect(parseBulk({ ...items, confirmed: 'yes' })).toMatchObject({
    problems: [{ field: 'confirmed', message: 'The member confirmed must be true or false.' }],
  })
  const item = { email: 'ada@example.com', confirmed: true }
  expect(parseSignup(item, { defaultTab: 'Sheet1', source: 'bulk' })).toMatchObject({
    problems: [
      { field: 'confirmed', message: expect.stringContaining('belongs beside "signups"') },
    ],
  })
})
