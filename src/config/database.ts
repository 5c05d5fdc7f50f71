import { resolve } from 'node:path'
import { isLoopback } from '../platform/web-host.ts'
import type { Files } from './read-file.ts'
import type { ParsedSetting } from './refusal.ts'
import type { SettingsReader } from './reader.ts'
import { decoded, urlCodes } from './values.ts'

/** The PostgreSQL database that keeps the journal. Holds no secret. */
export interface DatabaseConfig {
  /** The host, or the folder of a Unix socket. */
  readonly host: string
  readonly name: string
}

export interface Database {
  readonly database: DatabaseConfig
  /** The URL for `pg`, with its password. */
  readonly databaseUrl: string
  /** Sentences about what works but may be a mistake. */
  readonly warnings: readonly string[]
}

/** What `pg` makes of each value of `sslmode`. With `uselibpqcompat=true` some check less. */
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** `pg` 8 treats these as `verify-full` and says so on standard error at each start. */
const asVerifyFull = ['prefer', 'require', 'verify-ca']

/** Names of files in the URL. */
const fileParameters = ['sslrootcert', 'sslcert', 'sslkey']

/** Others could change what Rollcall sets for each connection, such as its time limits. */
const parameters = [
  ...['sslmode', 'uselibpqcompat', 'sslnegotiation', 'host', 'port'],
  ...['application_name', 'channel_binding', 'connect_timeout', 'target_session_attrs'],
  ...fileParameters,
]

const expected =
  'a URL such as postgres://USER:PASSWORD@HOST/DATABASE, with ?sslmode=verify-full behind it for TLS'

/** Reads `DATABASE_URL`. Undefined when it is unset or was refused. */
export function readDatabase(
  reader: SettingsReader,
  files: Files,
  hasWorkbook: boolean,
): Database | undefined {
  if (hasWorkbook && reader.isSet('DATABASE_URL')) {
    reader.refuse('DATABASE_URL', {
      problem:
        'is set without a Google Sheet. The local workbook is a folder of one machine, so instances on others could not write to it.',
      expected: 'nothing, or the SHEETS_ settings too',
      hint: 'Set SHEETS_SHEET_ID and the service account (docs/google-setup.md); or remove DATABASE_URL to keep signups in DATA_DIR.',
    })
  }
  return reader.optional('DATABASE_URL', (text) => parseDatabaseUrl(text, files))
}

function parseDatabaseUrl(text: string, files: Files): ParsedSetting<Database> {
  const url = URL.parse(text)
  const refused = (problem: string, hint: string) => ({ problem, expected, hint })
  if (!/^postgres(ql)?:\/\//i.test(text)) {
    return refused(
      'is not the URL of a PostgreSQL database.',
      'Begin it with postgres:// (or postgresql://). Only PostgreSQL, and what speaks its protocol, is supported.',
    )
  }
  // What is behind an unwritten / ? or # of a password ends with the @ before the host.
  const isBroken = !url || (url.pathname + url.search + url.hash).includes('@')
  if (isBroken || !isDecodable(url) || /[\s\p{Cc}]/u.test(text)) {
    return refused('has a character that must be written as a code, or is no URL.', urlCodes)
  }
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const name = decodeURIComponent(url.pathname.slice(1))
  if (host === '') return refused('names no host.', 'Write the host behind the @ or the //.')
  if (host.includes(',')) {
    return refused(
      'names several hosts.',
      'Give one that always leads to the primary: that of a pooler, of the provider, or of a proxy.',
    )
  }
  if (name === '' || name.includes('/')) {
    return refused('names no database.', 'Write / and its name behind the host.')
  }
  const refusal = parameterProblem(url, files)
  if (refusal) return refused(...refusal)
  return { value: { database: { host, name }, ...secured(url, host) } }
}

function isDecodable({ username, password, hostname, pathname, search }: URL): boolean {
  return decoded(username, password, hostname, pathname, search) !== undefined
}

/** What is wrong with the part behind the question mark, and what to do. */
function parameterProblem(
  { searchParams }: URL,
  { folder, readText }: Files,
): readonly [string, string] | undefined {
  const unknown = [...searchParams.keys()].find((key) => !parameters.includes(key))
  if (unknown !== undefined) {
    // A part of a password may be here, so only what looks like a name is repeated.
    const named = /^[a-z_]{2,30}$/i.test(unknown) ? ` named ${unknown}` : ''
    return [
      `has a parameter${named} that Rollcall does not take.`,
      `Remove it. These may be there: ${parameters.join(', ')}. ${urlCodes}`,
    ]
  }
  const mode = searchParams.get('sslmode')
  if (mode !== null && !sslModes.includes(mode)) {
    return ['has an unknown sslmode.', `Give one of ${sslModes.join(', ')}.`]
  }
  const isAlike = searchParams.get('uselibpqcompat') === 'true'
  if (isAlike && mode === 'verify-ca' && !searchParams.has('sslrootcert')) {
    return ['has sslmode=verify-ca without sslrootcert.', 'Give sslmode=verify-full instead.']
  }
  for (const key of fileParameters) {
    const path = searchParams.get(key)
    if (path !== null && !isReadable(readText, resolve(folder, path))) {
      return [`names a file in ${key} that cannot be read.`, 'Give the path of a PEM file.']
    }
  }
  return undefined
}

function isReadable(readText: Files['readText'], path: string): boolean {
  try {
    return readText(path) !== ''
  } catch {
    return false
  }
}

/** The URL with an explicit `sslmode`, so that neither a variable nor a later `pg` changes what it means. */
function secured(url: URL, host: string): Omit<Database, 'database'> {
  const query = url.searchParams
  const asked = query.get('sslmode')
  const isAlike = query.get('uselibpqcompat') === 'true'
  const usesTls = fileParameters.some((key) => query.has(key)) || query.has('sslnegotiation')
  const mode = asked ?? (usesTls ? 'verify-full' : 'disable')
  const isVerifiedToday = !isAlike && asVerifyFull.includes(mode)
  query.set('sslmode', isVerifiedToday ? 'verify-full' : mode)
  const isUnchecked = mode === 'no-verify' || (isAlike && (mode === 'prefer' || mode === 'require'))
  const warning = mode === 'disable' ? unencrypted : isUnchecked ? unchecked : undefined
  const isLocal = host.startsWith('/') || isLoopback(host)
  const warnings = warning === undefined || isLocal ? [] : [warning]
  return { databaseUrl: url.href, warnings }
}

const unencrypted =
  'DATABASE_URL goes to another machine without TLS: addresses and the password travel unencrypted. Add ?sslmode=verify-full to it, unless that network is your own.'

const unchecked =
  'DATABASE_URL does not check who answers, so another machine could take the place of the database. Use sslmode=verify-full.'
