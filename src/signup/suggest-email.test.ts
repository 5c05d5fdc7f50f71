import { expect, test } from 'vitest'
import { suggestEmail } from './suggest-email.ts'

test.each([
  ['ada@gmial.com', 'ada@gmail.com'],
  ['ada@gmail.con', 'ada@gmail.com'],
  ['ada@gmial.con', 'ada@gmail.com'],
  ['ada@gmail.co', 'ada@gmail.com'],
  [' Ada.Lovelace@HOTMIAL.com ', 'Ada.Lovelace@hotmail.com'],
  ['ada@yaho.co.uk', 'ada@yahoo.co.uk'],
  ['a@b@gmai.com', 'a@b@gmail.com'],
])('for %j the form suggests %j', (typed, meant) => {
  expect(suggestEmail(typed)).toBe(meant)
})

test.each([
  'ada@gmail.com',
  'ada@GMAIL.com',
  'ada@mail.com',
  'ada@ymail.com',
  'ada@yahoo.de',
  'ada@example.com',
  'ada@gmail',
  '@gmial.com',
  'gmial.com',
  'ada@',
  '',
])('for %j the form suggests nothing', (typed) => {
  expect(suggestEmail(typed)).toBeUndefined()
})
