import { v7 as uuidv7 } from 'uuid'

import type { FrozenBatch } from '../src/signup/batch.ts'
import type { Signup, SignupId } from '../src/signup/signup.ts'

const morning = Date.UTC(2026, 10, 20, 10)

/** A signup as the parser makes it. A test gives the fields that it is about. */
export function makeSignup(fields: Partial<Signup> = {}): Signup {
  return {
    id: uuidv7({ msecs: fields.receivedAt ?? morning }) as SignupId,
    receivedAt: morning,
    email: 'ada@example.com',
    sheetTab: 'Sheet1',
    source: 'api',
    name: '',
    tags: [],
    metadata: '',
    fields: {},
    ...fields,
  }
}

let made = 0

/** A unique signup with all fields. */
export function makeFullSignup(fields: Partial<Signup> = {}): Signup {
  made += 1
  return makeSignup({
    receivedAt: Date.UTC(2026, 10, 20, 10) + made,
    email: `visitor-${made}@example.org`,
    sheetTab: 'News',
    name: 'Ada Lovelace',
    tags: ['early', 'press'],
    metadata: '{"campaign":"spring, 2026"}',
    ...fields,
  })
}

export function makeSignups(count: number, fields: Partial<Signup> = {}): Signup[] {
  return Array.from({ length: count }, (_, index) =>
    makeSignup({ email: `person${index + 1}@example.com`, ...fields }),
  )
}

/** The addresses of a batch by tab. */
export function addressesOf(batch: FrozenBatch | undefined): Record<string, string[]> {
  return Object.fromEntries(
    (batch?.tabs ?? []).map(({ tab, signups }) => [tab, signups.map(({ email }) => email)]),
  )
}
