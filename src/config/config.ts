import { resolve } from 'node:path'
import type { Files } from './account.ts'
import { type ChallengeConfig, readChallenge } from './challenge.ts'
import { type DatabaseConfig, readDatabase } from './database.ts'
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
import {
  duplicates,
  filePath,
  listenHost,
  logLevel,
  retentionDays,
  tabName,
  wholeNumber,
} from './values.ts'
import type { LogLevel } from './values.ts'

/** The settings, checked and complete. Holds no secret, so it can be printed. */
export interface Config {
  readonly spreadsheet: GoogleConfig | { readonly kind: 'workbook' }
  /** Undefined when the challenge is off. */
  readonly challenge: ChallengeConfig | undefined
  readonly pages: PagesConfig
  readonly defaultSheetTab: string
  /** Set when `DEFAULT_SHEET_TAB` is not: if this spreadsheet has only one tab and it is empty, that is the default. */
  readonly defaultTabOf: string | undefined
  /** The only tabs that signups may name besides the default tab; undefined allows any. */
  readonly sheetTabs: readonly string[] | undefined
  /** How many new tabs signups may create. */
  readonly newTabsMax: number
  readonly duplicates: 'append' | 'ignore'
  readonly bulkItemsMax: number
  /** An absolute path. Nothing is there when there is a `database`. */
  readonly dataDir: string
  /** The database that keeps the journal; undefined when it is in `dataDir`. Its URL is a secret. */
  readonly database: DatabaseConfig | undefined
  /** How long the journal keeps the cells of a written signup; 0 keeps them for ever. */
  readonly retentionDays: number
  /** Port 0 means any free port. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly bodyBytesMax: number
  /** Origins as browsers write them; `*` allows all. */
  readonly allowedOrigins: '*' | readonly string[]
  /** The hosts under which visitors reach the service, as browsers write them; undefined allows any. */
  readonly allowedHosts: readonly string[] | undefined
  readonly trustedProxies: number
  /** The limit for each client address; 0 means no limit. */
  readonly signupsPerMinute: number
  readonly logLevel: LogLevel
  /** Sentences about settings that work but may be mistakes. */
  readonly warnings: readonly string[]
}

/** The source of the settings. `env.ts` makes the one of this process. */
export interface Environment extends Files {
  /** The variables of the process and of the `.env` file together. */
  readonly variables: Variables
  /** Undefined when there is no `.env` file. */
  readonly envFile?: EnvFile | undefined
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Turns the environment into settings. Throws a ConfigError that lists every problem. */
export function loadConfig(environment: Environment): { config: Config; secrets: Secrets } {
  const { variables, envFile, folder } = environment
  const reader = new SettingsReader(variables)
  const slips = findSlips(variables, envFile?.lines ?? new Map())
  const google = wantsGoogle(reader) ? readGoogle(reader, environment) : undefined
  const stored = readDatabase(reader, environment, !wantsGoogle(reader))
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
    database: stored?.database,
    retentionDays: reader.withDefault('RETENTION_DAYS', retentionDays),
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
    warnings: [...slips.warnings, ...(stored?.warnings ?? [])],
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
    ...(stored && { databaseUrl: stored.databaseUrl }),
    apiKeys,
  }
  return { config, secrets }
}

/**
 * Whether the operator wants Google Sheets, as any `SHEETS_` setting shows. The variable
 * `GOOGLE_APPLICATION_CREDENTIALS` alone does not show it.
 */
function wantsGoogle(reader: SettingsReader): boolean {
  return settings.some(({ name }) => name.startsWith('SHEETS_') && reader.text(name) !== undefined)
}
