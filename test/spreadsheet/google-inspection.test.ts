import { describe, expect, test } from 'vitest'

import type { Fault } from '../../emulators/google-sheets/faults.ts'
import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import type { Finding } from '../../src/platform/finding.ts'
import { findingsOf, inspect } from './inspection-world.ts'
import { makeBatch, testSignal } from './spreadsheet-contract.ts'

/** What an inspection finds in a spreadsheet in Google Sheets. */

/** The check and the state of each finding. */
const states = (findings: readonly Finding[]) =>
  findings.map(({ check, state }) => `${check} ${state}`)

const networkHint = (setting: string) =>
  'Check that this machine has a network, that its DNS and firewall let it reach that address, and ' +
  `${setting} if you have set it. Signups are kept meanwhile.`

test('a new spreadsheet has no fault, which takes three calls and changes nothing', async () => {
  await using world = await createGoogleWorld()
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  const before = JSON.stringify([sheet.version(), sheet.metadata()])
  expect(await inspect(world)).toEqual([
    { check: 'clock', state: 'ok', message: "agrees with Google's within a minute" },
    {
      check: 'token',
      state: 'ok',
      message: `Google gives an access token for spreadsheets to ${world.email}`,
    },
    { check: 'api', state: 'ok', message: 'the Sheets API answers' },
    { check: 'spreadsheet', state: 'ok', message: `${JSON.stringify(sheet.title)} is found` },
    { check: 'editor', state: 'ok', message: `${world.email} may write` },
    {
      check: 'tabs',
      state: 'ok',
      message: 'the tab "Sheet1" is empty and gets the header row with its first signup',
    },
    {
      check: 'room',
      state: 'ok',
      message: 'The spreadsheet is 0 % full: 26000 of at most 10000000 cells, empty ones count too',
    },
  ])
  expect(JSON.stringify([sheet.version(), sheet.metadata()])).toBe(before)
  expect(world.emulator.counters).toMatchObject({ reads: 2, writes: 1 })
})

describe('without an access token, all that needs one is skipped', () => {
  test.each<[string, NonNullable<Fault['answer']>, string]>([
    [
      'refuses the key',
      { status: 400, body: '{"error":"no"}' },
      'Google says: no. Check that the address of the account',
    ],
    ['cannot be reached', 'drop', networkHint('SHEETS_TOKEN_URL')],
    [
      'is a proxy',
      { status: 502, body: '<html>' },
      "The answer is not from Google's token endpoint. Check SHEETS_TOKEN_URL and any proxy in between.",
    ],
  ])('when the token endpoint %s', async (_, answer, hint) => {
    await using world = await createGoogleWorld()
    world.emulator.faults.add({ on: 'token', answer })
    const findings = await inspect(world)
    expect(findings[1]).toEqual({
      ...{ check: 'token', state: 'fault', message: expect.stringMatching(/./) },
      hint: expect.stringContaining(hint),
    })
    const skipped = { state: 'skipped', message: 'not checked: there is no access token' }
    expect(findings.slice(2)).toEqual(
      ['api', 'spreadsheet', 'editor', 'tabs', 'room'].map((check) => ({ check, ...skipped })),
    )
  })
})

describe('a failed call is a fault, with what to do about it', () => {
  const proxyHint =
    'The answer is not from the Sheets API. Check SHEETS_API_URL and any proxy in between.'

  test.each<['drop' | 'quota' | 'html200' | 'badGateway' | 'unavailable', string]>([
    ['drop', networkHint('SHEETS_API_URL')],
    [
      'quota',
      "Something else uses Google's quota of this account or project, too. Give Rollcall a project of its own.",
    ],
    ['html200', proxyHint],
    ['badGateway', proxyHint],
    ['unavailable', 'Google has a problem of its own. Try again in some minutes.'],
  ])('after "%s"', async (answer, hint) => {
    await using world = await createGoogleWorld()
    world.emulator.faults.add({ on: 'get', answer })
    const findings = await inspect(world)
    expect(findings[2]).toEqual({
      ...{ check: 'api', state: 'fault', message: expect.stringMatching(/./), hint },
    })
    const skipped = { state: 'skipped', message: 'not checked: the spreadsheet cannot be read' }
    expect(findings.slice(3)).toEqual(
      ['spreadsheet', 'editor', 'tabs', 'room'].map((check) => ({ check, ...skipped })),
    )
  })

  test('also in the checks that come later, and the others go on', async () => {
    await using world = await createGoogleWorld()
    const fault = { answer: 'unavailable', times: 1 } as const
    world.emulator.faults.add({ on: 'batchUpdate', ...fault }, { on: 'get', skip: 1, ...fault })
    const findings = await inspect(world)
    expect(states(findings.slice(3))).toEqual([
      'spreadsheet ok',
      'editor fault',
      'tabs fault',
      'room ok',
    ])
  })

  test('but a call that the gate does not let through is only skipped', async () => {
    const gate = async () => {
      throw new Error('the quota is used up')
    }
    expect(await findingsOf('api', () => undefined, { gate })).toEqual([
      { check: 'api', state: 'skipped', message: 'not checked: the quota is used up' },
    ])
  })
})

test.each<[string, Pick<Fault, 'answer'>, string]>([
  ['is not shared', { answer: 'notShared' }, 'Share the spreadsheet with'],
  ['is not there', { answer: 'notFound' }, 'Check SHEETS_SHEET_ID'],
  [
    'is an Excel file',
    { answer: { status: 400, body: '{"error":{"message":"It must not be an Office file."}}' } },
    "Correct the problem that Google's message",
  ],
])(
  'a spreadsheet that %s is a fault of the spreadsheet, not of the API',
  async (_, fault, hint) => {
    await using world = await createGoogleWorld()
    world.emulator.faults.add({ on: 'get', ...fault })
    const findings = await inspect(world)
    expect(states(findings)).toEqual([
      'clock ok',
      'token ok',
      'api ok',
      'spreadsheet fault',
      'editor skipped',
      'tabs skipped',
      'room skipped',
    ])
    expect(findings[2]?.message).toBe('the Sheets API answers')
    expect(findings[3]?.hint).toContain(hint)
    expect(findings[4]?.message).toBe('not checked: the spreadsheet cannot be read')
  },
)

test('a call that is refused for another reason is a fault of the API', async () => {
  const disabled = ({ emulator }: GoogleWorld) =>
    emulator.faults.add({ on: 'get', answer: 'apiDisabled' })
  expect(await findingsOf('api', disabled)).toMatchObject([{ state: 'fault' }])
})

describe('the right to write', () => {
  test('is missing when the spreadsheet is shared as Viewer', async () => {
    await using world = await createGoogleWorld()
    world.emulator.spreadsheet(world.spreadsheetId).share(world.email, 'viewer')
    const findings = await inspect(world)
    expect(findings[4]).toEqual({
      check: 'editor',
      state: 'fault',
      message: `The caller does not have permission: it is shared with ${world.email}, but not as Editor`,
      hint: expect.stringContaining(`Share the spreadsheet with ${world.email} as Editor`),
    })
    expect(states(findings.slice(5))).toEqual(['tabs ok', 'room ok'])
  })

  test('is there when Google leaves developer metadata behind, with a warning', async () => {
    const made = { developerMetadata: { metadataId: 7 } }
    const body = JSON.stringify({ replies: [{ createDeveloperMetadata: made }, {}] })
    const keep = ({ emulator }: GoogleWorld) =>
      emulator.faults.add({ on: 'batchUpdate', answer: { status: 200, body } })
    expect(await findingsOf('editor', keep)).toEqual([
      {
        check: 'editor',
        state: 'warning',
        message: expect.stringMatching(
          / may write, but Google did not delete the developer metadata/,
        ),
        hint: expect.stringContaining('Run this command again'),
      },
    ])
  })
})

describe('a spreadsheet that others write to', () => {
  const write = async (world: GoogleWorld) => {
    const batch = makeBatch(1, { Sheet1: [makeFullSignup()] })
    expect(await world.connect().write(batch, testSignal)).toEqual({ kind: 'applied' })
  }

  test('has markers that the journal does not know, which is a warning', async () => {
    const found = await findingsOf('spreadsheet', (world) => write(world))
    expect(found.slice(1)).toEqual([
      {
        check: 'spreadsheet',
        state: 'warning',
        message: 'markers of another journal are in the spreadsheet: 1',
        hint: expect.stringContaining('no second Rollcall'),
      },
    ])
  })

  test('is ours when the journal knows the batch of the marker', async () => {
    const isOwn = async (fingerprint: string) => fingerprint === 'journal-7:1'
    const found = await findingsOf('spreadsheet', (world) => write(world), { expected: { isOwn } })
    expect(states(found)).toEqual(['spreadsheet ok'])
  })
})

test('a spreadsheet that is nearly full is a fault', async () => {
  const grow = (_: GoogleWorld, sheet: SpreadsheetHandle) =>
    sheet.resizeTab('Sheet1', { rowCount: 320_000 })
  expect(await findingsOf('room', grow)).toEqual([
    {
      check: 'room',
      state: 'fault',
      message: expect.stringContaining('83 % full: 8320000 of at most 10000000 cells'),
      hint: expect.stringContaining('Delete empty rows'),
    },
  ])
})
