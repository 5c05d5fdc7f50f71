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

test('faults, late calls, the log and tokens are managed over HTTP', async () => {
  await using emulator = await startGoogleEmulator()
  const email = 'robot@example.com'
  emulator.createServiceAccount(email)
  emulator.createSpreadsheet({ id: 'abc', sharedWith: email })
  const fault = { on: 'batchUpdate', apply: 'later', answer: 'badGateway' }
  expect((await admin(emulator, 'POST', '/faults', fault)).answer).toEqual([fault])
  expect((await admin(emulator, 'GET', '/faults')).answer).toEqual([fault])

  const authorization = `Bearer ${emulator.issueToken(email)}`
  const send = () =>
    fetch(`${emulator.url}/v4/spreadsheets/abc:batchUpdate`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ requests: [{ addSheet: { properties: { title: 'Late' } } }] }),
    })
  expect((await send()).status).toBe(502)
  expect((await admin(emulator, 'POST', '/late')).answer).toEqual({ applied: 1 })
  expect(emulator.spreadsheet('abc').titles()).toEqual(['Sheet1', 'Late'])
  const calls = await admin(emulator, 'GET', '/calls?kind=batchUpdate')
  expect(calls.answer).toMatchObject([{ status: 502, applied: 'yes' }])
  expect((await admin(emulator, 'GET', '')).answer).toMatchObject({
    counters: { reads: 0, writes: 1, tokens: 0 },
    faults: [],
    late: 0,
  })
  await admin(emulator, 'DELETE', '/calls')
  expect(emulator.counters.writes).toBe(0)
  await admin(emulator, 'DELETE', '/tokens')
  expect((await send()).status).toBe(401)
})

test('people rename, fill, sort, protect and delete over HTTP, too', async () => {
  await using emulator = await startGoogleEmulator()
  const { id } = emulator.createSpreadsheet()
  const act = (action: string, ...given: unknown[]) =>
    admin(emulator, 'POST', `/spreadsheets/${id}/${action}`, given)
  const title = 'People'
  const rowsOf = async (tab: string) =>
    (await admin(emulator, 'GET', `/spreadsheets/${id}?tab=${tab}`)).answer
  await act('renameTab', 'Sheet1', title)
  await act('appendRows', title, [['name'], ['b'], ['a'], ['c']])
  await act('sortRows', title, 0)
  await act('insertRows', title, 2, 1)
  await act('deleteRows', title, 5, 1)
  await act('editCell', title, 'B1', { formula: '=1' })
  await act('addTab', 'Other', [[1, true]])
  await act('convertToTable', 'Other')
  await act('revertTables', 'Other')
  await act('insertColumns', 'Other', 0, 1)
  expect(await rowsOf(title)).toEqual({ rows: [['name', '#ERROR!'], [], ['a'], ['b']] })
  expect(await rowsOf('Other')).toEqual({ rows: [['', '1', 'TRUE']] })
  await act('protectTab', title)
  await act('unprotectTab', title)
  expect((await act('share', 'someone@example.com', 'viewer')).status).toBe(200)
  await act('deleteTab', 'Other')
  expect((await admin(emulator, 'GET', '')).answer).toMatchObject({
    spreadsheets: [{ id, tabs: [title], metadata: [] }],
  })
  await act('delete')
  expect((await act('renameTab', title, 'Gone')).status).toBe(404)
})

test('a call that the admin API does not understand is refused with a reason', async () => {
  await using emulator = await startGoogleEmulator()
  const { id } = emulator.createSpreadsheet()
  const wrong: readonly [string, string, unknown][] = [
    ['POST', '/faults', { on: 'batchupdate' }],
    ['POST', '/faults', { times: -1 }],
    ['POST', '/faults', { answer: 'nonsense' }],
    ['POST', `/spreadsheets/${id}/renameTab`, ['None', 'x']],
    ['POST', `/spreadsheets/${id}/explode`, {}],
    ['PATCH', '/faults', {}],
  ]
  for (const [method, path, body] of wrong) {
    const { status, answer } = await admin(emulator, method, path, body)
    expect([path, status >= 400 && status < 500, answer]).toEqual([
      path,
      true,
      { error: expect.any(String) },
    ])
  }
  expect(emulator.faults.pending).toEqual([])
})

test('the pages show tabs, markers and counters, and nothing in them is taken for HTML', async () => {
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
  const overview = await page('/')
  expect(overview.text).toContain('href="/spreadsheets/abc"')
  const { text } = await page('/spreadsheets/abc')
  expect(text).toContain('&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;')
  expect(text).not.toContain('<script>alert')
  expect(text).not.toContain('<i>')
  expect(text).toContain('row-250.')
  expect(text).toContain('row-51.')
  expect(text).not.toContain('row-50.')
  expect((await page('/spreadsheets/unknown')).status).toBe(404)
  expect((await page('/v4/unknown')).text).toContain('Error 404 (Not Found)')
})

test('stopping closes connections that are kept alive and ends waiting faults', async () => {
  const emulator = await startGoogleEmulator()
  const { email } = emulator.createServiceAccount()
  emulator.createSpreadsheet({ id: 'abc', sharedWith: email })
  emulator.faults.add({ delayMs: 1_000_000 })
  const waiting = fetch(`${emulator.url}/v4/spreadsheets/abc`, {
    headers: { authorization: `Bearer ${emulator.issueToken(email)}` },
  })
  const outcome = expect(waiting).rejects.toThrow('fetch failed')
  while (emulator.log.calls().length === 0) await new Promise((resolve) => setImmediate(resolve))
  await emulator.stop()
  await outcome
  await emulator.stop()
})
