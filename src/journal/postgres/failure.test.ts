import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'

import { JournalUnavailable } from '../contracts/errors.ts'
import { toUnavailable } from './failure.ts'

function answered(code: string, message: string): unknown {
  return toUnavailable(Object.assign(new DatabaseError(message, 0, 'error'), { code }))
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
