import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ManualClock } from '../../emulators/google-sheets/clock.ts'
import { allDelivered, readiness } from '../../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { runDoctor } from '../../harness/run-doctor.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const minutes = 60_000

/** Diagnoses a spreadsheet with a new `DATA_DIR`. */
async function diagnose(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
  await using data = await tempFolder()
  return await runDoctor({ env, dataDir: data.path }, args)
}

/** Expects that doctor finds this fault and no other one. */
async function expectOnlyFault(
  env: Readonly<Record<string, string>>,
  fault: { readonly check: string; readonly message: string; readonly hint: string },
) {
  const { code, faults, of } = await diagnose(env)
  expect({ code, faults }).toEqual({ code: 1, faults: [fault.check] })
  expect(of(fault.check)).toContainEqual({
    check: fault.check,
    state: 'fault',
    message: expect.stringContaining(fault.message),
    hint: expect.stringContaining(fault.hint),
  })
}

const spreadsheetOf = ({ emulator, spreadsheetId }: GoogleWorld) =>
  emulator.spreadsheet(spreadsheetId)

const callsOf = ({ emulator: { counters } }: GoogleWorld) => counters.reads + counters.writes

test('doctor finds no fault in a good set-up, and names the address to share with', async () => {
  await using google = await createGoogleWorld()
  const { code, report, faults } = await diagnose(google.env)
  expect({ code, faults }).toEqual({ code: 0, faults: [] })
  expect(report.account).toBe(google.email)
  const warned = report.findings.filter(({ state }) => state !== 'ok').map(({ check }) => check)
  const doors = ['https', 'proxy', 'hosts', 'bulk', 'new-tabs', 'twice', 'origins']
  expect(warned, 'no service runs').toEqual(['process', ...doors])
  expect(report.findings.map(({ check }) => check)).toEqual([
    ...['settings', 'key', 'clock', 'token', 'api', 'spreadsheet', 'editor', 'tabs', 'room'],
    ...['challenge', 'data', 'disk', 'journal', 'process', 'backlog', 'quota', ...doors],
  ])
})

test('doctor ends with the address to share with, unless the spreadsheet is shared already', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  const sites = JSON.stringify({ sites: { blog: {} } })
  for (const env of [google.env, { ...google.env, ROLLCALL_CONFIG: sites }]) {
    const ending = async () => {
      const { stdout } = await runCommand(['doctor'], { env, dataDir: data.path })
      return stdout.split(/\n\n(?=.* found\.)/)[1]
    }
    expect(await ending()).toBe('No fault found. 8 warnings to think about.\n')
    spreadsheetOf(google).share(google.email, 'viewer')
    const task = `Share the spreadsheet with this address, as Editor:\n${google.email}\n`
    expect(await ending()).toBe(`1 fault found. 8 warnings to think about.\n${task}`)
    spreadsheetOf(google).share(google.email, 'editor')
  }
})

test('each site may have an account of its own, whose calls count apart', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  await using folder = await tempFolder()
  const { emulator } = google
  const other = emulator.createServiceAccount()
  const { id } = emulator.createSpreadsheet({ sharedWith: other.email })
  const credentialsFile = join(folder.path, 'account.json')
  const key = { client_email: other.email, private_key: other.privateKeyPem }
  await writeFile(credentialsFile, JSON.stringify({ type: 'service_account', ...key }))
  const sites = { ours: {}, theirs: { spreadsheet: id, credentialsFile } }
  const env = { ...google.env, ROLLCALL_CONFIG: JSON.stringify({ sites }) }
  {
    await using service = await startService({ env, dataDir: data.path })
    for (const site of Object.keys(sites)) {
      const signup = { email: `${site}@example.com`, site }
      const { status } = await postSignup(service.url, signup, { prefer: 'wait=20' })
      expect(status).toBe(201)
    }
  }
  expect(emulator.spreadsheet(id).rows('Sheet1')[1]?.[0]).toBe('theirs@example.com')
  expect(spreadsheetOf(google).rows('Sheet1')[1]?.[0]).toBe('ours@example.com')
  const { code, report, faults, of } = await runDoctor({ env, dataDir: data.path })
  expect({ code, faults }).toEqual({ code: 0, faults: [] })
  expect(report).not.toHaveProperty('account')
  expect(report.accounts).toEqual({ ours: google.email, theirs: other.email })
  // The ledger of each has the calls of one site alone.
  const left = of('quota').map(({ message }) => Number(/([\d]+) of 50 /.exec(message)?.[1]))
  expect(left.reduce((sum, it) => sum + 50 - it, 0)).toBe(callsOf(google))
})

test('doctor beside a service makes at most six calls, which the ledger has, and changes nothing', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  await using service = await startService({ env: google.env, dataDir: data.path })
  await postSignup(service.url, { email: 'ada@example.com' })
  await allDelivered(service)
  const spreadsheet = spreadsheetOf(google)
  const seen = () => JSON.stringify([spreadsheet.version(), spreadsheet.metadata()])
  const before = seen()
  const callsBefore = callsOf(google)
  const { code, faults, of } = await runDoctor({ env: google.env, dataDir: data.path })
  expect({ code, faults }).toEqual({ code: 0, faults: [] })
  expect(of('process')).toMatchObject([{ state: 'ok' }])
  expect(seen()).toBe(before)
  const calls = callsOf(google) - callsBefore
  expect(calls).toBeGreaterThan(0)
  expect(calls).toBeLessThanOrEqual(6)
  const left = Number(
    /and ([\d,]+) of 10,000/.exec(of('quota')[0]?.message ?? '')?.[1]?.replace(',', ''),
  )
  expect(left).toBe(10_000 - callsOf(google))
})

test('doctor says that Google does not know an account that was deleted', async () => {
  await using google = await createGoogleWorld()
  const gone = 'gone@emulated-project.iam.gserviceaccount.com'
  await expectOnlyFault(
    { ...google.env, SHEETS_CREDENTIALS_EMAIL: gone },
    { check: 'token', message: 'Invalid Credentials', hint: 'account not found' },
  )
})

test('doctor says that a wrong id names no spreadsheet, and which setting has it', async () => {
  await using google = await createGoogleWorld()
  await expectOnlyFault(
    { ...google.env, SHEETS_SHEET_ID: `${google.spreadsheetId}x` },
    { check: 'spreadsheet', message: 'Requested entity was not found', hint: 'SHEETS_SHEET_ID' },
  )
})

test('doctor says with which address to share a spreadsheet that is not shared', async () => {
  await using google = await createGoogleWorld()
  spreadsheetOf(google).share(google.email, 'none')
  await expectOnlyFault(google.env, {
    check: 'spreadsheet',
    message: 'The caller does not have permission',
    hint: `Share the spreadsheet with ${google.email} as Editor`,
  })
})

test('doctor says that a spreadsheet is shared, but not as Editor', async () => {
  await using google = await createGoogleWorld()
  spreadsheetOf(google).share(google.email, 'viewer')
  await expectOnlyFault(google.env, {
    check: 'editor',
    message: `The caller does not have permission: it is shared with ${google.email}, but not as Editor`,
    hint: 'as Editor',
  })
})

test.each([
  ['ahead of', -10],
  ['behind', 10],
])(
  'doctor says that the clock is 10 minutes %s that of Google',
  async (words, googleIsAheadByMinutes) => {
    const clock = new ManualClock(Date.now() + googleIsAheadByMinutes * minutes)
    await using google = await createGoogleWorld({ clock })
    const { code, faults, of } = await diagnose(google.env)
    expect(code).toBe(1)
    // Google gives no token to a clock that is so far ahead.
    expect(faults).toEqual(words === 'behind' ? ['clock'] : ['clock', 'token'])
    expect(of('clock')[0]?.message).toContain(`is 10 minutes ${words} Google's`)
    expect(of('clock')[0]?.hint).toContain('synchronisation')
  },
)

test("doctor tells Google's own quota that is used up from that of the settings", async () => {
  await using google = await createGoogleWorld()
  google.emulator.faults.add({ on: 'get', answer: 'quota' })
  await expectOnlyFault(google.env, {
    check: 'api',
    message: 'Quota exceeded',
    hint: "Google's quota",
  })
  const few = { ...google.env, SHEETS_REQUESTS_PER_DAY: '2' }
  const { code, faults, of } = await diagnose(few)
  expect({ code, faults }).toEqual({ code: 1, faults: ['quota'] })
  expect(of('tabs')).toMatchObject([{ state: 'skipped' }])
  expect(of('quota')).toMatchObject([
    {
      message: '48 of 50 calls are left this minute, and 0 of 2 in 24 hours',
      hint: expect.stringContaining('SHEETS_REQUESTS_PER_DAY'),
    },
  ])
})

test('doctor says from the journal what blocked delivery, when no service runs', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  spreadsheetOf(google).share(google.email, 'viewer')
  await using service = await startService({ env: google.env, dataDir: data.path })
  await postSignup(service.url, { email: 'ada@example.com' })
  await expect.poll(async () => (await readiness(service)).body.delivery.state).toBe('blocked')
  await service.kill()
  const { of, faults } = await runDoctor({ env: google.env, dataDir: data.path })
  expect(faults).toEqual(['editor'])
  expect(of('delivery')).toMatchObject([
    {
      state: 'warning',
      message: expect.stringMatching(
        /^when it ran, was blocked since \d.*: The caller does not have/,
      ),
    },
  ])
  expect(of('backlog')[0]?.message).toMatch(/^signups that wait for the spreadsheet: 1, /)
})
