import pg from 'pg'
import { connectionsOfInstance, defaultLimits, valueTypes } from './connections.ts'

interface Reason {
  /** A sentence without its subject, which is the database. */
  readonly why: string
  /** What to do. */
  readonly hint: string
  /** Whether it may be reached a moment later, without anybody's help. */
  readonly mayPass?: true
}

/** The database cannot be reached. Says why, in words without its URL. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  readonly reason: Reason

  constructor(reason: Reason) {
    super(`The database of DATABASE_URL ${reason.why}. ${reason.hint}`)
    this.reason = reason
  }
}

/**
 * Connects to the database of this URL, and gives `work` the connection, which no pool has.
 *
 * @throws Unreachable when it does not connect
 */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'rollcall',
    connectionTimeoutMillis: defaultLimits.connectMs,
    query_timeout: defaultLimits.answerMs,
    types: valueTypes,
  })
  // A connection that breaks later fails its query.
  client.on('error', () => {})
  try {
    await client.connect().catch((error: unknown) => {
      throw new Unreachable(reasonOf(error))
    })
    return await work(client)
  } finally {
    // Waits for no answer.
    client.end().catch(() => {})
  }
}

const startHint = 'Start PostgreSQL, or correct the host and the port of DATABASE_URL.'
const tlsHint =
  'Give the certificate of its authority in sslrootcert=FILE, and the host name that the certificate has.'

/** By the codes of Node and of PostgreSQL (https://www.postgresql.org/docs/18/errcodes-appendix.html). */
const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: { why: 'has nobody who answers at its port', hint: startHint, mayPass: true },
  ENOTFOUND: { why: 'has a host name that nobody knows', hint: startHint, mayPass: true },
  '28P01': {
    why: 'refuses the password',
    hint: 'Correct the user name and the password in DATABASE_URL.',
  },
  '28000': {
    why: 'refuses this user or this machine',
    hint: 'Correct the user name in DATABASE_URL, or allow the connection in pg_hba.conf. It may want TLS: add ?sslmode=verify-full.',
  },
  '3D000': {
    why: 'does not exist on its server',
    hint: 'Make it with CREATE DATABASE, or correct its name in DATABASE_URL.',
  },
  '42501': { why: 'lets this user not connect', hint: 'Give it GRANT CONNECT ON DATABASE.' },
  '53300': {
    why: 'has no connection left',
    hint: `Raise max_connections, use a pooler, or run fewer instances: each takes up to ${connectionsOfInstance}.`,
    mayPass: true,
  },
  '57P03': { why: 'is starting or stopping', hint: 'Wait until it is up.', mayPass: true },
}

const silent: Reason = {
  why: `does not answer within ${defaultLimits.connectMs / 1000} seconds`,
  hint: 'Look whether PostgreSQL runs, and whether a firewall lets this machine connect.',
  mayPass: true,
}

const noTls: Reason = {
  why: 'offers no TLS',
  hint: 'Turn TLS on there. In a network of your own, write sslmode=disable.',
}

const noPassword: Reason = {
  why: 'wants a password',
  hint: 'Write it into DATABASE_URL, behind the user name and a colon.',
}

function reasonOf(error: unknown): Reason {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known = reasons[code]
  if (known) return known
  if (/CERT|TLS|SSL|ISSUER|SIGNATURE/.test(code)) {
    return { why: `has a certificate that is not trusted (${code})`, hint: tlsHint }
  }
  const message = error instanceof Error ? error.message : ''
  if (message.includes('does not support SSL')) return noTls
  if (message.startsWith('SASL')) return noPassword
  if (code === '') return silent
  return { ...silent, why: `cannot be reached (${code})` }
}
