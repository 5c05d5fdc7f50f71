import { describe, expect, test } from 'vitest'
import { tried } from '../../harness/tried.ts'
import { exemplified, type Kind, oneOf, wholeNumber } from './kind.ts'
import {
  emailAddress,
  filePath,
  httpUrl,
  listenHost,
  moment,
  retentionDays,
  spreadsheetId,
  tabName,
} from './values.ts'

const port = wholeNumber(0, 65_535)
const logLevel = oneOf(['info', 'warn'])

const id = '1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE'
const docs = 'https://docs.google.com'

const accepted: readonly (readonly [Kind<unknown>, string, unknown])[] = [
  [port, '0', 0],
  [port, '65535', 65_535],
  [retentionDays, '0', 0],
  [retentionDays, '2', 2],
  [httpUrl, 'https://sheets.googleapis.com/', 'https://sheets.googleapis.com'],
  [httpUrl, 'HTTPS://Example.com/Proxy//', 'https://example.com/Proxy'],
  [httpUrl, 'http://[::1]:8080', 'http://[::1]:8080'],
  [listenHost, '[::1]', '::1'],
  [tabName, 'Nouvelle liste 🌵', 'Nouvelle liste 🌵'],
  [tabName, 'x'.repeat(100), 'x'.repeat(100)],
  [moment, '2026-12-01T18:00:00Z', Date.UTC(2026, 11, 1, 18)],
  [moment, '2026-12-01T18:00+01:00', Date.UTC(2026, 11, 1, 17)],
  [moment, '2024-02-29T00:00:00.500Z', Date.UTC(2024, 1, 29, 0, 0, 0, 500)],
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
  expect(tried(spreadsheetId, text)).toEqual({ value: id })
})

const refused: readonly (readonly [Kind<unknown>, string, RegExp])[] = [
  [spreadsheetId, 'Signups', /is not the id/],
  [spreadsheetId, 'x'.repeat(101), /is not the id/],
  [spreadsheetId, `${id}.`, /is not the id/],
  [spreadsheetId, `/spreadsheets/d/${id}`, /is not the id/],
  [spreadsheetId, `${docs}/spreadsheets/d/`, /is not the id/],
  [spreadsheetId, `${docs}/spreadsheets/d/e/2PACX-1vQ${id}/pubhtml`, /published/],
  [spreadsheetId, `https://docs.google.com.example.com/spreadsheets/d/${id}`, /is not the id/],
  [spreadsheetId, `https://example.com/?u=${docs}/spreadsheets/d/${id}`, /is not the id/],
  [port, '65536', /whole number from 0 to 65,535/],
  [port, '9'.repeat(400), /whole number from 0 to 65,535/],
  [retentionDays, '1', /is too short/],
  [retentionDays, '36501', /whole number from 0 to 36,500/],
  [httpUrl, 'sheets.googleapis.com', /is not an http/],
  [httpUrl, 'ftp://example.com', /is not an http/],
  [httpUrl, 'https:example.com', /is not an http/],
  [httpUrl, 'https://user:word@example.com', /password/],
  [httpUrl, 'https://example.com/?key=1', /query/],
  [httpUrl, 'https://example.com/#top', /fragment/],
  [listenHost, 'http://localhost', /is not an IP/],
  [listenHost, 'localhost:3000', /is not an IP/],
  [listenHost, '300.1.1.1', /is not an IP/],
  [tabName, 'x'.repeat(101), /not the name of a tab/],
  [tabName, 'two\nlines', /not the name of a tab/],
  [tabName, '\ud800', /not the name of a tab/],
  [moment, '2026-12-01', /not a time/],
  [moment, '2026-12-01T18:00:00', /not a time/],
  [moment, '2026-02-31T18:00:00Z', /not a time/],
  [moment, '2026-12-01T25:00:00Z', /not a time/],
  [moment, '01.12.2026 18:00Z', /not a time/],
  [logLevel, 'verbose', /is not one of info, warn/],
  [filePath, '~/data', /not a path/],
  [filePath, 'a\tb', /not a path/],
  [emailAddress, 'rollcall@project', /not the email address of a service/],
  [emailAddress, 'Rollcall <a@example.com>', /not the email address of a service/],
  [emailAddress, 'someone@gmail.com', /a person/],
]

describe('a value is accepted', () => {
  test.each(accepted)('%o: %s', (kind, text, value) => {
    expect(tried(kind, text)).toEqual({ value })
  })
})

describe('a value is refused with the problem, the expected value and a hint', () => {
  test.each(refused)('%o: %s', (kind, text, problem) => {
    const some = expect.stringMatching(/./)
    expect(tried(exemplified(kind, 'x'), text)).toEqual({
      problem: expect.stringMatching(problem),
      expected: some,
      hint: some,
    })
  })
})
