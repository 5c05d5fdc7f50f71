import type { SettingsReader } from './reader.ts'
import { settingNames } from './settings.ts'

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

/** Reads where Google is and what its quota is. */
export function readGoogleTerms(
  reader: SettingsReader,
): Pick<GoogleConfig, 'apiUrl' | 'tokenUrl' | 'quota'> {
  return {
    apiUrl: reader.value('SHEETS_API_URL'),
    tokenUrl: reader.value('SHEETS_TOKEN_URL'),
    quota: {
      perMinute: reader.value('SHEETS_REQUESTS_PER_MINUTE'),
      perDay: reader.value('SHEETS_REQUESTS_PER_DAY'),
    },
  }
}

/**
 * Whether the operator wants Google Sheets, as any `SHEETS_` setting shows. The variable
 * `GOOGLE_APPLICATION_CREDENTIALS` alone does not show it.
 */
export function wantsGoogle(reader: SettingsReader): boolean {
  return reader.isSet(...settingNames.filter((name) => name.startsWith('SHEETS_')))
}
