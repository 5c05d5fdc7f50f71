import { readFileSync } from 'node:fs'
import type { sheets_v4 } from '@googleapis/sheets'
import { expect, test } from 'vitest'
import { startGoogleEmulator } from '../../emulators/google-sheets/server.ts'

interface Recording {
  readonly method: string
  readonly uri: string
  readonly kinds: string
  readonly status: number
  readonly request: string | null
  readonly response: string
}

/**
 * Requests and answers that were recorded with the live API. They are replayed over HTTP, and status, headers and
 * body (byte for byte) are compared. Not compared are
 * - ids that Google drew at random, which become `<id>` on both sides,
 * - the default format and the theme of a spreadsheet, which its recording has no more,
 * - the headers Date, Alt-Svc, x-l2-request-path, and content-length, which the recorder has set.
 */
const recordings = JSON.parse(
  readFileSync(new URL('../../emulators/google-sheets/recordings.json', import.meta.url), 'utf8'),
) as readonly Recording[]

/** Those of every recording. */
const headers = {
  'content-type': 'application/json; charset=UTF-8',
  'x-xss-protection': '0',
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff',
  'cache-control': 'private',
  'transfer-encoding': 'chunked',
  server: 'ESF',
  vary: 'Origin, X-Origin, Referer',
}

function addSheet(title: string, sheetId: number): sheets_v4.Schema$Request {
  return { addSheet: { properties: { title, sheetId } } }
}

/** The content of the spreadsheet before the recorded request, when it was not new. */
const preparations: Readonly<Record<string, sheets_v4.Schema$Request>> = {
  deleteSheet: addSheet('test_add_del_worksheet 1', 1877059582),
  updateSheetProperties: addSheet('other', 755875121),
}

/** Replaces ids that Google draws, as they differ in every run. */
function withoutDrawnIds(body: string): string {
  return body
    .replace(/("addSheet": \{\s*"properties": \{\s*"sheetId": )\d+/, '$1<id>')
    .replace(/("protectedRangeId": )\d+/, '$1<id>')
}

test('the file of recordings has ten pairs, with each status that Google answered', () => {
  expect(recordings).toHaveLength(10)
  expect(new Set(recordings.map(({ status }) => status))).toEqual(new Set([200, 400, 403, 404]))
})

for (const [index, recording] of recordings.entries()) {
  const { method, uri, kinds, status, request: body } = recording
  const url = new URL(uri)
  const call = `${method} ${url.pathname.replace(/[\w-]{30,}/, '{id}')} ${kinds}`.trim()
  test(`the emulator answers recording ${index + 1} as Google did: ${status} for ${call}`, async () => {
    await using emulator = await startGoogleEmulator()
    const { email } = emulator.createServiceAccount()
    const authorization = `Bearer ${emulator.issueToken(email)}`
    const id = url.pathname.split(/[/:]/)[3] ?? ''
    if (status !== 404) {
      const sharedWith = status === 403 ? {} : ({ [email]: 'owner' } as const)
      emulator.createSpreadsheet({ id, title: 'Test CellTest test_a1_value', sharedWith })
      // The request to hide the only tab failed, so there was no other tab.
      const preparation = status === 200 ? preparations[kinds] : undefined
      if (preparation) {
        const caller = { email, project: 'emulated-project' }
        emulator.model.batchUpdate(emulator.model.find(id), caller, [preparation])
      }
    }

    const response = await fetch(emulator.url + url.pathname + url.search, {
      method,
      headers: { authorization },
      body,
    })

    expect(withoutDrawnIds(await response.text())).toBe(withoutDrawnIds(recording.response))
    expect(response.status).toBe(status)
    expect(Object.fromEntries(response.headers)).toMatchObject(headers)
  })
}
