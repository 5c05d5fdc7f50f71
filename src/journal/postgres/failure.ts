import { DatabaseError } from 'pg'
import { JournalUnavailable, OutcomeUnknown } from '../contracts/errors.ts'

/** The connection has failed, or none was to be had in time. */
export class ConnectionFailed extends JournalUnavailable {
  override readonly name = 'ConnectionFailed'

  /** Leaves the words of the system out, because they may name hosts. */
  constructor(cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    super(`The journal cannot be used: its database does not answer${code}.`)
  }
}

/** The database does not take a value, or takes it only once. Nothing was changed. */
export class DataRefused extends JournalUnavailable {
  override readonly name = 'DataRefused'
}

/** `pg`'s errors that are not the server's answers become `ConnectionFailed`. */
export function throwOfDriver(error: unknown): never {
  throw error instanceof DatabaseError ? error : new ConnectionFailed(error)
}

/** Whether the error is of the server or the connection, and not of our own code. */
export function isOfDatabase(error: unknown): boolean {
  return [DatabaseError, ConnectionFailed, OutcomeUnknown].some((kind) => error instanceof kind)
}

// The codes: https://www.postgresql.org/docs/18/errcodes-appendix.html

/** Whether the server has taken the transaction back only because others ran at the same time. */
export const isRepeatable = hasCode(/^(40001|40P01)$/)

/** Whether the statement may succeed when it is not prepared, as a pooler may give us another server process. */
export const isUnprepared = hasCode(/^(26000|42P05)$/)

/** Whether the server was the primary once, and is a standby now. */
export const isReadOnly = hasCode(/^25006$/)

/**
 * Whether the server's answer says that nothing was committed. An answer about its own trouble, or about
 * a shutdown while it waits for a standby, does not say so.
 */
export const isRefusal = hasCode(/^(?!08|40003|57|58|F0|XX)/)

/** Whether an error is an answer of the server with such a code. */
function hasCode(pattern: RegExp): (error: unknown) => boolean {
  return (error) =>
    error instanceof DatabaseError && error.code !== undefined && pattern.test(error.code)
}

/** Our own words for answers whose messages repeat data, or parts of `DATABASE_URL`, by their codes. */
const ownWords: readonly (readonly [RegExp, string])[] = [
  [/^2[23]/, 'the database does not take a value'],
  [/^28/, 'the database does not let this user in'],
  [/^3D/, 'there is no such database'],
  [/^42501/, 'the database does not give this user the right'],
  [/^53/, 'the database has no room or no connection left'],
]

/**
 * The same error in words without data and names: a server's other messages have none, but its details do.
 * Other errors stay as they are.
 */
export function toUnavailable(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error
  const { code = 'none', message } = error
  // Data exceptions and violated constraints.
  const Kind = /^2[23]/.test(code) ? DataRefused : JournalUnavailable
  const words = ownWords.find(([codes]) => codes.test(code))?.[1] ?? message
  return new Kind(`The journal cannot be used: ${words} (SQLSTATE ${code}).`)
}
