import pino from 'pino'
import { expect, test, vi } from 'vitest'

import { ManualClock } from '../../test/manual-clock.ts'
import type { Attempt, Verdict } from '../challenge/challenge.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { parseSignup } from '../signup/parse.ts'
import { Admission } from './admission.ts'

function gate(verdict: Verdict | undefined = { kind: 'passed' }) {
  const attempts: Attempt[] = []
  const clock = new ManualClock()
  const verify = async (attempt: Attempt) => {
    attempts.push(attempt)
    return verdict
  }
  const events = createEvents(pino({ level: 'silent' }), createHealth(), clock)
  const admission = new Admission({ challenge: { verify }, events, clock })
  return { admission, attempts, clock }
}

function applicant(challengeToken: string, email: string, key?: string) {
  const parsed = parseSignup({ email }, { defaultTab: 'Sheet1', source: 'api' })
  if (!parsed.ok) throw new Error('This is a good signup.')
  const idempotency = key === undefined ? undefined : { key, fingerprint: email }
  return {
    challengeToken,
    visit: { requestId: 'a-request', remoteAddress: undefined },
    parsed: [parsed.value],
    idempotency,
  }
}

const store = async () => 'stored'

test('what is sent again is the same submission, and anything else is another', async () => {
  const { admission, attempts } = gate()
  const fail = () => admission.admit(applicant('t', 'a@example.com'), failing)
  const failing = async () => {
    throw new Error('The disk is full.')
  }
  await expect(fail()).rejects.toThrow('full')
  await expect(fail()).rejects.toThrow('full')
  await admission.admit(applicant('t', 'b@example.com'), store)
  await admission.admit(applicant('t', 'b@example.com', 'key'), store)
  await admission.admit(applicant('t', 'b@example.com', 'other key'), store)
  const [first, second, ...others] = attempts.map(({ submissionId }) => submissionId)
  expect(first).toBe(second)
  expect(new Set([first, ...others]).size).toBe(4)
})

test('a token is good for one signup, and after a write that failed it still is', async () => {
  const { admission, attempts } = gate()
  const failing = async () => {
    throw new Error('The disk is full.')
  }
  const admit = (work: () => Promise<string>) =>
    admission.admit(applicant('token', 'ada@example.com'), work)
  await expect(admit(failing)).rejects.toThrow('full')
  expect(await admit(store)).toBe('stored')
  await expect(admit(store)).rejects.toMatchObject({ status: 403 })
  expect(attempts).toHaveLength(2)
})

test('what was used is forgotten when no provider takes the token any more', async () => {
  const { admission, attempts, clock } = gate()
  const admit = (token: string) => admission.admit(applicant(token, 'ada@example.com'), store)
  await admit('token')
  await clock.run(9 * 60_000)
  await expect(admit('token')).rejects.toMatchObject({ status: 403 })
  await clock.run(2 * 60_000)
  await admit('another')
  await admit('token')
  expect(attempts.map(({ token }) => token)).toEqual(['token', 'another', 'token'])
})

test.each<[Verdict, number, string, Record<string, string>]>([
  [{ kind: 'rejected', reason: 'forged' }, 403, 'Invalid challenge token', {}],
  [
    { kind: 'unavailable', message: 'down', retryAfterSeconds: 17 },
    503,
    'Challenge tokens cannot be verified just now',
    { 'retry-after': '17' },
  ],
  [
    { kind: 'misconfigured', message: 'wrong', hint: 'copy it', retryAfterSeconds: 30 },
    503,
    'Challenge tokens cannot be verified just now',
    { 'retry-after': '30' },
  ],
])(
  'the verdict %o is answered with %i, and nothing is stored',
  async (verdict, status, message, headers) => {
    const { admission } = gate(verdict)
    const stored = vi.fn(store)
    const admitted = admission.admit(applicant('token', 'ada@example.com'), stored)
    await expect(admitted).rejects.toMatchObject({
      status,
      message: expect.stringContaining(message),
      headers,
    })
    expect(stored).not.toHaveBeenCalled()
  },
)
