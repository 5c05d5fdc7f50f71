import { expect, test } from 'vitest'
import { suggestEmail } from '../../browser/suggestion.ts'

test.each([
  ['ada@gmial.com', 'ada@gmail.com'],
  ['ada@gmail.con', 'ada@gmail.com'],
  ['ada@gmial.con', 'ada@gmail.com'],
  ['ada@gmail.co', 'ada@gmail.com'],
  ['ada@gnail.com', 'ada@gmail.com'],
  [' Ada.Lovelace@HOTMIAL.com ', 'Ada.Lovelace@hotmail.com'],
  ['ada@outlok.com', 'ada@outlook.com'],
  ['ada@yaho.co.uk', 'ada@yahoo.co.uk'],
  ['ada@t-onlin.de', 'ada@t-online.de'],
  ['a@b@gmai.com', 'a@b@gmail.com'],
])('%j was probably meant to be %j', (typed, meant) => {
  expect(suggestEmail(typed)).toBe(meant)
})

test.each([
  'ada@gmail.com',
  'ada@GMAIL.com',
  'ada@mail.com',
  'ada@ymail.com',
  'ada@yahoo.de',
  'ada@yahoo.ca',
  'ada@hotmail.it',
  'ada@example.com',
  'ada@gmail',
  '@gmial.com',
  'gmial.com',
  'ada@',
  '',
])('%j is left as it is', (typed) => {
  expect(suggestEmail(typed)).toBeUndefined()
})
