import pino from 'pino'
import { expect, test } from 'vitest'

import type { Attempt, Verdict } from '../challenge/challenge.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { systemClock } from '../platform/clock.ts'
import { parseSignup } from '../signup/parse.ts'
import { admit, type Submission } from './store.ts'

function silentEvents() {
  return createEvents(pino({ level: 'silent' }), createHealth(), systemClock)
}

function gate({ verdict = { kind: 'passed' }, isForTests = false }: Partial<Gate> = {}) {
  const attempts: Attempt[] = []
  const verify = async (attempt: Attempt) => {
    attempts.push(attempt)
    return verdict
  }
  const events = silentEvents()
  const challenge = { verify, isForTests }
  const parts = { events }
  return { ask: (submission: Submission) => admit(challenge, submission, visitor, parts), attempts }
}

interface Gate {
  readonly verdict: Verdict
  readonly isForTests: boolean
}

const visitor = { requestId: 'a-request', client: { visitorAddress: undefined } }

function submission(challengeToken: string, email: string, key?: string) {
  const parsed = parseSignup({ email }, { defaultTab: 'Sheet1', source: 'api' })
  if (!parsed.ok) throw new Error('This is a good signup.')
  const idempotency = key === undefined ? undefined : { space: '', key, fingerprint: email }
  return {
    challengeToken,
    signups: [parsed.value],
    idempotency,
  }
}

test('a repeated request is the same submission, and any other request is another one', async () => {
  const { ask, attempts } = gate()
  await ask(submission('t', 'a@example.com'))
  await ask(submission('t', 'a@example.com'))
  await ask(submission('t', 'b@example.com'))
  await ask(submission('t', 'b@example.com', 'key'))
  await ask(submission('t', 'b@example.com', 'other key'))
  const [first, second, ...others] = attempts.map(({ submissionId }) => submissionId)
  expect(first).toBe(second)
  expect(new Set([first, ...others]).size).toBe(4)
})

test('two name spaces with one key make two submissions', async () => {
  const { ask, attempts } = gate()
  const given = submission('t', 'a@example.com', 'key')
  await ask(given)
  const idempotency = { space: 'other', key: 'key', fingerprint: 'a@example.com' }
  await ask({ ...given, idempotency })
  expect(new Set(attempts.map(({ submissionId }) => submissionId)).size).toBe(2)
})

test('the fingerprint of a token does not depend on the signup', async () => {
  const { ask } = gate()
  const first = await ask(submission('a-token', 'a@example.com'))
  expect(first).toMatch(/^[\w+/]{43}=$/)
  expect(await ask(submission('a-token', 'b@example.com', 'key'))).toBe(first)
  expect(await ask(submission('b-token', 'a@example.com'))).not.toBe(first)
})

test('with test keys, each visitor can use the token that all visitors have', async () => {
  const { ask } = gate({ isForTests: true })
  const first = await ask(submission('dummy', 'a@example.com'))
  expect(await ask(submission('dummy', 'a@example.com'))).toBe(first)
  expect(await ask(submission('dummy', 'b@example.com'))).not.toBe(first)
})

test.each<[Verdict, number, string, string[]]>([
  [{ kind: 'rejected', reason: 'forged' }, 403, 'Invalid challenge token', []],
  [
    { kind: 'unavailable', message: 'down', isPassing: true, retryAfterSeconds: 17 },
    503,
    'Challenge tokens cannot be verified just now',
    ['retry-after', '17'],
  ],
  [
    {
      kind: 'misconfigured',
      reason: 'refused',
      message: 'wrong',
      hint: 'copy it',
      retryAfterSeconds: 30,
    },
    503,
    'Challenge tokens cannot be verified just now',
    ['retry-after', '30'],
  ],
])('the verdict %o gives a %i', async (verdict, status, message, headers) => {
  const { ask } = gate({ verdict })
  await expect(ask(submission('token', 'ada@example.com'))).rejects.toMatchObject({
    status,
    message: expect.stringContaining(message),
    headers,
  })
})
