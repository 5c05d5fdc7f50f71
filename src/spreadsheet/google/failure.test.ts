import { describe, expect, test } from 'vitest'
import type { HttpAnswer } from '../../platform/http-client.ts'
import { classify, readError } from './failure.ts'

const access = {
  email: 'robot@example.iam.gserviceaccount.com',
  spreadsheetId: 'id',
  setting: 'SHEETS_SHEET_ID',
}

/** An answer of the Sheets API with this error, or with the whole text. */
function answer(
  status: number,
  error: { readonly message: unknown } | string,
  headers: Record<string, string> = {},
): HttpAnswer {
  const text = typeof error === 'string' ? error : JSON.stringify({ error })
  return { status, headers: new Headers(headers), text }
}

const outcomeOf = (...args: Parameters<typeof answer>) =>
  classify(readError(answer(...args)), access)

describe('an answer that is not a success', () => {
  test.each([
    ['may have been applied', 'unknown', [302, 399, 408, 409, 500, 502, 503, 504, 599]],
    ['was not applied, and may be tried again', 'retryable', [429]],
    ['was not applied, and needs a person', 'refused', [400, 401, 403, 404, 410, 413, 499]],
  ])('means that the call %s: %s after HTTP %j', (_, kind, statuses) => {
    const words = { message: 'Some words.' }
    for (const status of statuses) {
      expect(outcomeOf(status, words), String(status)).toMatchObject({ kind })
      expect(outcomeOf(status, '<html>'), `${status} of a proxy`).toMatchObject({ kind })
    }
  })

  test.each([
    [401, 'Request had invalid authentication credentials.', 'credentials', /same key file/],
    [
      403,
      'The caller does not have permission',
      'permission',
      /^Share .* with robot@\S+ as Editor/,
    ],
    [403, 'Google Sheets API has not been used in project 12 before', 'apiDisabled', /describes/],
    [403, 'Google Sheets API in project 12 is disabled.', 'apiDisabled', /describes/],
    [
      404,
      'Requested entity was not found.',
      'notFound',
      /SHEETS_SHEET_ID.* robot@.* \/spreadsheets/,
    ],
    [
      400,
      'You are trying to edit a protected cell or object. Please contact the owner.',
      'protectedTab',
      /describes/,
    ],
    [
      400,
      'This action would increase the number of cells above the limit of 10000000 cells.',
      'full',
      /describes/,
    ],
    [400, 'The document must not be an Office file.', 'noSpreadsheet', /describes/],
    [
      400,
      'Invalid requests[12].addSheet: A sheet with the name "a" already exists.',
      'tabName',
      /SHEET_TABS/,
    ],
    [400, 'Invalid JSON payload received.', 'other', /describes/],
  ])('of HTTP %i and the text %s has a reason and a hint for the operator', (...row) => {
    const [status, message, reason, hint] = row
    expect(outcomeOf(status, { message })).toMatchObject({
      kind: 'refused',
      reason,
      hint: expect.stringMatching(hint),
    })
  })

  test.each([
    ['a page of a proxy', '<html>Not found</html>'],
    ['nothing', ''],
    ['an error without an envelope', '{"error":"not_found"}'],
    ['an envelope whose text is a number', '{"error":{"message":404}}'],
    ['a list', '[{"error":{"message":"Requested entity was not found."}}]'],
  ])('that is %s is not taken for one of the Sheets API', (_, text) => {
    for (const status of [403, 404]) {
      expect(outcomeOf(status, text)).toMatchObject({
        kind: 'refused',
        reason: 'notTheApi',
        message: `HTTP ${status}`,
        hint: expect.stringMatching(/SHEETS_API_URL and any proxy/),
      })
    }
  })

  test.each([
    ['A sheet with the name "ada" already exists.', 'A sheet with the name "…" already exists.'],
    ['Not "a" or\n"b".', 'Not "…".'],
    ["Unable to parse range: 'ada\n@example'!A1:ZZ1", 'Unable to parse range: …'],
    ['Range (ada!A9:ZZ9) exceeds grid limits.', 'Range (…) exceeds grid limits.'],
    [
      "Invalid requests[2].appendCells: Range ('a) \n(b)'!A9:ZZ9) exceeds grid limits. Max rows: 5",
      'Invalid requests[2].appendCells: Range (…) exceeds grid limits. Max rows: 5',
    ],
  ])('leaves out what it quotes, because visitors choose the names of tabs: %j', (text, known) => {
    expect(readError(answer(400, { message: text })).message).toBe(known)
  })
})

describe('how long to wait after a failure', () => {
  const date = 'Sun, 22 Nov 2026 10:00:00 GMT'
  test.each([
    ['7', 7000],
    ['0', 0],
    ['3601', 3_600_000],
    ['Sun, 22 Nov 2026 10:01:30 GMT', 90_000],
    ['Sun, 22 Nov 2026 09:00:00 GMT', 0],
    ['Mon, 23 Nov 2026 10:00:00 GMT', 3_600_000],
    ['soon', undefined],
    ['-7', undefined],
    ['1.5', undefined],
    ['', undefined],
  ])('is read from Retry-After %j, at most an hour: %s ms', (value, afterMs) => {
    const headers = { date, 'retry-after': value }
    const after = afterMs === undefined ? {} : { afterMs }
    const message = 'HTTP 503'
    expect(outcomeOf(503, '', headers)).toEqual({ kind: 'unknown', message, ...after })
    expect(outcomeOf(429, '', headers)).toMatchObject({ kind: 'retryable', ...after })
  })

  test('is not known without Retry-After, or when a date has nothing to compare with', () => {
    const retryAfter = 'Sun, 22 Nov 2026 10:01:30 GMT'
    expect(outcomeOf(429, '', { date })).not.toHaveProperty('afterMs')
    expect(outcomeOf(429, '', { 'retry-after': retryAfter })).not.toHaveProperty('afterMs')
  })
})
