import { resolve } from 'node:path'
import { readAlertWebhook } from './alert-webhook.ts'
import type { Files } from './read-file.ts'
import { type DatabaseConfig, readDatabase } from './database.ts'
import { ConfigError } from './problem.ts'
import { SettingsReader } from './reader.ts'
import type { Variables } from './reader.ts'
import type { SiteConfig } from './site.ts'
import { readSites } from './sites.ts'
import type { EnvFile } from './env-file.ts'
import { exposedSecrets, type Secrets } from './secrets.ts'
import { findSlips, notYetSupported } from './unknown.ts'
import { bearerToken, keyList, ownHosts, separatorWarnings } from './lists.ts'
import {
  filePath,
  listenHost,
  type LogFormat,
  logFormat,
  type LogLevel,
  logLevel,
  retentionDays,
  wholeNumber,
} from './values.ts'

/** The settings, checked and complete. Holds no secret, so it can be printed. */
export interface Config {
  /** At least one. */
  readonly sites: readonly [SiteConfig, ...SiteConfig[]]
  /** Whether a file names the sites; otherwise there is one, and signups name none. */
  readonly hasSites: boolean
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
  /** The hosts under which visitors reach the service, as browsers write them; undefined allows any. */
  readonly allowedHosts: readonly string[] | undefined
  readonly trustedProxies: number
  readonly logLevel: LogLevel
  /** Undefined: by whether the log goes to a terminal. */
  readonly logFormat: LogFormat | undefined
  /** Whether a log on a terminal may have colours. */
  readonly logColours: boolean
  /** Sentences about settings that work but may be mistakes. */
  readonly warnings: readonly string[]
}

/** The source of the settings. `env.ts` makes the one of this process. */
export interface Environment extends Files {
  /** The variables of the process and of the `.env` file together. */
  readonly variables: Variables
  /** Undefined when there is no `.env` file. */
  readonly envFile?: EnvFile | undefined
  /** Whether every user of the machine may read that file. */
  readonly isEnvFileOpen?: boolean
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Turns the environment into settings. Throws a ConfigError that lists every problem. */
export function loadConfig(environment: Environment): { config: Config; secrets: Secrets } {
  const { variables, envFile, isEnvFileOpen = false, folder } = environment
  const reader = new SettingsReader(variables)
  const { sites, hasWorkbook, ...file } = readSites(reader, environment)
  const slips = findSlips(variables, envFile?.lines ?? new Map(), file.secretVariables)
  const stored = readDatabase(reader, environment, hasWorkbook)
  const instance: Omit<Config, 'sites'> = {
    hasSites: file.isNamed,
    bulkItemsMax: reader.withDefault('BULK_MAX', wholeNumber(1, 10_000)),
    dataDir: resolve(folder, reader.withDefault('DATA_DIR', filePath)),
    database: stored?.database,
    retentionDays: reader.withDefault('RETENTION_DAYS', retentionDays),
    listen: {
      host: reader.withDefault('HOST', listenHost),
      port: reader.withDefault('PORT', wholeNumber(0, 65_535)),
    },
    bodyBytesMax: reader.withDefault('BODY_LIMIT_BYTES', wholeNumber(kibibyte, 16 * mebibyte)),
    allowedHosts: reader.optional('ALLOWED_HOSTS', ownHosts),
    trustedProxies: reader.withDefault('TRUST_PROXY', wholeNumber(0, 10)),
    logLevel: reader.withDefault('LOG_LEVEL', logLevel),
    logFormat: reader.optional('LOG_FORMAT', logFormat),
    logColours: (variables['NO_COLOR'] ?? '') === '',
    warnings: [
      ...slips.warnings,
      ...separatorWarnings({ tabs: reader.text('SHEET_TABS'), keys: reader.text('API_KEYS') }),
      ...(stored?.warnings ?? []),
      ...exposedSecrets(envFile, isEnvFileOpen, file.secretVariables),
    ],
  }
  const alertWebhook = readAlertWebhook(reader)
  const apiKeys = reader.optional('API_KEYS', keyList) ?? []
  const metricsToken = reader.optional('METRICS_TOKEN', bearerToken)
  const unsupported = notYetSupported(variables)
  const problems = [
    ...(envFile?.problems ?? []),
    ...[...reader.problems, ...file.problems].filter(
      (it) => !unsupported.some(({ setting }) => setting === it.setting),
    ),
    ...unsupported,
    ...slips.problems,
  ]
  const [first, ...others] = sites.map(({ site }) => site)
  if (problems.length > 0 || !first) throw new ConfigError(problems)
  const secrets = {
    ...(stored && { databaseUrl: stored.databaseUrl }),
    apiKeys,
    ...(metricsToken !== undefined && { metricsToken }),
    ...(alertWebhook && { alertWebhook }),
    sites: new Map(sites.map((it) => [it.site.name, it.secrets])),
  }
  return { config: { ...instance, sites: [first, ...others] }, secrets }
}
