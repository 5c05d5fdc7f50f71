import { describe, expect, test } from 'vitest'
import type { Parser } from './refusal.ts'
import {
  bearerToken,
  emailAddress,
  filePath,
  httpUrl,
  listenHost,
  spreadsheetId,
  tabName,
} from './values.ts'
import { oneOf, wholeNumber } from './kinds.ts'

const { parse: port } = wholeNumber(0, 65_535)
const { parse: logLevel } = oneOf(['info', 'warn'])

const id = '1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE'
const docs = 'https://docs.google.com'

const accepted: readonly (readonly [Parser<unknown>, string, unknown])[] = [
  [port, '0', 0],
  [port, '65535', 65_535],
  [httpUrl, 'https://sheets.googleapis.com/', 'https://sheets.googleapis.com'],
  [httpUrl, 'HTTPS://Example.com/Proxy//', 'https://example.com/Proxy'],
  [httpUrl, 'http://[::1]:8080', 'http://[::1]:8080'],
  [listenHost, '0.0.0.0', '0.0.0.0'],
  [listenHost, '[::1]', '::1'],
  [listenHost, 'localhost', 'localhost'],
  [tabName, 'Nouvelle liste 🌵', 'Nouvelle liste 🌵'],
  [tabName, 'x'.repeat(100), 'x'.repeat(100)],
  [logLevel, 'warn', 'warn'],
  [logLevel, 'INFO', 'info'],
  [filePath, './data', './data'],
  [filePath, 'C:\\data', 'C:\\data'],
  [emailAddress, 'a@b-1.iam.gserviceaccount.com', 'a@b-1.iam.gserviceaccount.com'],
]

const spreadsheets = [
  ...[id, `${docs}/spreadsheets/d/${id}`, `${docs}/spreadsheets/d/${id}/edit?gid=12#gid=12`],
  ...[`${docs}/spreadsheets/d/${id}?usp=sharing`, `${docs}/spreadsheets/u/0/d/${id}/edit`],
  `${docs}/a/example.com/spreadsheets/d/${id}/edit`,
  ...[`docs.google.com/spreadsheets/d/${id}/`, `http://docs.google.com/spreadsheets/d/${id}/copy`],
]

test.each(spreadsheets)('the id is found in %s', (text) => {
  expect(spreadsheetId(text)).toEqual({ value: id })
})

const refused: readonly (readonly [Parser<unknown>, string, RegExp])[] = [
  [spreadsheetId, 'Signups', /neither the id/],
  [spreadsheetId, 'x'.repeat(101), /neither the id/],
  [spreadsheetId, `${id}.`, /neither the id/],
  [spreadsheetId, `/spreadsheets/d/${id}`, /neither the id/],
  [spreadsheetId, `${docs}/spreadsheets/d/`, /neither the id/],
  [spreadsheetId, `${docs}/spreadsheets/d/e/2PACX-1vQ${id}/pubhtml`, /published/],
  [spreadsheetId, `${docs}/document/d/${id}/edit`, /neither the id/],
  [spreadsheetId, `https://docs.google.com.example.com/spreadsheets/d/${id}`, /neither the id/],
  [spreadsheetId, `https://example.com/?u=${docs}/spreadsheets/d/${id}`, /neither the id/],
  [port, '65536', /out of range/],
  [port, '-1', /out of range/],
  [port, '3000.5', /out of range/],
  [port, '3e3', /whole number/],
  [port, '9'.repeat(400), /out of range/],
  [httpUrl, 'sheets.googleapis.com', /not an http/],
  [httpUrl, 'ftp://example.com', /not an http/],
  [httpUrl, 'https:example.com', /not an http/],
  [httpUrl, 'https://user:word@example.com', /password/],
  [httpUrl, 'https://example.com/?key=1', /query/],
  [httpUrl, 'https://example.com/#top', /fragment/],
  [listenHost, 'http://localhost', /neither/],
  [listenHost, 'localhost:3000', /neither/],
  [listenHost, '300.1.1.1', /neither/],
  [listenHost, 'my host', /neither/],
  [tabName, 'x'.repeat(101), /too long/],
  [tabName, 'two\nlines', /control character/],
  [tabName, '\ud800', /surrogate/],
  [logLevel, 'verbose', /none of the words/],
  [filePath, '~/data', /begins with ~/],
  [filePath, 'a\tb', /control characters/],
  [filePath, '{"type":"service_account"}', /holds a key/],
  [emailAddress, 'rollcall', /not an email address/],
  [emailAddress, 'rollcall@project', /not an email address/],
  [emailAddress, 'Rollcall <a@example.com>', /not an email address/],
  [emailAddress, 'someone@gmail.com', /a person/],
]

describe('a value is accepted', () => {
  test.each(accepted)('%o: %s', (parse, text, value) => {
    expect(parse(text, '')).toEqual({ value })
  })
})

describe('a value is refused with the problem, the expected value and a hint', () => {
  test.each(refused)('%o: %s', (parse, text, problem) => {
    const some = expect.stringMatching(/./)
    expect(parse(text, 'an example')).toEqual({
      problem: expect.stringMatching(problem),
      expected: some,
      hint: some,
    })
  })
})

test('who puts a space into a token is told of no second key', () => {
  expect(bearerToken('a-token with a space', 'one-of-the-documentation')).toMatchObject({
    problem: 'has white space in it.',
    hint: expect.stringContaining('openssl rand'),
  })
})
