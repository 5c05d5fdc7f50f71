// @module-tag slow
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import {
  addressesInSheet,
  createGoogleWorld,
  type GoogleWorld,
} from '../../harness/google-world.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { postSignup, postSignups } from '../../harness/post-signup.ts'
import { type CommandOptions, runCommand, startCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { Signup } from '../../src/signup/signup.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const day = 24 * 60 * 60 * 1000
const people = ['ada', 'bob', 'eve', 'tim'].map((name) => `${name}@example.com`)

/** What a backfill tells, and how it ended. */
async function backfill(options: CommandOptions, ...args: string[]) {
  const { code, stdout, stderr } = await runCommand(['backfill', '--json', ...args], options)
  return { code, stderr, report: stdout === '' ? undefined : (JSON.parse(stdout) as object) }
}

/** Makes a journal whose signups were written to another spreadsheet. */
async function makeDelivered(dataDir: string, signups: readonly Signup[]): Promise<void> {
  const file = join(dataDir, 'journal.db')
  await using journal = openSqliteJournal(file, { spreadsheet: 'an earlier one' })
  for (let at = 0; at < signups.length; at += 5_000) {
    await journal.intake.append(signups.slice(at, at + 5_000))
    const batch = await freezeNext(journal.delivery, { rowsMax: 5_000, bytesMax: 1e9 })
    await journal.delivery.settle(batch?.number ?? 0, noon)
  }
}

/** Expects exactly one row for each of these addresses, once a service has delivered everything. */
async function expectOnce(google: GoogleWorld, dataDir: string, emails: readonly string[]) {
  await using service = await startService({ env: google.env, dataDir })
  await allDelivered(service)
  expect((await addressesInSheet(google)).toSorted()).toEqual(emails.toSorted())
}

test('after a move from the workbook, a Google Sheet gets what it does not have, and only once', async () => {
  await using data = await tempFolder()
  {
    await using service = await startService({ dataDir: data.path })
    await postSignups(service.url, people, 1)
    await allDelivered(service)
    await service.stop()
  }
  await using google = await createGoogleWorld()
  const options = { env: google.env, dataDir: data.path }
  await using service = await startService(options)
  await postSignup(service.url, { email: 'new@example.com' })
  await allDelivered(service)

  const dry = await backfill(options, '--all', '--dry-run')
  expect(dry).toMatchObject({
    code: 0,
    stderr: '',
    report: { tabs: [{ sheetTab: 'Sheet1', signups: 4 }], putBack: null, present: 1 },
  })
  await allDelivered(service)
  expect(await addressesInSheet(google)).toEqual(['new@example.com'])

  expect(await backfill(options, '--all')).toMatchObject({ code: 0, report: { putBack: 4 } })
  await allDelivered(service)
  const all = ['new@example.com', ...people]
  expect(await addressesInSheet(google)).toEqual(all)

  expect(await backfill(options, '--all')).toMatchObject({ report: { putBack: 0, present: 5 } })
  const handle = google.emulator.spreadsheet(google.spreadsheetId)
  handle.deleteRows('Sheet1', 3)
  handle.sortRows('Sheet1', 0, 'descending')
  const later = await backfill(options, '--all')
  expect(later).toMatchObject({ report: { putBack: 0, present: 4, deleted: 1 } })
  expect(await backfill(options, '--all', '--deleted')).toMatchObject({ report: { putBack: 1 } })
  await allDelivered(service)
  expect((await addressesInSheet(google)).toSorted()).toEqual(all.toSorted())
})

test('--since leaves older signups out, and a row that somebody copied over is not written again', async () => {
  await using data = await tempFolder()
  await using google = await createGoogleWorld()
  const signups = people.map((email, at) => makeSignup({ email, receivedAt: noon + at * day }))
  await makeDelivered(data.path, signups)
  const handle = google.emulator.spreadsheet(google.spreadsheetId)
  handle.addTab('Copied', [
    ['Email', 'Timestamp'],
    ['eve@example.com', new Date(noon + 2 * day).toISOString()],
  ])
  const options = { env: google.env, dataDir: data.path }
  // A signup of exactly that moment is wanted, and none of a millisecond before.
  for (const [at, signups] of [
    [noon + day, 2],
    [noon + day + 1, 1],
  ] as const) {
    const since = ['--since', new Date(at).toISOString(), '--dry-run']
    const { report } = await backfill(options, ...since)
    expect(report).toMatchObject({ tabs: [{ sheetTab: 'Sheet1', signups }] })
  }
  const { report } = await backfill(options, '--since', '2026-11-21')
  expect(report).toMatchObject({ putBack: 2, present: 1, since: '2026-11-21T00:00:00.000Z' })
  await expectOnce(google, data.path, ['bob@example.com', 'tim@example.com'])
})

test('a backfill that is killed and run again, twice at a time, brings each signup once', async () => {
  await using data = await tempFolder()
  await using google = await createGoogleWorld()
  const signups = makeSignups(6_000).map((signup, at) => ({ ...signup, receivedAt: noon + at }))
  await makeDelivered(data.path, signups)
  const options = { env: google.env, dataDir: data.path }
  await using reader = openSqliteJournal(join(data.path, 'journal.db'), {}, { access: 'beside' })
  const backlog = () => reader.reader.backlog()

  // So that this process sees the first of it in time.
  const killed = startCommand(['backfill', '--all'], { ...options, under: ['nice', '-n', '10'] })
  while ((await backlog()) === 0) await sleep(1)
  killed.kill('SIGKILL')
  await killed.ended.catch(() => undefined)
  // Else the kill came before the work, or after it.
  const before = await backlog()
  expect(before).toBeGreaterThan(0)
  expect(before).toBeLessThan(6_000)

  const runs = await Promise.all([backfill(options, '--all'), backfill(options, '--all')])
  expect(runs).toMatchObject([{ code: 0 }, { code: 0 }])
  expect(await backlog()).toBe(6_000)
  await expectOnce(
    google,
    data.path,
    signups.map(({ email }) => email),
  )
})

test('a person who was forgotten and a duplicate without a row do not come back', async () => {
  await using data = await tempFolder()
  await using google = await createGoogleWorld()
  const file = join(data.path, 'journal.db')
  {
    const policy = { spreadsheet: 'an earlier one', duplicates: 'ignore' } as const
    await using journal = openSqliteJournal(file, policy)
    const emails = ['ada@example.com', 'Ada@example.com', 'bob@example.com']
    await journal.intake.append(emails.map((email) => makeSignup({ email })))
    const batch = await freezeNext(journal.delivery)
    await journal.delivery.settle(batch?.number ?? 0, noon)
    await journal.erasure.forget('bob@example.com')
    await journal.erasure.eraseNext(0, 'bob@example.com')
  }
  const options = { env: { ...google.env, DUPLICATES: 'ignore' }, dataDir: data.path }
  const { report } = await backfill(options, '--all', '--deleted')
  expect(report).toMatchObject({ putBack: 1, erased: 1 })
  await expectOnce(google, data.path, ['ada@example.com'])
})

test('a person sees by tab what would be delivered', async () => {
  await using data = await tempFolder()
  await makeDelivered(data.path, [...makeSignups(2, { sheetTab: 'News' }), makeSignup()])
  const { code, stdout } = await runCommand(['backfill', '--all', '--dry-run'], {
    dataDir: data.path,
  })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Not there, of tab News +2\nNot there, of tab Sheet1 +1\n/)
})

test.each([[[]], [['--all', '--since', '2026-11-20']]])(
  '%j is refused in one line',
  async (args) => {
    expect(await runCommand(['backfill', ...args])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Give --all or --since DATE.\n',
    })
  },
)
