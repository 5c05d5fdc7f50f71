import { expect, test } from 'vitest'
import { prefersHtml } from './negotiate.ts'

const asking = (accept: string | null) => ({
  headers: new Headers(accept === null ? {} : { accept }),
})

test.each([
  ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['a page and anything else alike', 'text/html, */*'],
  ['anything else and a page alike', '*/*, text/html'],
  ['capitals and parameters', 'TEXT/HTML;charset=utf-8'],
  ['a page before JSON', 'text/html, application/json'],
  ['JSON at less', 'application/json;q=0.5, text/html;q=0.6'],
  ['any text, but no JSON', 'text/*'],
  ['a wildcard at less', '*/*;q=0.1,text/html;q=0.2'],
  ['a page, and anything of the kind of JSON', 'application/*, text/html'],
  ['the older kind of page', 'application/xhtml+xml'],
])('a client that sends %s gets a page: %s', (_, accept) => {
  expect(prefersHtml(asking(accept))).toBe(true)
})

test.each([
  ['nothing', null],
  ['a wildcard, as curl and fetch do', '*/*'],
  ['JSON before anything, as axios does', 'application/json, text/plain, */*'],
  ['JSON before a page', 'application/json, text/html'],
  ['a page at less', 'text/html;q=0.8, application/json'],
  ['a page at less than a wildcard', 'text/html;q=0.5, */*'],
  ['problem documents first', 'application/problem+json, text/html;q=0.9'],
  ['a refusal of pages', 'text/html;q=0, */*'],
  ['a wildcard before JSON', '*/*, application/json;q=0.5'],
  ['only what we do not have', 'image/png'],
  ['nonsense', ';;,,q=;"'],
])('a client that sends %s gets JSON: %s', (_, accept) => {
  expect(prefersHtml(asking(accept))).toBe(false)
})
