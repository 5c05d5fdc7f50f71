import { resolve } from 'node:path'
import { isLoopback } from '../platform/web-host.ts'
import { text, Wrong } from './kind.ts'
import { urlCodes, urlWithLogin } from './mail-values.ts'
import type { Files } from './read-file.ts'
import type { SettingsReader } from './reader.ts'

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
  const form =
    'the URL of a PostgreSQL database: postgres://USER:PASSWORD@HOST/DATABASE, with ?sslmode=verify-full behind it for TLS'
  return reader.read(
    'DATABASE_URL',
    text(
      form,
      (it) => parseDatabaseUrl(it, files),
      'Begin it with postgres:// (or postgresql://). Only PostgreSQL, and what speaks its protocol, is supported.',
    ),
  )
}

function parseDatabaseUrl(it: string, files: Files): Database | Wrong | undefined {
  if (!/^postgres(ql)?:\/\//i.test(it)) return undefined
  const url = urlWithLogin(it)
  if (url instanceof Wrong) return url
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const name = decodeURIComponent(url.pathname.slice(1))
  if (host === '') return new Wrong('names no host.', 'Write the host behind the @ or the //.')
  if (host.includes(',')) {
    const hint =
      'Give one that always leads to the primary: that of a pooler, of the provider, or of a proxy.'
    return new Wrong('names several hosts.', hint)
  }
  if (name === '' || name.includes('/'))
    return new Wrong('names no database.', 'Write / and its name behind the host.')
  const wrong = wrongParameter(url, files)
  return wrong ?? { database: { host, name }, ...secured(url, host) }
}

/** What is wrong with the part behind the question mark, and what to do. */
function wrongParameter({ searchParams }: URL, { folder, readText }: Files): Wrong | undefined {
  const unknown = [...searchParams.keys()].find((key) => !parameters.includes(key))
  if (unknown !== undefined) {
    // A part of a password may be here, so only what looks like a name is repeated.
    const named = /^[a-z_]{2,30}$/i.test(unknown) ? ` named ${unknown}` : ''
    return new Wrong(
      `has a parameter${named} that Rollcall does not take.`,
      `Remove it. These may be there: ${parameters.join(', ')}. ${urlCodes}`,
    )
  }
  const mode = searchParams.get('sslmode')
  if (mode !== null && !sslModes.includes(mode)) {
    return new Wrong('has an unknown sslmode.', `Give one of ${sslModes.join(', ')}.`)
  }
  const isAlike = searchParams.get('uselibpqcompat') === 'true'
  if (isAlike && mode === 'verify-ca' && !searchParams.has('sslrootcert')) {
    return new Wrong('has sslmode=verify-ca without sslrootcert.', 'Give sslmode=verify-full.')
  }
  for (const key of fileParameters) {
    const path = searchParams.get(key)
    if (path !== null && !isReadable(readText, resolve(folder, path))) {
      return new Wrong(
        `names a file in ${key} that cannot be read.`,
        'Give the path of a PEM file.',
      )
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
