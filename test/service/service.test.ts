import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { columns } from '../../src/signup/row.ts'
import { bootService } from '../../harness/boot-service.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { addressesIn, readTab } from '../../harness/read-workbook.ts'
import { startService } from '../../harness/start-service.ts'
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

test('while the journal cannot be written, signups are refused with 503 and not stored, and accepted when it can', async () => {
  await using service = await bootService()
  const dataDir = join(service.folder, 'data')
  using journal = new DatabaseSync(join(dataDir, 'journal.db'), { timeout: 10_000 })
  journal.exec(`CREATE TRIGGER full BEFORE INSERT ON signup BEGIN SELECT RAISE(ABORT, 'full'); END`)
  const refused = await postSignup(service.url, { email: 'refused@example.com' })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('stored nothing') })
  journal.exec('DROP TRIGGER full')
  const accepted = await postSignup(
    service.url,
    { email: 'ada@example.com' },
    { prefer: 'wait=20' },
  )
  expect(accepted.status).toBe(201)
  expect(addressesIn(dataDir)).toEqual(['ada@example.com'])
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

test('a start on a port that is taken ends with what to do', async () => {
  await using service = await bootService()
  const env = { HOST: '127.0.0.1', PORT: new URL(service.url).port }
  const { code, stderr } = await runCommand(['serve'], { env })
  expect(code).toBe(1)
  expect(stderr).toMatch(/another program listens on it \(EADDRINUSE\)\..*set PORT/)
})

test('the log has neither addresses nor names nor tabs of signups, good or bad', async () => {
  await using service = await bootService({ env: { LOG_LEVEL: 'trace' } })
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
