// @module-tag slow
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../../emulators/google-sheets/clock.ts'
import type { Fault } from '../../emulators/google-sheets/faults.ts'
import { QuotaLedger, strictQuota } from '../../emulators/google-sheets/quota.ts'
import { startGoogleEmulator, type GoogleEmulator } from '../../emulators/google-sheets/server.ts'
import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'

const clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'))
let emulator: GoogleEmulator
let spreadsheet: SpreadsheetHandle
let token: string

beforeEach(async () => {
  emulator = await startGoogleEmulator({ clock })
  const { email } = emulator.createServiceAccount()
  spreadsheet = emulator.createSpreadsheet({ sharedWith: email })
  token = emulator.issueToken(email)
})
afterEach(() => emulator.stop())

const marker = {
  createDeveloperMetadata: {
    developerMetadata: {
      metadataId: 7,
      metadataKey: 'k',
      visibility: 'DOCUMENT',
      location: { spreadsheet: true },
    },
  },
}
const row = {
  appendCells: {
    fields: 'userEnteredValue',
    rows: [{ values: [{ userEnteredValue: { stringValue: 'row' } }] }],
  },
}

/** Sends one row. Returns status and kind of the answer, or `lost` when the connection was closed. */
async function send(requests: readonly object[] = [row]): Promise<string> {
  try {
    const response = await fetch(`${emulator.url}/v4/spreadsheets/${spreadsheet.id}:batchUpdate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ requests }),
    })
    const type = response.headers.get('content-type')?.split(';')[0]
    const text = await response.text()
    const whole = type === 'application/json' && isJson(text) ? 'whole' : 'broken'
    return `${response.status} ${whole}`
  } catch {
    return 'lost'
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const rowCount = () => spreadsheet.rowCount('Sheet1')

describe('a fault decides what the client sees and what is applied', () => {
  const cases: readonly [string, Fault, string, number][] = [
    ['dropped before it is applied', { answer: 'drop' }, 'lost', 0],
    ['applied, then dropped', { apply: 'now', answer: 'drop' }, 'lost', 1],
    ['applied, then 500', { apply: 'now', answer: 'internal' }, '500 whole', 1],
    ['503 by default', {}, '503 whole', 0],
    ['502 as a page', { apply: 'now', answer: 'badGateway' }, '502 broken', 1],
    ['200 with half a body', { apply: 'now', answer: 'truncated' }, '200 broken', 1],
    ['connection lost in the body', { apply: 'now', answer: 'cutOff' }, 'lost', 1],
    ['any answer at all', { answer: { status: 418, body: 'tea' } }, '418 broken', 0],
    ['delivered twice', { apply: 'twice' }, '200 whole', 2],
    ['answered late', { delayMs: 0 }, '200 whole', 1],
  ]
  for (const [title, fault, seen, rows] of cases) {
    test(`${title}: the client sees ${seen}, and ${rows} rows are written`, async () => {
      emulator.faults.add({ on: 'batchUpdate', ...fault })
      expect(await send()).toBe(seen)
      expect(rowCount()).toBe(rows)
      expect(await send()).toBe('200 whole')
      expect(rowCount()).toBe(rows + 1)
    })
  }
})

test('a call that is answered 503 can be applied later, after a re-send has overtaken it', async () => {
  emulator.faults.add({ on: 'batchUpdate', apply: 'later', applyAfterMs: 20_000 })
  expect(await send([marker, row])).toBe('503 whole')
  expect([rowCount(), emulator.lateCount]).toEqual([0, 1])
  expect(await send([marker, row])).toBe('200 whole')
  clock.advance(20_000)
  expect([rowCount(), emulator.lateCount]).toEqual([1, 0])
  expect(emulator.log.calls().map(({ status, applied }) => [status, applied])).toEqual([
    [503, 'known'],
    [200, 'yes'],
  ])
})

test('a request that is delivered twice can show the answer of either delivery', async () => {
  emulator.faults.add({ apply: 'twice' }, { apply: 'twice', answerOf: 'second', skip: 0 })
  expect(await send([marker, row])).toBe('200 whole')
  expect(await send([row, { ...marker }])).toBe('400 whole')
  expect(rowCount()).toBe(1)
})

test('a fault can skip calls, repeat, last until it is cleared, and meet one kind of call or one spreadsheet', async () => {
  emulator.faults.add({ on: 'write', skip: 1, times: 2 })
  expect([await send(), await send(), await send(), await send()]).toEqual([
    '200 whole',
    '503 whole',
    '503 whole',
    '200 whole',
  ])
  emulator.faults.add(
    { on: 'get', times: 0 },
    { on: 'write', spreadsheetId: 'another', times: 0 },
    { on: 'token', answer: 'unauthenticated' },
  )
  expect(await send()).toBe('200 whole')
  expect(emulator.faults.pending).toHaveLength(3)
  expect((await fetch(emulator.tokenUrl, { method: 'POST' })).status).toBe(401)
  expect((await fetch(emulator.tokenUrl, { method: 'POST' })).status).toBe(400)
  emulator.faults.clear()
  expect(emulator.faults.pending).toEqual([])
})

test('the 61st write in a minute is refused in the words of Google', async () => {
  for (let index = 0; index < 60; index += 1) expect(await send()).toBe('200 whole')
  const response = await fetch(`${emulator.url}/v4/spreadsheets/${spreadsheet.id}:batchUpdate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ requests: [row] }),
  })
  expect(response.headers.get('retry-after')).toBeNull()
  expect(response.status).toBe(429)
  const limit = "limit 'Write requests per minute per user' of service 'sheets.googleapis.com'"
  expect(await response.json()).toMatchObject({
    error: {
      message: expect.stringContaining(limit),
      status: 'RESOURCE_EXHAUSTED',
      details: [{ reason: 'RATE_LIMIT_EXCEEDED', metadata: { quota_limit_value: '60' } }, {}],
    },
  })
  expect(rowCount()).toBe(60)
  clock.advance(60_000)
  expect(await send()).toBe('200 whole')
})

test('the strict quota also allows no more than 100 calls in 100 seconds and 10,000 a day', () => {
  const ledger = new QuotaLedger(strictQuota)
  const caller = { email: 'robot@example.com', project: 'one' }
  let nowMs = 0
  const take = (access: 'read' | 'write') => {
    try {
      ledger.take(caller, access, nowMs)
      return 'taken'
    } catch (error) {
      return error instanceof Error ? error.message : 'refused'
    }
  }
  for (let index = 0; index < 50; index += 1) {
    expect([take('read'), take('write')]).toEqual(['taken', 'taken'])
  }
  expect(take('read')).toContain("limit 'Read requests per 100 seconds per user'")
  nowMs += 100_000
  for (let index = 100; index < 10_000; index += 1) {
    expect(take(index % 2 === 0 ? 'read' : 'write')).toBe('taken')
    nowMs += 2_000
  }
  expect(take('write')).toContain("limit 'Write requests per day'")
  nowMs = 24 * 3_600_000
  expect(take('write')).toBe('taken')
})
