import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { readStatus, type Status } from '../../src/operations/status.ts'
import { appendTo, openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { allDelivered, readiness } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

test('status tells beside a service what came, what was written and what is blocked and why', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  // There is no such spreadsheet, so delivery is blocked.
  const blocked = { ...google.env, SHEETS_SHEET_ID: `${google.spreadsheetId}x` }
  const tell = async (env: Readonly<Record<string, string>>) => {
    const { code, stdout, stderr } = await runCommand(['status', '--json'], {
      env,
      dataDir: data.path,
    })
    expect(stderr).toBe('')
    return { code, status: JSON.parse(stdout) as Status }
  }
  await using service = await startService({ env: blocked, dataDir: data.path })
  const signups = ['ada', 'bob', 'eve'].map((name) => ({ email: `${name}@example.com` }))
  expect((await postBulk(service.url, { signups })).status).toBe(202)
  await expect.poll(async () => (await readiness(service)).body.delivery.state).toBe('blocked')
  const whileBlocked = await tell(blocked)
  expect(whileBlocked).toMatchObject({
    code: 1,
    status: {
      onList: 3,
      // Today may have begun since.
      accepted: { sevenDays: 3, all: 3 },
      written: { today: 0, sevenDays: 0, all: 0 },
      waiting: { signups: 3, oldest: expect.stringMatching(/Z$/) },
      lastDelivery: null,
      delivery: {
        state: 'blocked',
        since: expect.stringMatching(/Z$/),
        error: 'Requested entity was not found',
        hint: expect.stringContaining('SHEETS_SHEET_ID'),
      },
      tabsSetAside: [],
      quota: { perMinute: { limit: 50 }, perDay: { limit: 10_000 } },
    },
  })
  const { quota } = whileBlocked.status
  expect(quota?.perDay.left).toBeLessThan(10_000)
  await service.kill()
  // The day and the hour may have turned.
  const {
    at: _at,
    quota: _quota,
    hours: _hours,
    accepted: _accepted,
    ...lasting
  } = whileBlocked.status
  const afterKill = await tell(blocked)
  expect(afterKill.status).toMatchObject(lasting)
  expect(afterKill.status.accepted).toMatchObject({ sevenDays: 3, all: 3 })
  const { stdout } = await runCommand(['status'], { env: blocked, dataDir: data.path })
  expect(stdout).toContain('blocked: Requested entity was not found (since 20')
  expect(stdout).toMatch(/^Service +does not run: start it with npm start$/m)
  // What the command leaves behind is as private as the journal, and a service starts with it.
  for (const name of await readdir(data.path)) {
    expect((await stat(join(data.path, name))).mode & 0o077, name).toBe(0)
  }
  await using mended = await startService({ env: google.env, dataDir: data.path })
  await allDelivered(mended)
  expect(await tell(google.env)).toMatchObject({
    code: 0,
    status: {
      written: { sevenDays: 3, all: 3 },
      waiting: { signups: 0, oldest: null },
      lastDelivery: expect.stringMatching(/Z$/),
      delivery: { state: 'ok', error: null },
    },
  })
})

test('a tab that is set aside is partly blocked delivery in status, readiness, doctor and the metrics', async () => {
  await using data = await tempFolder()
  await mkdir(join(data.path, 'sheets/News.csv'), { recursive: true })
  const token = 'a-token-for-the-metrics'
  const env = { METRICS_TOKEN: token }
  await using service = await bootService({ dataDir: data.path, env })
  await postSignup(service.url, { email: 'ada@example.com', sheetTab: 'News' })
  const delivery = async () => (await readiness(service)).body.delivery
  await expect.poll(delivery).toMatchObject({
    state: 'partly blocked',
    error: 'The file of the tab cannot be written',
    tabsSetAside: [{}],
  })
  // What is public never has the name of a tab, which a visitor may have typed.
  expect(JSON.stringify(await delivery())).not.toContain('News')
  const { code, stdout } = await runCommand(['status'], { dataDir: data.path })
  expect(code).toBe(1)
  expect(stdout).toMatch(/^Delivery +partly blocked: News set aside \(since 20/m)
  expect(stdout).toMatch(/^Set aside +News: \S.*$/m)
  expect(stdout).toMatch(/^Do: \S.*$/m)
  expect(stdout).not.toContain('Quota left')
  const doctor = await runCommand(['doctor'], { dataDir: data.path })
  expect(doctor.stdout).toMatch(
    /^FAULT +delivery +is partly blocked since 20.*: the tab "News" is set aside: /m,
  )
  const headers = { authorization: `Bearer ${token}` }
  const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text()
  const states = metrics.match(/^rollcall_delivery_state.*$/gm)
  expect(states).toEqual(
    ['ok" 0', 'delayed" 0', 'partly blocked" 1', 'blocked" 0'].map(
      (it) => `rollcall_delivery_state{site="default",state="${it.replace('"', '"}')}`,
    ),
  )
})

test('status fits 80 columns, without colours', async () => {
  await using data = await tempFolder()
  await appendTo(
    data.path,
    makeSignups(12_000).map((it) => ({ ...it, receivedAt: Date.now() })),
  )
  const { code, stdout } = await runCommand(['status'], { dataDir: data.path })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^[ -~\n]+$/)
  expect(stdout).toMatch(/^On the list +12,000$/m)
  // The last hour, or the one before when it has just turned.
  expect(stdout).toMatch(/^ *12K \|.*##( {3})?$/m)
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
})

test('status explains why more was written than accepted after an import of old signups', async () => {
  await using data = await tempFolder()
  const file = join(data.path, 'journal.db')
  const table = async () => (await runCommand(['status'], { dataDir: data.path })).stdout
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append([makeSignup({ receivedAt: Date.now() })])
  }
  expect(await table()).toMatch(/^Written .*\n\n/m)
  {
    await using journal = openSqliteJournal(file)
    await journal.intake.append(makeSignups(2, { receivedAt: Date.UTC(2020, 1) }))
  }
  {
    await using service = await bootService({ dataDir: data.path })
    await allDelivered(service)
  }
  expect(await table()).toMatch(
    /^Written +\d +3 +3\nA signup counts as accepted on its own day, as written on the day of its row\.\n\n/m,
  )
})

test(
  'status --watch prints new figures until Ctrl-C, which is a good end',
  { tags: 'slow' },
  async () => {
    await using data = await tempFolder()
    await using journal = openSqliteJournal(join(data.path, 'journal.db'))
    const watching = startCommand(['status', '--watch', '--json'], { dataDir: data.path })
    const accepted = () =>
      (watching.stdout().match(/[^\n]+\n/g) ?? []).map(
        (line) => (JSON.parse(line) as Status).accepted.all,
      )
    await expect.poll(accepted).toContain(0)
    await journal.intake.append(makeSignups(2))
    await expect.poll(accepted).toContain(2)
    watching.kill('SIGINT')
    expect(await watching.ended).toMatchObject({ code: 0, stderr: '' })
  },
)

test('today and seven days begin at midnight in UTC, wherever the machine is', async () => {
  vi.stubEnv('TZ', 'America/New_York')
  onTestFinished(() => void vi.unstubAllEnvs())
  await using data = await tempFolder()
  await using journal = openSqliteJournal(join(data.path, 'journal.db'))
  const midnight = Date.UTC(2026, 10, 20)
  const day = 24 * 60 * 60 * 1000
  const times = [midnight, midnight - 1, midnight - 6 * day, midnight - 6 * day - 1]
  await journal.intake.append(times.map((receivedAt) => makeSignup({ receivedAt })))
  const { accepted, hours } = await readStatus(journal.reader, undefined, midnight + 90 * 60 * 1000)
  expect(accepted).toEqual({ today: 1, sevenDays: 3, all: 4 })
  expect(hours).toHaveLength(24)
  expect(hours.slice(-3)).toEqual([
    { from: '2026-11-19T23:00:00.000Z', accepted: 1, written: 0 },
    { from: '2026-11-20T00:00:00.000Z', accepted: 1, written: 0 },
    { from: '2026-11-20T01:00:00.000Z', accepted: 0, written: 0 },
  ])
})

test('the quota that is left counts the calls of the last minute and of the last day', async () => {
  await using journal = openSqliteJournal(':memory:')
  const account = 'robot@example.com'
  const now = Date.UTC(2026, 10, 20, 12)
  const hour = 60 * 60 * 1000
  for (const at of [now - 25 * hour, now - 23 * hour, now - 2 * hour, now - 10_000]) {
    const clock = { now: () => at, elapsed: () => 0 }
    await journal.callLedger(account, clock).reserve({ perMinute: 9, perDay: 9 })
  }
  const google = { credentials: { email: account }, quota: { perMinute: 50, perDay: 1000 } }
  const { quota } = await readStatus(journal.reader, google, now)
  expect(quota).toEqual({
    perMinute: { limit: 50, left: 49 },
    perDay: { limit: 1000, left: 997 },
  })
})

test('status without a journal says what to do, and makes none', async () => {
  await using folder = await tempFolder()
  const { code, stdout, stderr } = await runCommand(['status'], { dataDir: folder.path })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^The journal \S*journal\.db cannot be opened: .* Check DATA_DIR, .*\n$/)
  expect(await readdir(folder.path)).toEqual([])
})
