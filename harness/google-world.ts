import { type GoogleEmulator, startGoogleEmulator } from '../emulators/google-sheets/server.ts'
import type { EmulatorOptions } from '../emulators/google-sheets/emulator.ts'
import { type Clock, type Random, systemClock } from '../src/platform/clock.ts'
import { httpClient } from '../src/platform/node/http-client.ts'
import { ownColumns } from '../src/signup/row.ts'
import { letters } from '../src/spreadsheet/google/ranges.ts'
import {
  createGoogleSheets,
  type GoogleSheetsOptions,
} from '../src/spreadsheet/google/google-sheets.ts'
import { keyTokens, signWith } from '../src/spreadsheet/google/access-token.ts'
import type { Spreadsheet } from '../src/spreadsheet/spreadsheet.ts'
import type { FieldsWorld } from '../test/spreadsheet/fields-contract.ts'

export interface GoogleWorld extends FieldsWorld {
  readonly emulator: GoogleEmulator
  readonly spreadsheetId: string
  /** The service account's address. */
  readonly email: string
  /** Settings with which the service reaches this spreadsheet. */
  readonly env: Readonly<Record<string, string>>
  /** A new adapter for this spreadsheet or another one, as after a restart. */
  connect(
    spreadsheetId?: string,
    clock?: Clock,
    random?: Random,
    /** Called before each call of the API. */
    beforeCall?: () => Promise<unknown>,
  ): Spreadsheet
}

/** An emulated spreadsheet that is shared with a service account. By default it has no quota. */
export async function createGoogleWorld(options: EmulatorOptions = {}): Promise<GoogleWorld> {
  const emulator = await startGoogleEmulator({ quota: 'off', ...options })
  const account = emulator.createServiceAccount()
  const { id: spreadsheetId } = emulator.createSpreadsheet({ sharedWith: account.email })
  const handle = () => emulator.spreadsheet(spreadsheetId)
  const parts: GoogleSheetsOptions = {
    access: { email: account.email, spreadsheetId, setting: 'SHEETS_SHEET_ID' },
    ask: keyTokens({ email: account.email, sign: signWith(account.privateKeyPem) }),
    apiUrl: emulator.url,
    tokenUrl: emulator.tokenUrl,
    http: httpClient,
    clock: systemClock,
    random: Math.random,
    gate: async () => true,
  }
  return {
    emulator,
    spreadsheetId,
    email: account.email,
    env: {
      SHEETS_SHEET_ID: spreadsheetId,
      SHEETS_CREDENTIALS_EMAIL: account.email,
      SHEETS_PRIVATE_KEY: account.privateKeyPem,
      SHEETS_API_URL: emulator.url,
      SHEETS_TOKEN_URL: emulator.tokenUrl,
    },
    connect: (
      id = spreadsheetId,
      clock = systemClock,
      random = Math.random,
      beforeCall = async () => undefined,
    ) =>
      createGoogleSheets({
        ...parts,
        access: { email: account.email, spreadsheetId: id, setting: 'SHEETS_SHEET_ID' },
        clock,
        random,
        gate: async (_, maySend) => {
          await beforeCall()
          return (await maySend?.()) ?? true
        },
      }),
    connectWith: (fields, confirmation) =>
      createGoogleSheets({ ...parts, own: ownColumns(fields, confirmation) }),
    async insertColumn(tab, before) {
      handle().insertColumns(tab, before)
    },
    async moveColumn(tab, from, to) {
      handle().moveColumn(tab, from, to)
    },
    async nameColumn(tab, column, heading) {
      handle().editCell(tab, `${letters(column)}1`, heading)
    },
    async rows(tab) {
      if (!handle().titles().includes(tab)) return undefined
      // The emulator cuts empty cells at the end of a row. Ours have seven cells.
      return handle()
        .rows(tab)
        .map((row) => [...row, ...Array.from({ length: Math.max(0, 7 - row.length) }, () => '')])
    },
    async createTab(tab, rows) {
      handle().addTab(tab, rows)
    },
    async deleteTab(tab) {
      handle().deleteTab(tab)
    },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}

/** The addresses in a tab of the emulated spreadsheet, in the order of its rows. */
export async function addressesInSheet(
  world: GoogleWorld,
  tab = 'Sheet1',
): Promise<(string | undefined)[]> {
  const rows = (await world.rows(tab)) ?? []
  return rows.slice(1).map(([email]) => email)
}
