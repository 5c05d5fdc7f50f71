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
import { keys, startOnTerminal, type Terminal } from '../../harness/terminal.ts'
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

/** The questions of a set-up with Google, and how a person answers each. */
const answers = ({
  keyFile,
  google,
}: SetUp): readonly (readonly [asks: string, answer: string])[] => [
  ['Where should the signups go?', enter],
  ['How does Rollcall sign in at Google?', enter],
  ['The path of the JSON key file', keyFile + enter],
  ['The address of the spreadsheet', url(google) + enter],
  ['A challenge that keeps bots out?', enter],
  ['The web pages that may send signups', clear + 'https://example.com' + enter],
]

const workbookAnswers = [
  ['Where should the signups go?', down + enter],
  ['A challenge that keeps bots out?', enter],
  ['The web pages that may send signups', enter],
] as const

const url = ({ spreadsheetId }: GoogleWorld) =>
  `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=0`

async function answer(
  terminal: Terminal,
  all: readonly (readonly [asks: string, answer: string])[],
): Promise<void> {
  for (const [asks, typed] of all) {
    await terminal.sees(asks)
    terminal.type(typed)
  }
}

const noTest = [
  ['No fault found.', ''],
  ['Send a test signup, to see its row?', 'n'],
] as const

const isTmp = (name: string) => name.endsWith('.tmp')

test('init sets up a Google Sheet, writes .env with mode 0600, and ends with doctor', async () => {
  await using world = await setUp()
  const { folder, env, envPath, google } = world
  using terminal = startOnTerminal(['init'], { folder, env })
  await answer(terminal, answers(world).slice(0, 3))
  await terminal.sees(`Share the spreadsheet with this address, as Editor`)
  await terminal.sees(google.email)
  await answer(terminal, answers(world).slice(3))
  await answer(terminal, noTest)
  expect(await terminal.ended).toBe(0)
  expect(await world.settings()).toEqual({
    SHEETS_SHEET_ID: url(google),
    SHEETS_CREDENTIALS_EMAIL: google.email,
    SHEETS_PRIVATE_KEY: google.env['SHEETS_PRIVATE_KEY'],
    ALLOWED_ORIGINS: 'https://example.com',
  })
  expect((await stat(envPath)).mode & 0o777).toBe(0o600)
  expect(terminal.text()).not.toContain('BEGIN PRIVATE KEY')
})

test('init sets up a key that acts as a person, and what the machine has', async () => {
  await using world = await setUp()
  const { folder, env, google } = world
  const [where, , key, , challenge, origins] = answers(world).map((it) => it)
  const way = 'How does Rollcall sign in at Google?'
  const sheet = google.emulator.createSpreadsheet({ sharedWith: 'grace@example.com' }).id
  google.emulator.tokens.allow(google.email, 'grace@example.com')
  {
    using terminal = startOnTerminal(['init'], { folder, env })
    await answer(terminal, [
      ...[where ?? ['', ''], [way, down + enter] as const, key ?? ['', '']],
      ['The address of the person', `grace${enter}`],
      ['not an email address', `@example.com${enter}`],
      ['Share the spreadsheet with this address, as Editor', ''],
      ['The address of the spreadsheet', sheet + enter],
      ...[challenge ?? ['', ''], origins ?? ['', ''], ...noTest],
    ])
    expect(await terminal.ended).toBe(0)
  }
  expect(await world.settings()).toMatchObject({ SHEETS_SUBJECT: 'grace@example.com' })
  await rm(world.envPath)
  const { emulator } = google
  emulator.tokens.machine = 'machine@my-project.iam.gserviceaccount.com'
  const machine = { GCE_METADATA_HOST: new URL(emulator.url).host, HOME: folder }
  using terminal = startOnTerminal(['init'], { folder, env: { ...env, ...machine } })
  await answer(terminal, [
    ...[where ?? ['', ''], [way, down + down + enter] as const],
    ['the account that signs in', ''],
    ['The address of the spreadsheet', sheet + enter],
    ...[challenge ?? ['', ''], origins ?? ['', '']],
    ['Share the spreadsheet with machine@my-project.iam.gserviceaccount.com as Editor', ''],
    ['Check again?', 'n'],
  ])
  expect(await terminal.ended).toBe(1)
  expect(await world.settings()).toMatchObject({ SHEETS_SIGN_IN: 'application-default' })
})

test('a wrong answer is explained and asked for again', async () => {
  await using world = await setUp()
  const { folder, env, keyFile } = world
  const [where, way, key, sheet, ...rest] = answers(world)
  using terminal = startOnTerminal(['init'], { folder, env })
  await answer(terminal, [
    where ?? ['', ''],
    way ?? ['', ''],
    ['The path of the JSON key file', enter],
    ['Type an answer', `${keyFile}x${enter}`],
    ['does not exist', clear + (key?.[1] ?? '')],
    ['The address of the spreadsheet', `https://docs.google.com/document/d/abc${enter}`],
    ['not the id or the URL of a Google spreadsheet', clear + (sheet?.[1] ?? '')],
    ...rest,
  ])
  await answer(terminal, noTest)
  expect(await terminal.ended).toBe(0)
})

test('init asks for the challenge, and never shows its secret key', async () => {
  await using world = await setUp()
  const { folder } = world
  const secret = '1x0000000000000000000000000000000AA'
  using terminal = startOnTerminal(['init'], { folder })
  await answer(terminal, [
    ['Where should the signups go?', down + enter],
    ['A challenge that keeps bots out?', down + enter],
    ['Its site key', `${secret}${enter}`],
    ['holds a secret key', `${clear}1x00000000000000000000AA${enter}`],
    ['Its secret key', secret + enter],
    ['The web pages that may send signups', enter],
  ])
  await terminal.sees('has the test keys of Turnstile')
  await answer(terminal, noTest)
  expect(await terminal.ended).toBe(0)
  expect(await world.settings()).toEqual({
    CHALLENGE_PROVIDER: 'turnstile',
    CHALLENGE_SITE_KEY: '1x00000000000000000000AA',
    CHALLENGE_SECRET_KEY: secret,
    ALLOWED_ORIGINS: '*',
  })
  const afterQuestion = terminal.text().split('Its secret key')[1] ?? ''
  expect(afterQuestion).not.toContain(secret)
})

test('init turns the proof of work on without asking for keys', async () => {
  await using world = await setUp()
  const { folder } = world
  using terminal = startOnTerminal(['init'], { folder })
  await answer(terminal, [
    ['Where should the signups go?', down + enter],
    ['A challenge that keeps bots out?', down.repeat(4) + enter],
    ['The web pages that may send signups', enter],
    ...noTest,
  ])
  expect(await terminal.ended).toBe(0)
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
    const [, tabs, set, choices] = given
    await using world = await setUp()
    const { folder, env, google } = world
    const spreadsheet = google.emulator.spreadsheet(google.spreadsheetId)
    spreadsheet.renameTab('Sheet1', tabs.at(-1) ?? '')
    if (tabs.length > 1) spreadsheet.addTab('2026')
    if (tabs.includes('Data')) spreadsheet.appendRows('Data', [['mine']])
    const all = answers(world)
    for (const [typed, chosen = ''] of [enter, down + enter].map((it, at) => [it, choices[at]])) {
      await rm(world.envPath, { force: true })
      using terminal = startOnTerminal(['init'], { folder, env: { ...env, ...set } })
      await answer(terminal, [...all.slice(0, 4), [first, '']])
      for (const words of choices) await terminal.sees(words)
      await answer(terminal, [['', typed ?? ''], ...all.slice(4), ...noTest])
      expect(await terminal.ended).toBe(0)
      const { DEFAULT_SHEET_TAB: written } = await world.settings()
      const isPresent = chosen === 'Sheet1' || chosen.startsWith('A new tab')
      expect(written).toBe(isPresent ? undefined : chosen)
    }
  })
})

describe('with a file .env', () => {
  const mine =
    '# Mine\nPORT=3456\nALLOWED_ORIGINS=https://old.example # the old page\nSHEETS_SHEET_ID=' +
    'a'.repeat(44) +
    '\n'

  test('a value is replaced only after a yes, and everything else stays', async () => {
    await using world = await setUp()
    const { folder, env, envPath, google } = world
    await writeFile(envPath, mine, { mode: 0o644 })
    await writeFile(`${envPath}.tmp`, 'left by a crash', { mode: 0o644 })
    const [where, way, key, sheet, challenge, origins] = answers(world)
    using terminal = startOnTerminal(['init'], { folder, env })
    await answer(terminal, [
      where ?? ['', ''],
      way ?? ['', ''],
      key ?? ['', ''],
      ['The address of the spreadsheet', clear + (sheet?.[1] ?? '')],
      challenge ?? ['', ''],
      origins ?? ['', ''],
      ['.env sets SHEETS_SHEET_ID to', `y`],
      ['.env sets ALLOWED_ORIGINS to "https://old.example". Replace it?', enter],
    ])
    await answer(terminal, noTest)
    expect(await terminal.ended).toBe(0)
    expect(await world.settings()).toEqual({
      PORT: '3456',
      ALLOWED_ORIGINS: 'https://old.example',
      SHEETS_SHEET_ID: url(google),
      SHEETS_CREDENTIALS_EMAIL: google.email,
      SHEETS_PRIVATE_KEY: google.env['SHEETS_PRIVATE_KEY'],
    })
    expect(await readFile(envPath, 'utf8')).toMatch(
      /^# Mine\nPORT=3456\nALLOWED_ORIGINS=https:\/\/old\.example # the old page\n/,
    )
    expect((await stat(envPath)).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter(isTmp)).toEqual([])
  })

  test('a second run keeps the account, and writes nothing when nothing changes', async () => {
    await using world = await setUp()
    const { folder, env, envPath, google } = world
    {
      using first = startOnTerminal(['init'], { folder, env })
      await answer(first, [...answers(world), ...noTest])
      expect(await first.ended).toBe(0)
    }
    const before = await readFile(envPath, 'utf8')
    using terminal = startOnTerminal(['init'], { folder, env })
    await answer(terminal, [
      ['Where should the signups go?', enter],
      [`Keep the sign-in: ${google.email}?`, enter],
      ['The address of the spreadsheet', enter],
      ['A challenge that keeps bots out?', enter],
      ['The web pages that may send signups', enter],
      [`${envPath} stays as it is.`, ''],
      ...noTest,
    ])
    expect(await terminal.ended).toBe(0)
    expect(await readFile(envPath, 'utf8')).toBe(before)
  })

  test('a file that somebody changes meanwhile stays as they left it', async () => {
    await using world = await setUp()
    const { folder, envPath } = world
    using terminal = startOnTerminal(['init'], { folder })
    await answer(terminal, [
      ['Where should the signups go?', down + enter],
      ['A challenge that keeps bots out?', enter],
    ])
    await terminal.sees('The web pages that may send signups')
    await writeFile(envPath, 'PORT=1234\n')
    terminal.type(enter)
    await terminal.sees('was changed meanwhile')
    expect(await terminal.ended).toBe(1)
    expect(await readFile(envPath, 'utf8')).toBe('PORT=1234\n')
  })

  test('a link is not written through', async () => {
    await using world = await setUp()
    const { folder, envPath } = world
    await mkdir(join(folder, 'elsewhere'))
    await writeFile(join(folder, 'elsewhere/env'), '')
    await symlink('elsewhere/env', envPath)
    using terminal = startOnTerminal(['init'], { folder })
    await terminal.sees('is a link')
    expect(await terminal.ended).toBe(1)
    expect(await readFile(join(folder, 'elsewhere/env'), 'utf8')).toBe('')
  })
})

test.each([0, 1, 2, 3, 4, 5])('Ctrl-C at question %i writes nothing', async (question) => {
  await using world = await setUp()
  const { folder, env } = world
  using terminal = startOnTerminal(['init'], { folder, env })
  const all = answers(world)
  await answer(terminal, [...all.slice(0, question), [all[question]?.[0] ?? '', ctrlC]])
  await terminal.sees('Stopped. Nothing was written.')
  expect(await terminal.ended).toBe(1)
  expect(await readdir(folder)).toEqual(['key.json'])
})

test('after a fault is mended, doctor runs again', async () => {
  await using world = await setUp()
  const { folder, env, google } = world
  const spreadsheet = google.emulator.spreadsheet(google.spreadsheetId)
  spreadsheet.share(google.email, 'none')
  using terminal = startOnTerminal(['init'], { folder, env })
  const [first, way, key, sheet, ...rest] = answers(world)
  const asked = [first, way, key, sheet].map((it) => it ?? (['', ''] as const))
  const unread = 'cannot be read yet: signups go to its tab Sheet1, unless DEFAULT_SHEET_TAB names'
  await answer(terminal, [...asked, [unread, ''], ...rest, ['1 fault found.', '']])
  spreadsheet.share(google.email, 'editor')
  await answer(terminal, [['Check again?', enter], ...noTest])
  expect(await terminal.ended).toBe(0)
})

describe('the test signup', () => {
  test('is written to a Google Sheet, and removed again', async () => {
    await using world = await setUp()
    const { folder, env, google } = world
    using terminal = startOnTerminal(['init'], { folder, env })
    await answer(terminal, [...answers(world), ['Send a test signup, to see its row?', enter]])
    await terminal.sees('Remove it again?')
    const address = /rollcall-test-\w+@example\.com/.exec(terminal.text())?.[0]
    expect(await addressesInSheet(google)).toEqual([address])
    await answer(terminal, [['', enter]])
    await terminal.sees('It is removed.')
    expect(await terminal.ended).toBe(0)
    expect(await addressesInSheet(google)).toEqual([])
    const { stdout } = await runCommand(['export'], { folder, env })
    expect(stdout).not.toContain('rollcall-test')
  })

  test.each([
    ['a no', 'n', 0],
    ['Ctrl-C', ctrlC, 1],
  ])(
    'stays in the local workbook after %s, and init says how to remove it',
    async (_, key, code) => {
      await using world = await setUp()
      const { folder } = world
      const sent = ['Send a test signup, to see its row?', enter] as const
      using terminal = startOnTerminal(['init'], { folder })
      await answer(terminal, [...workbookAnswers, sent, ['Remove it again?', key]])
      expect(await terminal.ended).toBe(code)
      const [address] = addressesIn(join(folder, 'data'))
      expect(address).toMatch(/^rollcall-test-\w+@example\.com$/)
      expect(terminal.text()).toContain(`rollcall -- forget ${address}`)
    },
  )

  test('is not sent when signups are closed, and is said to take a seat', async () => {
    await using world = await setUp()
    const env = { CLOSES_AT: '2026-01-01T00:00:00Z', CLOSES_AFTER: '5' }
    using terminal = startOnTerminal(['init'], { folder: world.folder, env })
    await answer(terminal, [...workbookAnswers, ['It takes one of the seats for good.', enter]])
    await terminal.sees('has no row, and gets none: signups are closed (CLOSES_AT, CLOSES_AFTER).')
    expect(await terminal.ended).toBe(1)
  })

  test('without a row is given up, and the reason is told', async () => {
    await using world = await setUp()
    const { folder, env, google } = world
    using terminal = startOnTerminal(['init'], { folder, env })
    await answer(terminal, answers(world))
    await terminal.sees('Send a test signup, to see its row?')
    google.emulator.spreadsheet(google.spreadsheetId).share(google.email, 'viewer')
    terminal.type(enter)
    await terminal.sees(
      'The test signup has no row, and gets none: The caller does not have permission',
    )
    expect(await terminal.ended).toBe(1)
    google.emulator.spreadsheet(google.spreadsheetId).share(google.email, 'editor')
    await using _service = await startService({ env: google.env, dataDir: join(folder, 'data') })
    const exported = async () => (await runCommand(['export'], { folder, env })).stdout
    await expect.poll(exported).not.toContain('rollcall-test')
    await expect.poll(() => addressesInSheet(google)).toEqual([])
  })

  test('is not offered beside a running service, which has to start again', async () => {
    await using world = await setUp()
    const { folder } = world
    await using service = await startService({ dataDir: join(folder, 'data') })
    using terminal = startOnTerminal(['init'], { folder })
    await answer(terminal, [...workbookAnswers, ['A service is running: start it again', '']])
    expect(await terminal.ended).toBe(0)
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200)
  })
})

test('without a terminal, init says what to do instead', async () => {
  await using folder = await tempFolder()
  const { code, stdout, stderr } = await runCommand(['init'], { folder: folder.path })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('needs a terminal')
})
