import type { Clock } from '../src/platform/clock.ts'
import { httpClient } from '../src/platform/node/http-client.ts'
import { createGoogleSheets } from '../src/spreadsheet/google/google-sheets.ts'
import { signWith } from '../src/spreadsheet/google/sign-assertion.ts'
import type { CallGate, Spreadsheet } from '../src/spreadsheet/spreadsheet.ts'
import { googleSettings } from './world.ts'

export interface SheetsOptions {
  readonly clock: Clock
  readonly gate: CallGate
  /** Around whatever takes real time. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>
}

/** The real adapter, against a stand-in for Google. */
export function connectSheets(
  providerUrl: string,
  { clock, gate, during }: SheetsOptions,
): Spreadsheet {
  const settings = googleSettings(providerUrl)
  const sign = signWith(settings['SHEETS_PRIVATE_KEY'] ?? '')
  return createGoogleSheets({
    account: {
      email: settings['SHEETS_CREDENTIALS_EMAIL'] ?? '',
      spreadsheetId: settings['SHEETS_SHEET_ID'] ?? '',
    },
    sign: (claims) => during(() => sign(claims)),
    apiUrl: providerUrl,
    tokenUrl: `${providerUrl}/token`,
    http: (request) => during(() => httpClient(request)),
    clock,
    random: Math.random,
    gate,
  })
}
