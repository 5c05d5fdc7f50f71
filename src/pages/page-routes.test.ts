import { expect, test } from 'vitest'
import { linkedFields } from './page-routes.ts'

test.each<[query: string, fields: [string, string][]]>([
  [
    'tab=News&source=poster&redirect=/welcome',
    [
      ['sheetTab', 'News'],
      ['source', 'poster'],
      ['redirect', '/welcome'],
    ],
  ],
  [
    'tags=a,b&tags=c',
    [
      ['tags', 'a,b'],
      ['tags', 'c'],
    ],
  ],
  [
    'field-plan=pro&field-a%20b=%22%3Cb%3E',
    [
      ['metadata[plan]', 'pro'],
      ['metadata[a b]', '"<b>'],
    ],
  ],
  ['email=a@b.c&fbclid=1&utm_source=2&utm_a-b=3&field-=4&field-a[b]=5&TAB=6&challengeToken=7', []],
])('the query ?%s adds these fields', (query, fields) => {
  expect(linkedFields(new URLSearchParams(query), [], null)).toEqual(fields)
})

const text = (name: string) => ({ name, type: 'text', required: false, maxLength: 20 }) as const

test('declared fields are filled in from the address, and from the page that led here', () => {
  const query = new URLSearchParams(
    `utm_source=mail&utm_source=again&utm_medium=x&field-company=ACME&utm_term=${'t'.repeat(30)}`,
  )
  const declared = [text('company'), text('utm_source'), text('utm_term'), text('referrer')]
  expect(linkedFields(query, declared, 'https://a.example/b?mail=ada@example.com#c')).toEqual([
    ['utm_source', 'mail'],
    ['company', 'ACME'],
    ['utm_term', 't'.repeat(20)],
    ['referrer', 'https://a.example/b'],
  ])
})

test.each([
  ['javascript:alert(1)', []],
  ['', []],
  [null, []],
])('the page before, %s, adds nothing', (cameFrom, expected) => {
  expect(linkedFields(new URLSearchParams(), [text('referrer')], cameFrom)).toEqual(expected)
})

test('a referrer that is not declared is not collected', () => {
  expect(linkedFields(new URLSearchParams(), [], 'https://a.example/')).toEqual([])
})
