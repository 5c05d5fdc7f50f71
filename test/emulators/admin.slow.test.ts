// @module-tag slow
import { expect, test } from 'vitest'
import { startGoogleEmulator, type GoogleEmulator } from '../../emulators/google-sheets/server.ts'

async function admin(emulator: GoogleEmulator, method: string, path: string, body?: unknown) {
  const response = await fetch(`${emulator.url}/emulator${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer: unknown = await response.json()
  return { status: response.status, answer }
}

test('faults are added and removed, and late calls are applied, over HTTP', async () => {
  await using emulator = await startGoogleEmulator()
  const email = 'robot@example.com'
  emulator.createServiceAccount(email)
  emulator.createSpreadsheet({ id: 'abc', sharedWith: email })
  const fault = { on: 'batchUpdate', apply: 'later', answer: 'badGateway' }
  expect((await admin(emulator, 'POST', '/faults', fault)).answer).toEqual([fault])
  const sent = await fetch(`${emulator.url}/v4/spreadsheets/abc:batchUpdate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.issueToken(email)}` },
    body: JSON.stringify({ requests: [{ addSheet: { properties: { title: 'Late' } } }] }),
  })
  expect(sent.status).toBe(502)
  expect((await admin(emulator, 'POST', '/late')).answer).toEqual({ applied: 1 })
  expect(emulator.spreadsheet('abc').titles()).toEqual(['Sheet1', 'Late'])
  await admin(emulator, 'POST', '/faults', fault)
  expect((await admin(emulator, 'DELETE', '/faults')).answer).toEqual([])
  expect(emulator.faults.pending).toEqual([])
})

test('the acts of people on a spreadsheet can be done over HTTP, too', async () => {
  await using emulator = await startGoogleEmulator()
  const spreadsheet = emulator.createSpreadsheet()
  const act = (deed: string, ...given: unknown[]) =>
    admin(emulator, 'POST', `/spreadsheets/${spreadsheet.id}/${deed}`, given)
  await act('renameTab', 'Sheet1', 'People')
  await act('appendRows', 'People', [['name'], ['b'], ['a'], ['c']])
  await act('sortRows', 'People', 0)
  await act('insertRows', 'People', 2, 1)
  await act('deleteRows', 'People', 5, 1)
  await act('editCell', 'People', 'B1', { formula: '=1' })
  await act('addTab', 'Other', [[1, true]])
  await act('convertToTable', 'Other')
  await act('revertTables', 'Other')
  await act('insertColumns', 'Other', 0, 1)
  expect(spreadsheet.rows('People')).toEqual([['name', '#ERROR!'], [], ['a'], ['b']])
  expect(spreadsheet.rows('Other')).toEqual([['', '1', 'TRUE']])
  await act('protectTab', 'People')
  await act('unprotectTab', 'People')
  expect((await act('share', 'someone@example.com', 'viewer')).status).toBe(200)
  await act('deleteTab', 'Other')
  expect(spreadsheet.titles()).toEqual(['People'])
  await act('delete')
  expect((await act('renameTab', 'People', 'Gone')).status).toBe(404)
})

test('the page shows tabs and calls as text and not as HTML', async () => {
  await using emulator = await startGoogleEmulator()
  const spreadsheet = emulator.createSpreadsheet({ id: 'abc', title: '<i>Mine</i>' })
  const evil = `<script>alert("1" & '2')</script>`
  spreadsheet.addTab(evil, [[evil]])
  spreadsheet.appendRows(
    'Sheet1',
    Array.from({ length: 250 }, (_, index) => [`row-${index + 1}.`]),
  )
  const page = async (path: string) => {
    const response = await fetch(emulator.url + path)
    return { status: response.status, text: await response.text() }
  }
  expect((await page('/v4/unknown')).text).toContain('Error 404 (Not Found)')
  await fetch(emulator.tokenUrl, { method: 'POST' })
  const { text } = await page('/spreadsheets/abc')
  expect(text).toContain('<td>token</td><td>400</td>')
  expect(text).toContain('&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;')
  expect(text).not.toContain('<script>alert')
  expect(text).not.toContain('<i>')
  expect(text).toContain('row-250.')
  expect(text).toContain('row-51.')
  expect(text).not.toContain('row-50.')
  expect((await page('/spreadsheets/unknown')).status).toBe(404)
})
