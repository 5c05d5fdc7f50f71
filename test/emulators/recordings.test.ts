import { readFileSync } from 'node:fs'
import type { sheets_v4 } from '@googleapis/sheets'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startGoogleEmulator } from '../../emulators/google-sheets/server.ts'

/**
 * Requests and answers that were recorded with the live API. They are replayed over HTTP, and status,
 * body (byte for byte) and the recorded ones of the headers below are compared. Not compared are
 * - ids that Google drew at random, which become `<id>` on both sides,
 * - the headers Date, Alt-Svc, x-l2-request-path, and content-length, which the recorder has set.
 */
const recordings = z
  .array(
    z.object({
      method: z.string(),
      uri: z.string(),
      kinds: z.string(),
      status: z.number(),
      from: z.string(),
      request: z.string().nullable(),
      response: z.string(),
      headers: z.record(z.string(), z.array(z.string())),
    }),
  )
  .parse(
    JSON.parse(
      readFileSync(
        new URL('../../emulators/google-sheets/recordings.json', import.meta.url),
        'utf8',
      ),
    ),
  )

const comparedHeaders = [
  'Content-Type',
  'X-XSS-Protection',
  'X-Frame-Options',
  'X-Content-Type-Options',
  'Cache-Control',
  'Transfer-Encoding',
  'Server',
]

function addSheet(
  title: string,
  properties: sheets_v4.Schema$SheetProperties = {},
): sheets_v4.Schema$Request {
  return { addSheet: { properties: { title, ...properties } } }
}

const cells = (
  sheetId: number,
  rows: readonly (readonly string[])[],
): sheets_v4.Schema$Request => ({
  appendCells: {
    sheetId,
    fields: 'userEnteredValue',
    rows: rows.map((row) => ({
      values: row.map((stringValue) => ({ userEnteredValue: { stringValue } })),
    })),
  },
})

/** The content of the spreadsheet before the recorded request, when it was not new. */
const preparations: Readonly<Record<string, readonly sheets_v4.Schema$Request[]>> = {
  deleteSheet: [addSheet('test_add_del_worksheet 1', { sheetId: 1877059582 })],
  updateSheetProperties: [addSheet('other', { sheetId: 755875121 })],
}

function prepare(recording: (typeof recordings)[number]): readonly sheets_v4.Schema$Request[] {
  if (recording.uri.includes('values:batchGet')) {
    const gridProperties = { rowCount: 10, columnCount: 10 }
    const title = '🌵 test_values_batch_get 1'
    const rows = [
      ['🍇', '🍉', '🍋'],
      ['🍐', '🍎', '🍓'],
    ]
    return [addSheet(title, { sheetId: 5, gridProperties }), cells(5, rows)]
  }
  // The request to hide the only tab failed, so there was no other tab.
  if (recording.status !== 200) return []
  return preparations[recording.kinds] ?? []
}

/** Replaces ids that Google draws, as they differ in every run. */
function withoutDrawnIds(body: string): string {
  return body
    .replace(/("addSheet": \{\s*"properties": \{\s*"sheetId": )\d+/, '$1<id>')
    .replace(/("protectedRangeId": )\d+/, '$1<id>')
}

test('the file of recordings has twelve pairs, with each status that Google answered', () => {
  expect(recordings).toHaveLength(12)
  expect(new Set(recordings.map(({ status }) => status))).toEqual(new Set([200, 400, 403, 404]))
})

for (const [index, recording] of recordings.entries()) {
  const { method, uri, kinds, status } = recording
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
      const requests = prepare(recording)
      if (requests.length > 0) {
        const caller = { email, project: 'emulated-project' }
        emulator.model.batchUpdate(emulator.model.find(id), caller, requests)
      }
    }

    const response = await fetch(emulator.url + url.pathname + url.search, {
      method,
      headers: { authorization },
      ...(recording.request === null ? {} : { body: recording.request }),
    })

    expect(withoutDrawnIds(await response.text())).toBe(withoutDrawnIds(recording.response))
    expect(response.status).toBe(status)
    for (const name of comparedHeaders) {
      const recorded = recording.headers[name]
      if (recorded) expect([name, response.headers.get(name)]).toEqual([name, recorded.join(', ')])
    }
    expect(response.headers.get('Vary')).toBe('Origin, X-Origin, Referer')
  })
}
