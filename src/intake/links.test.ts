import { expect, test } from 'vitest'
import { hasAddress, hasLink } from './links.ts'

test.each([
  'https://spam.example/x',
  'Congrats you won HTTPS://spam.example',
  'Click http://evil for discount drugs',
  'www.site.ru',
  'WWW.SITE.RU',
  'Visit Www.site.ru now',
  'bit.ly/xyz',
  'see t.me/joinchat',
  'telegra.ph/Get-BTC-01-22',
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
  'J.R.',
  'J.R.R. Tolkien',
  'Anna.Maria',
  'anna.maria',
  'St.John',
  'St.Clair',
  'Jean.Luc Smith.Com',
  'Smith, Jr.',
  'DR.SMITH',
  'Node.js Fan',
  'ASP.NET Developer',
  'A.B.C. Company',
  'Yahoo!',
  'B.Sc/M.Sc',
  'b.sc/m.sc',
  'Anna Ph.D.',
  'Peter/Anna',
  'c/o J.Doe',
  'maria.de souza',
  'M.C.',
  'X',
  'Awww.cute',
  'Company (www)',
  'Anna: //',
  'Mary.community',
  '田中.太郎',
  'Ян.Иванов',
  '...',
  ':-)',
])('the name %s has no link in it', (name) => {
  expect(hasLink(name)).toBe(false)
})

test.each([
  ['ivan@spam.example', true],
  ['write to ivan@spam.example now', true],
  ['Иван@почта.рф', true],
  ['@anna', false],
  ['Anna@home', false],
  ['Anna @ Acme', false],
  ['R@chel O.', false],
  [`a@${'a'.repeat(64)}.com`, false],
])('whether %s has an address in it: %s', (name, has) => {
  expect(hasAddress(name)).toBe(has)
})
