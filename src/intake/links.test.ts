import { expect, test } from 'vitest'
import { hasAddress, hasLink } from './links.ts'

test.each([
  'https://spam.example/x',
  'Click http://evil for discount drugs',
  'www.site.ru',
  'Visit Www.site.ru now',
  'bit.ly/xyz',
  'Free pharmaceuticals now visit xyz.biz',
  'cheap-pills.com.',
  'shop.example.com:8080',
  'сайт.рф',
  '(casino.xyz)',
])('the name %s has a link in it', (name) => {
  expect(hasLink(name)).toBe(true)
})

test.each([
  "O'Brien",
  'Dr. J. R. Smith',
  'J.R.R. Tolkien',
  'anna.maria',
  'St.John',
  'DR.SMITH',
  'Node.js Fan',
  'ASP.NET Developer',
  'A.B.C. Company',
  'Yahoo!',
  'b.sc/m.sc',
  'c/o J.Doe',
  'maria.de souza',
  'Awww.cute',
  'Company (www)',
  'Anna: //',
  'Mary.community',
  '田中.太郎',
  '...',
])('the name %s has no link in it', (name) => {
  expect(hasLink(name)).toBe(false)
})

test.each([
  ['ivan@spam.example', true],
  ['write to ivan@spam.example now', true],
  ['Иван@почта.рф', true],
  ['@anna', false],
  ['Anna@home', false],
  ['R@chel O.', false],
  [`a@${'a'.repeat(64)}.com`, false],
])('whether %s has an address in it: %s', (name, has) => {
  expect(hasAddress(name)).toBe(has)
})
