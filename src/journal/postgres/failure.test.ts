import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'

import { JournalUnavailable, OutcomeUnknown } from '../contracts/errors.ts'
import {
  ConnectionFailed,
  DataRefused,
  isOfDatabase,
  isRefusal,
  throwOfDriver,
  toUnavailable,
} from './failure.ts'

function answerWith(code: string, message = 'it is so'): DatabaseError {
  return Object.assign(new DatabaseError(message, 0, 'error'), { code })
}

function answered(code: string, message: string): unknown {
  return toUnavailable(answerWith(code, message))
}

test.each([
  ['28000', 'no pg_hba.conf entry for host "192.0.2.7", user "ada", database "guests"'],
  ['28P01', 'password authentication failed for user "ada"'],
  ['3D000', 'database "guests" does not exist'],
  ['42501', 'permission denied for database guests'],
  ['53300', 'too many connections for role "ada"'],
])(
  'an answer with the code %s becomes an error that repeats no part of DATABASE_URL',
  (code, said) => {
    const error = answered(code, said)
    expect(error).toBeInstanceOf(JournalUnavailable)
    expect(String(error)).toContain(`(SQLSTATE ${code})`)
    expect(String(error)).not.toMatch(/192\.0\.2\.7|ada|guests/)
  },
)

test('an answer that names nothing keeps its words', () => {
  expect(String(answered('57P03', 'the database system is starting up'))).toContain(
    'the database system is starting up (SQLSTATE 57P03)',
  )
})

test.each(['22P02', '23505'])(
  'an answer with the code %s is about data, which it does not repeat',
  (code) => {
    const error = answered(code, 'invalid input: ada@example.com')
    expect(error).toBeInstanceOf(DataRefused)
    expect(String(error)).toBe(
      'DataRefused: The journal cannot be used: ' +
        `the database does not take a value (SQLSTATE ${code}).`,
    )
  },
)

test.each(['42P01', '12222'])('an answer with the code %s is not about data', (code) => {
  expect(answered(code, 'no such table')).not.toBeInstanceOf(DataRefused)
})

test('an answer without a code says so, and another error stays as it is', () => {
  const error = toUnavailable(new DatabaseError('it is so', 0, 'error'))
  expect(String(error)).toMatch(/: it is so \(SQLSTATE none\)\.$/)
  const own = new TypeError('ours')
  expect(toUnavailable(own)).toBe(own)
})

test("an error of the driver becomes a failed connection with the system's code, and no names", () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 192.0.2.7'), {
    code: 'ECONNREFUSED',
  })
  const failed = (error: unknown) => {
    try {
      return throwOfDriver(error)
    } catch (thrown) {
      return thrown
    }
  }
  expect(String(failed(refused))).toBe(
    'ConnectionFailed: The journal cannot be used: its database does not answer (ECONNREFUSED).',
  )
  expect(String(failed(new Error('ada')))).toBe(
    'ConnectionFailed: The journal cannot be used: its database does not answer.',
  )
  expect(failed(undefined)).toBeInstanceOf(ConnectionFailed)
  const answer = answerWith('57P01')
  expect(failed(answer)).toBe(answer)
})

test('errors of the server, of a connection and of a lost commit are of the database, ours are not', () => {
  const ofDatabase = [answerWith('57P01'), new ConnectionFailed(undefined), new OutcomeUnknown('?')]
  expect(ofDatabase.map(isOfDatabase)).toEqual([true, true, true])
  expect(isOfDatabase(new TypeError('ours'))).toBe(false)
})

test.each([
  ['23505', true],
  ['40001', true],
  ['40003', false],
  ['57P01', false],
  ['08006', false],
  ['08P01', false],
  ['58030', false],
  ['F0001', false],
  ['XX000', false],
])('after the code %s, nothing was committed: %s', (code, isSure) => {
  expect(isRefusal(answerWith(code))).toBe(isSure)
  expect(isRefusal(new Error(code))).toBe(false)
  expect(isRefusal(new DatabaseError('no code', 0, 'error'))).toBe(false)
})
