import { resolve } from 'node:path'
import type { Files } from './account.ts'
import { readGoogle } from './google.ts'
import type { GoogleConfig } from './google.ts'
import { ConfigError } from './problem.ts'
import { SettingsReader } from './reader.ts'
import type { Variables } from './reader.ts'
import type { Secrets } from './secrets.ts'
import { settings } from './settings.ts'
import { misspelt, notYetSupported } from './unknown.ts'
import { filePath, listenHost, logLevel, tabName, wholeNumber } from './values.ts'
import type { LogLevel } from './values.ts'

/** The settings, checked and complete. Holds no secret, so it can be printed. */
export interface Config {
  readonly spreadsheet: GoogleConfig | { readonly kind: 'workbook' }
  readonly defaultSheetTab: string
  /** Absolute. */
  readonly dataDir: string
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly bodyBytesMax: number
  readonly logLevel: LogLevel
}

/** What settings are read from; `env.ts` gives the one of this process. */
export interface Environment extends Files {
  readonly variables: Variables
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Gives the environment its meaning. Throws a ConfigError that holds every problem at once. */
export function loadConfig(environment: Environment): { config: Config; secrets: Secrets } {
  const { variables, folder } = environment
  const reader = new SettingsReader(variables)
  const google = wantsGoogle(reader) ? readGoogle(reader, environment) : undefined
  const config: Config = {
    spreadsheet: google?.spreadsheet ?? { kind: 'workbook' },
    defaultSheetTab: reader.withDefault('DEFAULT_SHEET_TAB', tabName),
    dataDir: resolve(folder, reader.withDefault('DATA_DIR', filePath)),
    listen: {
      host: reader.withDefault('HOST', listenHost),
      port: reader.withDefault('PORT', wholeNumber(0, 65_535)),
    },
    bodyBytesMax: reader.withDefault('BODY_LIMIT_BYTES', wholeNumber(kibibyte, 16 * mebibyte)),
    logLevel: reader.withDefault('LOG_LEVEL', logLevel),
  }
  const problems = [...reader.problems, ...notYetSupported(variables), ...misspelt(variables)]
  if (problems.length > 0) throw new ConfigError(problems)
  return { config, secrets: google ? { privateKey: google.privateKey } : {} }
}

/**
 * Any setting of Google Sheets means that Google Sheets is wanted; `GOOGLE_APPLICATION_CREDENTIALS`
 * alone does not.
 */
function wantsGoogle(reader: SettingsReader): boolean {
  return settings.some(({ name }) => name.startsWith('SHEETS_') && reader.text(name) !== undefined)
}
