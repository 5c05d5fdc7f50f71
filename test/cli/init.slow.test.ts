// @module-tag slow
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  addressesInSheet,
  createGoogleWorld,
  type GoogleWorld,
} from '../../harness/google-world.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { keys, startOnTerminal } from '../../harness/terminal.ts'
import { parseEnvFile } from '../../src/config/env/env-file.ts'

const { enter, down, ctrlC, clear } = keys

/** A world, a working folder with a key file, and the settings that only tests need. */
async function setUp() {
  const google = await createGoogleWorld()
  const folder = await tempFolder()
  const { SHEETS_PRIVATE_KEY, SHEETS_API_URL = '', SHEETS_TOKEN_URL = '' } = google.env
  const keyFile = join(folder.path, 'key.json')
  const key = {
    type: 'service_account',
    client_email: google.email,
    private_key: SHEETS_PRIVATE_KEY,
  }
  await writeFile(keyFile, JSON.stringify(key))
  const envPath = join(folder.path, '.env')
  return {
    google,
    folder: folder.path,
    keyFile,
    envPath,
    env: { SHEETS_API_URL, SHEETS_TOKEN_URL },
    settings: async () => parseEnvFile(await readFile(envPath, 'utf8')).variables,
    async [Symbol.asyncDispose]() {
      await google[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

/** What the terminal shows, and what a person types then; or what happens meanwhile. */
type Step = readonly [shows: string, typed: string] | (() => unknown)

/** The questions of a set-up with Google, and how a person answers each. */
function answers({ keyFile, google }: SetUp) {
  return {
    where: ['Where should the signups go?', enter],
    way: ['How does Rollcall sign in at Google?', enter],
    key: ['The path of the JSON key file', keyFile + enter],
    sheet: ['The address of the spreadsheet', url(google) + enter],
    challenge: ['A challenge that keeps bots out?', enter],
    origins: ['The web pages that may send signups', `${clear}https://example.com${enter}`],
  } as const satisfies Record<string, Step>
}

const workbookAnswers = [
  ['Where should the signups go?', down + enter],
  ['A challenge that keeps bots out?', enter],
  ['The web pages that may send signups', enter],
] as const

const url = ({ spreadsheetId }: GoogleWorld) =>
  `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=0`

const noTest = [
  ['No fault found.', ''],
  ['Send a test signup, to see its row?', 'n'],
] as const

/** Runs `init` to its end, and expects what it says, step by step. Resolves with all that it has shown. */
async function expectInit(
  { folder, env = {} }: { folder: string; env?: Readonly<Record<string, string>> },
  steps: readonly Step[],
  { code = 0, more = {} } = {},
): Promise<string> {
  using terminal = startOnTerminal(['init'], { folder, env: { ...env, ...more } })
  for (const step of steps) {
    if (typeof step === 'function') {
      await step()
      continue
    }
    await terminal.sees(step[0])
    terminal.type(step[1])
  }
  expect(await terminal.ended).toBe(code)
  return terminal.text()
}

test('init sets up a Google Sheet, writes .env with mode 0600, and ends with doctor', async () => {
  await using world = await setUp()
  const { envPath, google } = world
  const { where, way, key, ...others } = answers(world)
  const share = 'Share the spreadsheet with this address, as Editor'
  const shared: Step[] = [
    [share, ''],
    [google.email, ''],
  ]
  const shown = await expectInit(world, [
    where,
    way,
    key,
    ...shared,
    ...Object.values(others),
    ...noTest,
  ])
  expect(await world.settings()).toEqual({
    SHEETS_SHEET_ID: url(google),
    SHEETS_CREDENTIALS_EMAIL: google.email,
    SHEETS_PRIVATE_KEY: google.env['SHEETS_PRIVATE_KEY'],
    ALLOWED_ORIGINS: 'https://example.com',
  })
  expect((await stat(envPath)).mode & 0o777).toBe(0o600)
  expect(shown).not.toContain('BEGIN PRIVATE KEY')
})

test('init sets up a key that acts as a person, and what the machine has', async () => {
  await using world = await setUp()
  const { emulator, email } = world.google
  const { where, way, key, challenge, origins } = answers(world)
  const sheet = emulator.createSpreadsheet({ sharedWith: 'grace@example.com' }).id
  emulator.tokens.allow(email, 'grace@example.com')
  await expectInit(world, [
    ...[where, [way[0], down + enter] as const, key],
    ['The address of the person', `grace${enter}`],
    ['not an email address', `@example.com${enter}`],
    ['Share the spreadsheet with this address, as Editor', ''],
    ['The address of the spreadsheet', sheet + enter],
    ...[challenge, origins, ...noTest],
  ])
  expect(await world.settings()).toMatchObject({ SHEETS_SUBJECT: 'grace@example.com' })
  await rm(world.envPath)
  emulator.tokens.machine = 'machine@my-project.iam.gserviceaccount.com'
  const more = { GCE_METADATA_HOST: new URL(emulator.url).host, HOME: world.folder }
  const steps: Step[] = [
    ...[where, [way[0], down + down + enter] as const],
    ['the account that signs in', ''],
    ['The address of the spreadsheet', sheet + enter],
    ...[challenge, origins],
    ['Share the spreadsheet with machine@my-project.iam.gserviceaccount.com as Editor', ''],
    ['Check again?', 'n'],
  ]
  await expectInit(world, steps, { code: 1, more })
  expect(await world.settings()).toMatchObject({ SHEETS_SIGN_IN: 'application-default' })
})

test('a wrong answer is explained and asked for again', async () => {
  await using world = await setUp()
  const { where, way, key, sheet, challenge, origins } = answers(world)
  await expectInit(world, [
    ...[where, way],
    ['The path of the JSON key file', enter],
    ['Type an answer', `${world.keyFile}x${enter}`],
    ['does not exist', clear + key[1]],
    ['The address of the spreadsheet', `https://docs.google.com/document/d/abc${enter}`],
    ['not the id or the URL of a Google spreadsheet', clear + sheet[1]],
    ...[challenge, origins, ...noTest],
  ])
})

test('init asks for the challenge, and never shows its secret key', async () => {
  await using world = await setUp()
  const secret = '1x0000000000000000000000000000000AA'
  const shown = await expectInit({ folder: world.folder }, [
    ['Where should the signups go?', down + enter],
    ['A challenge that keeps bots out?', down + enter],
    ['Its site key', `${secret}${enter}`],
    ['holds a secret key', `${clear}1x00000000000000000000AA${enter}`],
    ['Its secret key', secret + enter],
    ['The web pages that may send signups', enter],
    ['has the test keys of Turnstile', ''],
    ...noTest,
  ])
  expect(await world.settings()).toEqual({
    CHALLENGE_PROVIDER: 'turnstile',
    CHALLENGE_SITE_KEY: '1x00000000000000000000AA',
    CHALLENGE_SECRET_KEY: secret,
    ALLOWED_ORIGINS: '*',
  })
  expect(shown.split('Its secret key')[1]).not.toContain(secret)
})

test('init turns the proof of work on without asking for keys', async () => {
  await using world = await setUp()
  await expectInit({ folder: world.folder }, [
    ['Where should the signups go?', down + enter],
    ['A challenge that keeps bots out?', down.repeat(4) + enter],
    ['The web pages that may send signups', enter],
    ...noTest,
  ])
  expect(await world.settings()).toEqual({ CHALLENGE_PROVIDER: 'altcha', ALLOWED_ORIGINS: '*' })
})

describe('the tab of signups that name none', () => {
  const first = 'Which tab gets the signups that name none?'
  const named = (tab: string) => `A new tab named ${tab}`

  test.each([
    ['the only tab, while it is empty', ['Tabelle1'], {}, ['Tabelle1', named('Sheet1')]],
    ['a new tab beside data of somebody', ['Data'], {}, [named('Sheet1'), 'Data']],
    ['Sheet1 among others', ['2026', 'Sheet1'], {}, ['Sheet1', '2026']],
    ['the one that is set', ['Tabelle1'], { DEFAULT_SHEET_TAB: 'X' }, [named('X'), 'Tabelle1']],
  ])('is first of all %s, and is written when it is another one', async (...given) => {
    const [, tabs, more, choices] = given
    await using world = await setUp()
    const spreadsheet = world.google.emulator.spreadsheet(world.google.spreadsheetId)
    spreadsheet.renameTab('Sheet1', tabs.at(-1) ?? '')
    if (tabs.length > 1) spreadsheet.addTab('2026')
    if (tabs.includes('Data')) spreadsheet.appendRows('Data', [['mine']])
    const { challenge, origins, ...before } = answers(world)
    for (const [at, typed] of [enter, down + enter].entries()) {
      await rm(world.envPath, { force: true })
      const offered = [first, ...choices].map((it): Step => [it, ''])
      const asked = [...Object.values(before), ...offered, ['', typed] as const]
      await expectInit(world, [...asked, challenge, origins, ...noTest], { more })
      const { DEFAULT_SHEET_TAB: written } = await world.settings()
      const chosen = choices[at] ?? ''
      const isPresent = chosen === 'Sheet1' || chosen.startsWith('A new tab')
      expect(written).toBe(isPresent ? undefined : chosen)
    }
  })
})

describe('with a file .env', () => {
  test('a value is replaced only after a yes, and everything else stays', async () => {
    await using world = await setUp()
    const { folder, envPath, google } = world
    const mine = '# Mine\nPORT=3456\nALLOWED_ORIGINS=https://old.example # the old page\n'
    await writeFile(envPath, `${mine}SHEETS_SHEET_ID=${'a'.repeat(44)}\n`, { mode: 0o644 })
    await writeFile(`${envPath}.tmp`, 'left by a crash', { mode: 0o644 })
    const { where, way, key, sheet, challenge, origins } = answers(world)
    await expectInit(world, [
      ...[where, way, key, [sheet[0], clear + sheet[1]] as const, challenge, origins],
      ['.env sets SHEETS_SHEET_ID to', `y`],
      ['.env sets ALLOWED_ORIGINS to "https://old.example". Replace it?', enter],
      ...noTest,
    ])
    expect(await world.settings()).toEqual({
      PORT: '3456',
      ALLOWED_ORIGINS: 'https://old.example',
      SHEETS_SHEET_ID: url(google),
      SHEETS_CREDENTIALS_EMAIL: google.email,
      SHEETS_PRIVATE_KEY: google.env['SHEETS_PRIVATE_KEY'],
    })
    expect((await readFile(envPath, 'utf8')).startsWith(mine)).toBe(true)
    expect((await stat(envPath)).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('a second run keeps the account, and writes nothing when nothing changes', async () => {
    await using world = await setUp()
    const { envPath, google } = world
    await expectInit(world, [...Object.values(answers(world)), ...noTest])
    const before = await readFile(envPath, 'utf8')
    await expectInit(world, [
      ['Where should the signups go?', enter],
      [`Keep the sign-in: ${google.email}?`, enter],
      ['The address of the spreadsheet', enter],
      ['A challenge that keeps bots out?', enter],
      ['The web pages that may send signups', enter],
      [`${envPath} stays as it is.`, ''],
      ...noTest,
    ])
    expect(await readFile(envPath, 'utf8')).toBe(before)
  })

  test('a link is not written through', async () => {
    await using world = await setUp()
    const { folder, envPath } = world
    await mkdir(join(folder, 'elsewhere'))
    await writeFile(join(folder, 'elsewhere/env'), '')
    await symlink('elsewhere/env', envPath)
    await expectInit({ folder: world.folder }, [['is a link', '']], { code: 1 })
    expect(await readFile(join(folder, 'elsewhere/env'), 'utf8')).toBe('')
  })
})

test.each([0, 1, 2, 3, 4, 5])('Ctrl-C at question %i writes nothing', async (question) => {
  await using world = await setUp()
  const all = Object.values(answers(world))
  const stopped: Step[] = [
    [all[question]?.[0] ?? '', ctrlC],
    ['Stopped. Nothing was written.', ''],
  ]
  await expectInit(world, [...all.slice(0, question), ...stopped], { code: 1 })
  expect(await readdir(world.folder)).toEqual(['key.json'])
})

test('after a fault is mended, doctor runs again', async () => {
  await using world = await setUp()
  const { emulator, spreadsheetId, email } = world.google
  const spreadsheet = emulator.spreadsheet(spreadsheetId)
  spreadsheet.share(email, 'none')
  const { challenge, origins, ...before } = answers(world)
  const unread = 'cannot be read yet: signups go to its tab Sheet1, unless DEFAULT_SHEET_TAB names'
  await expectInit(world, [
    ...Object.values(before),
    [unread, ''],
    ...[challenge, origins],
    ['1 fault found.', ''],
    () => spreadsheet.share(email, 'editor'),
    ['Check again?', enter],
    ...noTest,
  ])
})

describe('the test signup', () => {
  const send = ['Send a test signup, to see its row?', enter] as const

  test('is written to a Google Sheet, and removed again', async () => {
    await using world = await setUp()
    let written: unknown[] = []
    const look = async () => (written = await addressesInSheet(world.google))
    const removal: Step[] = [['Remove it again?', ''], look, ['', enter], ['It is removed.', '']]
    await expectInit(world, [...Object.values(answers(world)), send, ...removal])
    expect(written).toEqual([expect.stringMatching(/^rollcall-test-\w+@example\.com$/)])
    expect(await addressesInSheet(world.google)).toEqual([])
    const { stdout } = await runCommand(['export'], world)
    expect(stdout).not.toContain('rollcall-test')
  })

  test.each([
    ['a no', 'n', 0],
    ['Ctrl-C', ctrlC, 1],
  ])(
    'stays in the local workbook after %s, and init says how to remove it',
    async (_, key, code) => {
      await using world = await setUp()
      const steps = [...workbookAnswers, send, ['Remove it again?', key]] as const
      const shown = await expectInit({ folder: world.folder }, steps, { code })
      const [address] = addressesIn(join(world.folder, 'data'))
      expect(address).toMatch(/^rollcall-test-\w+@example\.com$/)
      expect(shown).toContain(`rollcall -- forget ${address}`)
    },
  )

  test('is not sent when signups are closed, and is said to take a seat', async () => {
    await using world = await setUp()
    const more = { CLOSES_AT: '2026-01-01T00:00:00Z', CLOSES_AFTER: '5' }
    const steps: Step[] = [
      ['It takes one of the seats for good.', enter],
      ['has no row, and gets none: signups are closed (CLOSES_AT, CLOSES_AFTER).', ''],
    ]
    await expectInit({ folder: world.folder }, [...workbookAnswers, ...steps], { code: 1, more })
  })

  test('without a row is given up, and the reason is told', async () => {
    await using world = await setUp()
    const { google, folder } = world
    const share = (as: 'viewer' | 'editor') =>
      google.emulator.spreadsheet(google.spreadsheetId).share(google.email, as)
    const reason = 'has no row, and gets none: The caller does not have permission'
    const steps: Step[] = [[send[0], ''], () => share('viewer'), ['', enter], [reason, '']]
    await expectInit(world, [...Object.values(answers(world)), ...steps], { code: 1 })
    share('editor')
    await using _service = await startService({ env: google.env, dataDir: join(folder, 'data') })
    const exported = async () => (await runCommand(['export'], world)).stdout
    await expect.poll(exported).not.toContain('rollcall-test')
    await expect.poll(() => addressesInSheet(google)).toEqual([])
  })

  test('is not offered beside a running service, which has to start again', async () => {
    await using world = await setUp()
    await using service = await startService({ dataDir: join(world.folder, 'data') })
    await expectInit({ folder: world.folder }, [
      ...workbookAnswers,
      ['A service is running: start it again', ''],
    ])
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200)
  })
})

test('without a terminal, init says what to do instead', async () => {
  await using folder = await tempFolder()
  const { code, stdout, stderr } = await runCommand(['init'], { folder: folder.path })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('needs a terminal')
})
