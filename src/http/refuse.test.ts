import { describe, expect, test } from 'vitest'
import { problem } from './problem.ts'
import type { Allowance } from './rate-limit.ts'
import { refuse } from './refuse.ts'

describe('too many signups', () => {
  const spent: Allowance = {
    policy: 'signups',
    isTaken: false,
    limit: 10,
    remaining: 0,
    waitMs: 30_001,
  }

  test('are to be sent again after some seconds, rounded up', () => {
    const { message, headers } = refuse.tooMany(spent, 10)
    expect(message).toMatch(/at most 10 signups a minute\..*Retry-After/)
    expect(headers).toEqual(['retry-after', '31'])
  })

  test('are to be sent in parts when there are more than a minute allows', () => {
    const { message } = refuse.tooMany(spent, 11)
    expect(message).toMatch(/at most 10 signups a minute, and this request has 11\. Send fewer/)
  })

  test('are called repeated requests when they are replays', () => {
    expect(refuse.tooMany({ ...spent, policy: 'replays' }, 1).message).toContain(
      'at most 10 repeated requests a minute',
    )
  })
})

describe('wrong fields', () => {
  const email = { field: 'email', message: 'The email address is missing.' }
  const whole = { field: '', message: 'The form has too many fields.' }

  test.each([
    [[email], 'email: The email address is missing.'],
    [[whole], 'The form has too many fields.'],
    [[email, whole], '2 fields need a change; "errors" names each.'],
  ])('%j are summed up as: %s', async (errors, detail) => {
    const refused = refuse.fields(errors)
    expect(refused.message).toBe(detail)
    expect(JSON.parse(String(problem(refused, 'id').body))).toEqual({
      type: 'about:blank',
      title: 'Unprocessable Content',
      status: 422,
      detail,
      errors,
      requestId: 'id',
    })
  })
})

test.each([
  refuse.journalUnavailable(),
  refuse.tooBusy(),
  refuse.tooManyInTurn(),
  refuse.challengeUnavailable(7),
])('a request that may pass later is told when, and the log tells more: $kind', (refusal) => {
  const [name, seconds] = refusal.headers
  expect([refusal.status, name]).toEqual([503, 'retry-after'])
  expect(Number(seconds)).toBeGreaterThan(0)
  expect(refusal.isOurs).toBe(true)
})

test('an error that nobody expected is ours', () => {
  expect(refuse.unexpected()).toMatchObject({ status: 500, isOurs: true })
})

test.each([
  ['malformed', 400, 'Bad Request'],
  ['tunnel', 405, 'Method Not Allowed'],
  ['tooSlow', 408, 'Request Timeout'],
  ['expectation', 417, 'Expectation Failed'],
  ['headersTooLarge', 431, 'Request Header Fields Too Large'],
] as const)('input that is %s is the fault of the client: %i %s', (failure, status, title) => {
  const refused = refuse.protocol(failure)
  expect(refused).toMatchObject({ status, isOurs: false })
  expect(JSON.parse(String(problem(refused, 'id').body))).toMatchObject({ status, title })
})
