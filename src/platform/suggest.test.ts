import { expect, test } from 'vitest'
import { suggest } from './suggest.ts'

const known = ['email', 'sheetTab', 'source', 'name', 'tags', 'metadata', 'tab', 'challengeToken']

test.each([
  ['Email', 'email'],
  ['e-mail', 'email'],
  ['emial', 'email'],
  ['mail', 'email'],
  ['sheet_tab', 'sheetTab'],
  ['SheetTbas', 'sheetTab'],
  ['tag', 'tags'],
  ['tabs', 'tab'],
  ['challenge-token', 'challengeToken'],
  [`challenge${'-'.repeat(18)}token`, 'challengeToken'],
])('%j was meant to be %j', (typed, meant) => {
  expect(suggest(typed, known)).toBe(meant)
})

test.each([
  '',
  '__proto__',
  'company',
  'table',
  `challenge${'-'.repeat(19)}token`,
  'e'.repeat(1_000_000),
])('case %#: no known name is suggested for something else', (typed) => {
  expect(suggest(typed, known)).toBeUndefined()
})
