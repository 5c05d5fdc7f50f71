import { resolve } from 'node:path'
import type { Files } from './account.ts'
import { type ChallengeConfig, readChallenge } from './challenge.ts'
import { readGoogle } from './google.ts'
import type { GoogleConfig } from './google.ts'
import { ConfigError } from './problem.ts'
import { SettingsReader } from './reader.ts'
import type { Variables } from './reader.ts'
import type { Secrets } from './secrets.ts'
import { settings } from './settings.ts'
import type { EnvFile } from './env-file.ts'
import { findSlips, notYetSupported } from './unknown.ts'
import { ownHosts } from './hosts.ts'
import { originList } from './origins.ts'
import { keyList, tabList } from './lists.ts'
import { type PagesConfig, readPages } from './pages.ts'
import { duplicates, filePath, listenHost, logLevel, tabName, wholeNumber } from './values.ts'
import type { LogLevel } from './values.ts'

/** The settings, checked and complete. Holds no secret, so it can be printed. */
export interface Config {
  readonly spreadsheet: GoogleConfig | { readonly kind: 'workbook' }
  /** Undefined: off. */
  readonly challenge: ChallengeConfig | undefined
  readonly pages: PagesConfig
  readonly defaultSheetTab: string
  /** The spreadsheet whose only tab, if empty, is the default one instead: where the setting is not set. */
  readonly defaultTabOf: string | undefined
  /** The only tabs that signups may name besides the default one; undefined: any. */
  readonly sheetTabs: readonly string[] | undefined
  /** How many tabs signups may bring into being. */
  readonly newTabsMax: number
  readonly duplicates: 'append' | 'ignore'
  readonly bulkItemsMax: number
  /** Absolute. */
  readonly dataDir: string
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly bodyBytesMax: number
  /** As browsers write them. */
  readonly allowedOrigins: '*' | readonly string[]
  /** The hosts under which the service is reached, as browsers write them; undefined: any. */
  readonly allowedHosts: readonly string[] | undefined
  readonly trustedProxies: number
  /** Per client address; 0 is no limit. */
  readonly signupsPerMinute: number
  readonly logLevel: LogLevel
  /** What the operator should know although nothing is wrong, as sentences. */
  readonly warnings: readonly string[]
}

/** What settings are read from; `env.ts` gives the one of this process. */
export interface Environment extends Files {
  /** Of the process and of the file. */
  readonly variables: Variables
  /** Undefined: there is none. */
  readonly envFile?: EnvFile | undefined
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Gives the environment its meaning. Throws a ConfigError that holds every problem at once. */
export function loadConfig(environment: Environment): { config: Config; secrets: Secrets } {
  const { variables, envFile, folder } = environment
  const reader = new SettingsReader(variables)
  const slips = findSlips(variables, envFile?.lines ?? new Map())
  const google = wantsGoogle(reader) ? readGoogle(reader, environment) : undefined
  const challenged = readChallenge(reader)
  const isDefaultTabSet = reader.text('DEFAULT_SHEET_TAB') !== undefined
  const config: Config = {
    spreadsheet: google?.spreadsheet ?? { kind: 'workbook' },
    challenge: challenged?.challenge,
    pages: readPages(reader),
    defaultSheetTab: reader.withDefault('DEFAULT_SHEET_TAB', tabName),
    defaultTabOf: isDefaultTabSet ? undefined : google?.spreadsheet.spreadsheetId,
    sheetTabs: reader.optional('SHEET_TABS', tabList),
    newTabsMax: reader.withDefault('MAX_SHEET_TABS', wholeNumber(0, 10_000)),
    duplicates: reader.withDefault('DUPLICATES', duplicates),
    bulkItemsMax: reader.withDefault('BULK_MAX', wholeNumber(1, 10_000)),
    dataDir: resolve(folder, reader.withDefault('DATA_DIR', filePath)),
    listen: {
      host: reader.withDefault('HOST', listenHost),
      port: reader.withDefault('PORT', wholeNumber(0, 65_535)),
    },
    bodyBytesMax: reader.withDefault('BODY_LIMIT_BYTES', wholeNumber(kibibyte, 16 * mebibyte)),
    allowedOrigins: reader.withDefault('ALLOWED_ORIGINS', originList),
    allowedHosts: reader.optional('ALLOWED_HOSTS', ownHosts),
    trustedProxies: reader.withDefault('TRUST_PROXY', wholeNumber(0, 10)),
    signupsPerMinute: reader.withDefault('RATE_LIMIT_PER_MINUTE', wholeNumber(0, 1_000_000)),
    logLevel: reader.withDefault('LOG_LEVEL', logLevel),
    warnings: slips.warnings,
  }
  const apiKeys = reader.optional('API_KEYS', keyList) ?? []
  const problems = [
    ...(envFile?.problems ?? []),
    ...reader.problems,
    ...notYetSupported(variables),
    ...slips.problems,
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  const secrets = {
    ...(google && { privateKey: google.privateKey }),
    ...(challenged && { challengeSecret: challenged.secret }),
    apiKeys,
  }
  return { config, secrets }
}

/**
 * Any setting of Google Sheets means that Google Sheets is wanted; `GOOGLE_APPLICATION_CREDENTIALS`
 * alone does not.
 */
function wantsGoogle(reader: SettingsReader): boolean {
  return settings.some(({ name }) => name.startsWith('SHEETS_') && reader.text(name) !== undefined)
}
