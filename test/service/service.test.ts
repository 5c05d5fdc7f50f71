import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { columns } from '../../src/signup/row.ts'
import { bootService } from '../../harness/boot-service.ts'
import { postSignup, postSignups } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { failedStart, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const inUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('a signup with all fields is answered 202 and becomes a row with seven cells', async () => {
  await using service = await bootService()
  const answer = await postSignup(service.url, {
    email: ' Ada.Lovelace@EXAMPLE.com ',
    sheetTab: 'Launch',
    source: 'page',
    name: '=HYPERLINK("https://evil.example")',
    tags: ['a', 'b c'],
    metadata: { plan: 'pro', nested: { seats: 2 } },
  })
  expect(answer.status).toBe(202)
  const receipt: unknown = await answer.json()
  expect(receipt).toEqual({
    id: expect.stringMatching(uuidv7),
    status: 'accepted',
    sheetTab: 'Launch',
    receivedAt: expect.stringMatching(inUtc),
  })
  const dataDir = join(service.folder, 'data')
  await expect.poll(() => readTab(dataDir, 'Launch.csv')).toHaveLength(2)
  const { receivedAt } = receipt as { receivedAt: string }
  expect(readTab(dataDir, 'Launch.csv')).toEqual([
    [...columns],
    [
      'Ada.Lovelace@example.com',
      receivedAt,
      'page',
      '\'=HYPERLINK("https://evil.example")',
      'a, b c',
      '{"plan":"pro","nested":{"seats":2}}',
      'Launch',
    ],
  ])
})

test.each([
  [
    'urlencoded',
    () => new URLSearchParams({ email: 'ada@example.com', 'metadata[k]': 'v', x: 'y' }),
  ],
  [
    'multipart',
    () => {
      const form = new FormData()
      form.set('email', 'ada@example.com')
      form.set('metadata[k]', 'v')
      form.set('x', 'y')
      return form
    },
  ],
])('a form (%s) becomes a row, and its unknown fields go into metadata', async (_, body) => {
  await using service = await bootService()
  const answer = await fetch(`${service.url}/api/signup`, { method: 'POST', body: body() })
  expect(answer.status).toBe(202)
  const dataDir = join(service.folder, 'data')
  await expect.poll(() => readTab(dataDir, 'Sheet1.csv')).toHaveLength(2)
  const [, row] = readTab(dataDir, 'Sheet1.csv')
  expect(row?.filter((_cell, index) => index !== 1)).toEqual([
    'ada@example.com',
    'form',
    '',
    '',
    '{"k":"v","x":"y"}',
    'Sheet1',
  ])
})

test('a signup with wrong fields gets 422 that names them all, and nothing is stored', async () => {
  await using service = await bootService()
  const answer = await postSignup(service.url, { email: 'nobody', emial: 'x', tags: [7], name: 5 })
  expect(answer.status).toBe(422)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  const problem = (await answer.json()) as { errors: { field: string }[] }
  expect(problem.errors.map(({ field }) => field).sort()).toEqual([
    'email',
    'emial',
    'name',
    'tags[0]',
  ])
  const ready = await fetch(`${service.url}/api/ready`)
  expect(await ready.json()).toMatchObject({ delivery: { backlog: 0 } })
})

test.each([
  ['a body that is not JSON', 400, { body: '{"email":' }],
  ['JSON that is not an object', 400, { body: '["ada@example.com"]' }],
  ['JSON that is not UTF-8', 400, { body: new Uint8Array([0x7b, 0xff, 0x7d]) }],
  ['another content type', 415, { body: 'email', headers: { 'content-type': 'text/plain' } }],
  ['a body without a content type', 415, { body: new Uint8Array([1]), headers: {} }],
  ['a body over the limit', 413, { body: `{"email":"${'x'.repeat(1_100_000)}"}` }],
  [
    'a file in a form',
    422,
    {
      body: '--b\r\ncontent-disposition: form-data; name="email"; filename="a.txt"\r\n\r\nx\r\n--b--\r\n',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    },
  ],
])(
  '%s is answered %i with what to do',
  async (_, status, { body, headers }: RequestInit & { headers?: Record<string, string> }) => {
    await using service = await bootService()
    const answer = await fetch(`${service.url}/api/signup`, {
      method: 'POST',
      headers: headers ?? { 'content-type': 'application/json' },
      ...(body != null && { body }),
    })
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({
      type: 'about:blank',
      title: expect.any(String),
      status,
      detail: expect.stringMatching(/\w{3}/),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  },
)

test('the status of a signup goes from accepted to written, and has nothing personal', async () => {
  await using service = await bootService()
  const [id] = await postSignups(service.url, ['ada@example.com'])
  const status = async (): Promise<unknown> =>
    (await fetch(`${service.url}/api/signup/${id ?? ''}`)).json()
  await expect.poll(status).toEqual({
    id,
    status: 'written',
    sheetTab: 'Sheet1',
    receivedAt: expect.stringMatching(inUtc),
    writtenAt: expect.stringMatching(inUtc),
  })
  const unknown = await fetch(`${service.url}/api/signup/01990b6e-1d1c-7c3f-8f0e-5d2a8c1b7e42`)
  expect(unknown.status).toBe(404)
})

test('health, readiness and the public config answer', async () => {
  await using service = await bootService({ env: { DEFAULT_SHEET_TAB: 'Waitlist' } })
  const get = async (path: string): Promise<unknown> => (await fetch(service.url + path)).json()
  expect(await get('/api/health')).toEqual({ status: 'ok' })
  expect(await get('/api/ready?strict')).toMatchObject({
    status: 'ready',
    delivery: { state: 'ok' },
  })
  expect(await get('/api/config')).toMatchObject({
    challengeEnabled: false,
    challengeSiteKey: null,
    defaultSheetTab: 'Waitlist',
    sheetTabs: null,
    limits: { emailCharactersMax: 254, bodyBytesMax: 1_048_576 },
  })
})

test('when the process is killed right after the 202, the next one writes the row once', async () => {
  await using folder = await tempFolder()
  const emails = Array.from({ length: 20 }, (_, index) => `person${index}@example.com`)
  for (const email of emails) {
    await using service = await startService({ dataDir: folder.path })
    const answer = await postSignup(service.url, { email })
    await service.kill()
    expect(answer.status).toBe(202)
  }
  await using _service = await startService({ dataDir: folder.path })
  await expect.poll(() => readTab(folder.path, 'Sheet1.csv').length).toBe(emails.length + 1)
  expect(readTab(folder.path, 'Sheet1.csv').map(([email]) => email)).toEqual(['Email', ...emails])
})

test('after SIGTERM the service answers the requests that it has, and every signup with a 202 is written', async () => {
  await using folder = await tempFolder()
  await using service = await startService({ dataDir: folder.path })
  const emails = Array.from({ length: 200 }, (_, index) => `person${index}@example.com`)
  const answers = emails.map((email) =>
    postSignup(service.url, { email }).then(
      (answer) => answer.status,
      () => 'refused',
    ),
  )
  await Promise.race(answers)
  expect(await service.stop()).toBe(0)
  const accepted = (await Promise.all(answers)).filter((status) => status === 202).length
  expect(accepted).toBeGreaterThan(0)
  await using next = await startService({ dataDir: folder.path })
  await expect.poll(() => readTab(folder.path, 'Sheet1.csv').length).toBe(accepted + 1)
  // The row is in the file a moment before the journal counts it as written.
  const ready = async (): Promise<unknown> => (await fetch(`${next.url}/api/ready`)).json()
  await expect.poll(ready).toMatchObject({ delivery: { backlog: 0 } })
})

test('a second process on the same DATA_DIR is refused and does no harm', async () => {
  await using folder = await tempFolder()
  await using service = await startService({ dataDir: folder.path })
  const second = await failedStart({ dataDir: folder.path })
  expect(second).toMatchObject({
    code: 1,
    output: expect.stringMatching(/in use by another process[\s\S]*DATA_DIR/),
  })
  expect((await postSignup(service.url, { email: 'ada@example.com' })).status).toBe(202)
})

test('all problems of the settings are reported at once, and the exit code is 2', async () => {
  const ended = await failedStart({
    env: {
      SHEETS_SHEET_ID: 'short',
      BODY_LIMIT_BYTES: 'many',
      DEFAULT_SHEET_TAB: 'x'.repeat(101),
      DUPLICATES: 'sometimes',
    },
  })
  expect(ended.code).toBe(2)
  for (const setting of [
    'SHEETS_SHEET_ID',
    'SHEETS_CREDENTIALS_EMAIL',
    'SHEETS_PRIVATE_KEY',
    'BODY_LIMIT_BYTES',
    'DEFAULT_SHEET_TAB',
    'DUPLICATES',
  ]) {
    expect(ended.output).toContain(setting)
  }
})

test('a start on a port that is taken ends with what to do', async () => {
  await using service = await startService()
  await using folder = await tempFolder()
  const program = join(folder.path, 'start.mjs')
  // startService sets PORT, so the program sets it again.
  await writeFile(
    program,
    `process.env.PORT = ${JSON.stringify(new URL(service.url).port)}
     process.argv.length = 2
     await import(${JSON.stringify(join(process.cwd(), 'src/start.js'))})`,
  )
  const ended = await failedStart({ program })
  expect(ended).toMatchObject({
    code: 1,
    output: expect.stringMatching(/another program listens on it \(EADDRINUSE\)\..*set PORT/),
  })
})

test('the log has neither addresses nor names nor tabs of signups, good or bad', async () => {
  await using service = await startService({ env: { LOG_LEVEL: 'trace' } })
  await postSignup(service.url, {
    email: 'secret.person@example.com',
    name: 'Very Private',
    sheetTab: 'Hidden Tab',
    metadata: { note: 'for nobody' },
  })
  await postSignup(service.url, '{"email":"broken.person@example.com"')
  await postSignup(service.url, {
    email: 'wrong person@example.com',
    emial: 'typo.person@example.com',
  })
  const dataDir = join(service.folder, 'data', 'sheets')
  await expect.poll(() => readdirSync(dataDir)).toContain('Hidden Tab.csv')
  await expect.poll(() => service.output()).toContain('batch written')
  expect(service.output()).not.toMatch(/person|private|hidden|nobody/i)
})
