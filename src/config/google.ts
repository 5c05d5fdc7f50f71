import { readAccount } from './account.ts'
import type { Files } from './read-file.ts'
import type { SettingsReader } from './reader.ts'
import { parseSpreadsheetId } from './spreadsheet-id.ts'
import { httpUrl, wholeNumber } from './values.ts'

export interface GoogleConfig {
  readonly kind: 'google'
  readonly spreadsheetId: string
  /** The service account; its key is in `Secrets`. */
  readonly credentials: { readonly email: string }
  /** Has no slash at the end. */
  readonly apiUrl: string
  readonly tokenUrl: string
  /** The most calls to the Sheets API in any 60 seconds and in any 24 hours. */
  readonly quota: { readonly perMinute: number; readonly perDay: number }
}

/**
 * Ten times Google's default quota of a project (300 a minute), as quotas can be raised. A larger
 * number is probably a typing error.
 */
const perMinuteMax = 3_000
const perDayMax = 1_000_000

/** Reads the settings of Google Sheets. Undefined when a required setting was refused. */
export function readGoogle(
  reader: SettingsReader,
  files: Files,
): { readonly spreadsheet: GoogleConfig; readonly privateKey: string } | undefined {
  const spreadsheetId = reader.required('SHEETS_SHEET_ID', parseSpreadsheetId, {
    problem: 'is missing, and other SHEETS_ settings are set.',
    expected: 'the id or the whole URL of the spreadsheet',
    hint: 'Set it; or remove all SHEETS_ settings to write to the local workbook.',
  })
  const account = readAccount(reader, files)
  const terms = readGoogleTerms(reader)
  if (spreadsheetId === undefined || account === undefined) return undefined
  const { email, privateKey } = account
  return {
    spreadsheet: { kind: 'google', spreadsheetId, credentials: { email }, ...terms },
    privateKey,
  }
}

/** Reads where Google is and what its quota is. */
export function readGoogleTerms(
  reader: SettingsReader,
): Pick<GoogleConfig, 'apiUrl' | 'tokenUrl' | 'quota'> {
  return {
    apiUrl: reader.withDefault('SHEETS_API_URL', httpUrl),
    tokenUrl: reader.withDefault('SHEETS_TOKEN_URL', httpUrl),
    quota: {
      perMinute: reader.withDefault('SHEETS_REQUESTS_PER_MINUTE', wholeNumber(1, perMinuteMax)),
      perDay: reader.withDefault('SHEETS_REQUESTS_PER_DAY', wholeNumber(1, perDayMax)),
    },
  }
}
