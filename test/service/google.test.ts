import { expect, test } from 'vitest'
import { ManualClock } from '../../emulators/google-sheets/clock.ts'
import { appendTo } from '../../harness/sqlite-journal.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import {
  addressesInSheet,
  createGoogleWorld,
  type GoogleWorld,
} from '../../harness/google-world.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { postSignup, postSignups } from '../../harness/post-signup.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

function boot(world: GoogleWorld, dataDir?: string): Promise<BootedService> {
  return bootService({ env: world.env, ...(dataDir !== undefined && { dataDir }) })
}

function start(world: GoogleWorld, dataDir?: string): Promise<RunningService> {
  return startService({ env: world.env, ...(dataDir !== undefined && { dataDir }) })
}

/** How many calls of the Sheets API there were so far; calls for tokens do not count. */
function callCount({ emulator }: GoogleWorld): number {
  return emulator.counters.reads + emulator.counters.writes
}

async function readiness(service: Pick<BootedService, 'url' | 'output'>): Promise<unknown> {
  return (await fetch(`${service.url}/api/ready`)).json()
}

test('the first signup costs at most three calls, and the next one costs one', async () => {
  await using world = await createGoogleWorld()
  await using service = await boot(world)
  await postSignup(service.url, { email: 'first@example.com' })
  await expect.poll(() => addressesInSheet(world)).toHaveLength(1)
  const cold = callCount(world)
  expect(cold).toBeLessThanOrEqual(3)
  await postSignup(service.url, { email: 'second@example.com' })
  await expect.poll(() => addressesInSheet(world)).toHaveLength(2)
  expect(callCount(world) - cold).toBe(1)
})

test('1,000 signups that come before the first answer of Google cost at most three calls, and each is written once', async () => {
  const clock = new ManualClock(Date.now())
  await using world = await createGoogleWorld({ clock })
  world.emulator.faults.add({ on: 'read', delayMs: 1_000 })
  await using service = await boot(world)
  const emails = Array.from({ length: 1000 }, (_, index) => `person${index}@example.com`)
  await postSignups(service.url, emails)
  await expect.poll(() => callCount(world)).toBe(1)
  clock.advance(1_000)
  await expect.poll(() => addressesInSheet(world)).toHaveLength(1000)
  expect((await addressesInSheet(world)).toSorted()).toEqual(emails.toSorted())
  expect(callCount(world)).toBeLessThanOrEqual(3)
})

interface Mistake {
  readonly what: string
  readonly message: string
  /** The sentence that the public gets, when it is not the message. */
  readonly error?: string
  readonly hint: RegExp
  readonly happen: (world: GoogleWorld) => void
  readonly mend: (world: GoogleWorld) => void
}

const mistakes: readonly Mistake[] = [
  {
    what: 'a spreadsheet that is not shared',
    message: 'The caller does not have permission',
    hint: /Share the spreadsheet with robot.*as Editor.*1 to 2 minutes/,
    happen: ({ emulator, spreadsheetId, email }) =>
      emulator.spreadsheet(spreadsheetId).share(email, 'none'),
    mend: ({ emulator, spreadsheetId, email }) =>
      emulator.spreadsheet(spreadsheetId).share(email, 'editor'),
  },
  {
    what: 'a token that lives for half a day',
    message: 'The access token may live for more than an hour',
    hint: /Its life is 43200 s, and may be 3600 s at most/,
    happen: ({ emulator }) => void (emulator.tokens.lifetimeSeconds = 43_200),
    mend: ({ emulator }) => void (emulator.tokens.lifetimeSeconds = 3_599),
  },
  {
    what: 'an API that is not enabled',
    message: 'Google Sheets API has not been used in project 123456789012 before',
    error: 'The Google Sheets API is not enabled',
    hint: /Correct the problem/,
    happen: ({ emulator }) =>
      emulator.faults.add(
        { on: 'read', times: 1000, apply: 'never', answer: 'apiDisabled' },
        { on: 'write', times: 1000, apply: 'never', answer: 'apiDisabled' },
      ),
    mend: ({ emulator }) => emulator.faults.clear(),
  },
]

// Each test waits 5 s for the next try, so they run side by side.
test.concurrent.for(mistakes)(
  '$what is reported in the log, in /api/ready and in each 202, and signups are kept until it is solved',
  async ({ message, error = message, hint, happen, mend }, { expect }) => {
    await using world = await createGoogleWorld()
    happen(world)
    await using service = await boot(world)
    // Opening the spreadsheet shows these mistakes before the first signup.
    const first = await postSignup(service.url, { email: 'first@example.com' })
    expect(first.status).toBe(202)
    const blocked = { delivery: { state: 'blocked', error } }
    await expect.poll(() => readiness(service)).toMatchObject(blocked)
    const second = await postSignup(service.url, { email: 'second@example.com' })
    expect(second.status).toBe(202)
    const answer = await second.json()
    expect(answer).toMatchObject({ status: 'accepted', ...blocked })
    const told = JSON.stringify([answer, await readiness(service)])
    expect(told, 'in public').not.toMatch(/hint|robot|SHEETS_|Google says|project/)
    expect((await fetch(`${service.url}/api/ready`)).status).toBe(200)
    expect((await fetch(`${service.url}/api/ready?strict`)).status).toBe(503)
    expect(service.output()).toContain(message)
    expect(service.output()).toMatch(hint)
    mend(world)
    await expect
      .poll(() => addressesInSheet(world))
      .toEqual(['first@example.com', 'second@example.com'])
    await expect
      .poll(() => readiness(service))
      .toMatchObject({ delivery: { state: 'ok', backlog: 0 } })
    expect(service.output().split(message).length - 1).toBe(1)
  },
)

test.each([
  ['hangs', { delayMs: 60_000 }, 'No reason is known yet'],
  ['refuses', { answer: 'notFound' }, 'Requested entity was not found'],
] as const)(
  'strict readiness is 503 when no row was written for eleven minutes, restarts included, while Google %s',
  async (_, fault, error) => {
    await using world = await createGoogleWorld()
    await using folder = await tempFolder()
    const receivedAt = Date.now() - 11 * 60_000
    await appendTo(folder.path, [makeSignup({ receivedAt })])
    world.emulator.faults.add({ on: 'read', times: 0, apply: 'never', ...fault })
    await using service = await start(world, folder.path)
    const stalled = { since: new Date(receivedAt).toISOString(), error }
    await expect
      .poll(() => readiness(service))
      .toMatchObject({ status: 'ready', delivery: { backlog: 1, stalled } })
    expect((await fetch(`${service.url}/api/ready?strict`)).status).toBe(503)
    expect((await fetch(`${service.url}/api/ready`)).status).toBe(200)
    // A stop would wait for the call without an answer.
    await service.kill()
  },
)

test(
  'a protected tab is set aside and reported, and the others go on',
  { tags: 'slow' },
  async () => {
    await using world = await createGoogleWorld()
    const sheet = world.emulator.spreadsheet(world.spreadsheetId)
    sheet.addTab('Guarded', [['Email']])
    sheet.protectTab('Guarded')
    await using service = await boot(world)
    await postSignup(service.url, { email: 'kept@example.com', sheetTab: 'Guarded' })
    await postSignup(service.url, { email: 'free@example.com', sheetTab: 'Free' })
    await expect.poll(() => addressesInSheet(world, 'Free')).toEqual(['free@example.com'])
    const answer = await postSignup(service.url, { email: 'too@example.com', sheetTab: 'guarded' })
    const error = 'The tab is protected'
    expect(await answer.json()).toMatchObject({ delivery: { state: 'blocked', error } })
    const ready = JSON.stringify(await readiness(service))
    const [place = ''] = /the tab at place 2 \(gid=\d+\)/.exec(ready) ?? []
    expect(JSON.parse(ready)).toMatchObject({
      delivery: { state: 'partly blocked', tabsSetAside: [{ tab: place, error }] },
    })
    expect(service.output()).toContain(`"tab":"${place}"`)
    expect(ready + service.output(), 'the name of the tab').not.toMatch(/guarded/i)
    expect(service.output()).toContain('You are trying to edit a protected cell')
    sheet.unprotectTab('Guarded')
    await expect
      .poll(() => addressesInSheet(world, 'Guarded'))
      .toEqual(['kept@example.com', 'too@example.com'])
  },
)

test('the service prints neither its key nor a token nor an address, whatever Google answers', async () => {
  await using world = await createGoogleWorld()
  world.emulator.faults.add(
    { on: 'token', apply: 'never', answer: { status: 500, body: 'oops' } },
    { on: 'batchUpdate', apply: 'never', answer: 'unauthenticated' },
    { on: 'batchUpdate', apply: 'never', answer: { status: 502, body: '<html>oops</html>' } },
  )
  await using service = await startService({ env: { ...world.env, LOG_LEVEL: 'trace' } })
  await postSignup(service.url, { email: 'secret.person@example.com', name: 'Very Private' })
  await expect.poll(() => addressesInSheet(world)).toHaveLength(1)
  const key = world.env['SHEETS_PRIVATE_KEY'] ?? ''
  expect(service.output()).not.toContain(key.slice(60, 100))
  expect(service.output()).not.toMatch(/secret\.person|Private|ya29|eyJ/)
})

const ada = { email: 'ada@example.com' }

test('when the settings name another spreadsheet, the signups that wait are delivered there', async () => {
  await using data = await tempFolder()
  await using world = await createGoogleWorld()
  await using other = await createGoogleWorld()
  {
    await using service = await boot(world, data.path)
    await postSignup(service.url, ada)
    await expect.poll(() => addressesInSheet(world)).toEqual([ada.email])
    const calls = callCount(world)
    world.emulator.faults.add({ times: 0, answer: 'unavailable' })
    await postSignup(service.url, { email: 'waiting@example.com' })
    await expect.poll(() => callCount(world)).toBeGreaterThan(calls)
  }
  await using service = await boot(other, data.path)
  await postSignup(service.url, { email: 'new@example.com' })
  await expect
    .poll(() => addressesInSheet(other))
    .toEqual(['waiting@example.com', 'new@example.com'])
  world.emulator.faults.clear()
  expect(await addressesInSheet(world)).toEqual([ada.email])
})

test('a signup whose wait runs out is answered 202, and delivered later', async () => {
  await using world = await createGoogleWorld()
  world.emulator.faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  await using service = await bootService({ env: world.env })
  const answer = await postSignup(service.url, ada, { prefer: 'wait=1' })
  expect(answer.status).toBe(202)
  expect(answer.headers.get('preference-applied')).toBeNull()
  expect(await answer.json()).toEqual({
    id: expect.any(String),
    status: 'accepted',
    sheetTab: 'Sheet1',
    receivedAt: expect.any(String),
  })
  world.emulator.faults.clear()
  await expect.poll(() => addressesInSheet(world)).toEqual([ada.email])
})

test('after SIGTERM signups that wait are answered 202 at once, and the process ends with code 0', async () => {
  await using world = await createGoogleWorld()
  world.emulator.faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  await using service = await startService({ env: world.env })
  const answers = Promise.all(
    Array.from({ length: 20 }, () => postSignup(service.url, ada, { prefer: 'wait=30' })),
  )
  const accepted = async () => {
    const ready = await (await fetch(`${service.url}/api/ready`)).json()
    return (ready as { delivery: { backlog: number } }).delivery.backlog
  }
  await expect.poll(accepted).toBe(20)
  expect(await service.stop()).toBe(0)
  expect((await answers).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202))
})
