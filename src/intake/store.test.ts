import pino from 'pino'
import { expect, test } from 'vitest'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { systemClock } from '../platform/clock.ts'
import { signupIds } from '../signup/id.ts'
import { parseSignup } from '../signup/parse.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { Turns } from './idempotency.ts'
import { refuseSpent, store, type StoreParts } from './store.ts'
import type { Challenge } from '../challenge/challenge.ts'
import type { Exchange } from '../http/exchange.ts'
import { Refusal } from '../http/problem.ts'
import { refuse } from '../http/refuse.ts'

test('a retry counts as a replay while its first request is still running', async () => {
  const key = { space: '', key: 'a' }
  const first = Promise.withResolvers<undefined>()
  const turns = new Turns()
  const working = turns.take(key, undefined, () => first.promise)
  const counted: string[] = []
  const exchange: Pick<Exchange, 'take' | 'takeReplays'> = {
    take: (count) => counted.push(`${count} signups`),
    takeReplays: (count) => counted.push(`${count} replays`),
  }
  await using journal = openSqliteJournal(':memory:')
  const given: Pick<StoreParts, 'turns' | 'journal'> = { turns, journal: journal.intake }
  const parts = given as StoreParts
  await refuseSpent(key, exchange as Exchange, parts)
  first.resolve(undefined)
  await working
  await refuseSpent(key, exchange as Exchange, parts)
  expect(counted).toEqual(['1 replays', '1 signups'])
})

test('without a challenge everybody is admitted, and no token is kept', async () => {
  await using journal = openSqliteJournal(':memory:')
  const events = createEvents(pino({ level: 'silent' }), createHealth(), systemClock)
  const parts = {
    ...{ challenge: undefined, journal: journal.intake, events },
    ...{ clock: systemClock, newId: signupIds(), turns: new Turns() },
  }
  const exchange = { signups: 1, take: () => {}, client: { rateLimitKey: undefined } }
  const parsed = parseSignup({ email: 'a@example.com' }, { defaultTab: 'Sheet1', source: 'api' })
  if (!parsed.ok) throw new Error('This is a good signup.')
  const submission = { signups: [parsed.value], challengeToken: 'anything', idempotency: undefined }
  for (let time = 0; time < 2; time++) {
    const { results } = await store(submission, exchange as unknown as Exchange, parts)
    expect(results).toMatchObject([{ sheetTab: 'Sheet1' }])
  }
})

const spent = () => {
  throw refuse.challenge()
}

test.each([
  ['beyond the limit of a client', spent, {}],
  ['for a closed site', () => {}, { closing: { at: 0 } }],
])('signups %s are refused before the challenge provider is asked', async (_, take, policy) => {
  await using journal = openSqliteJournal(':memory:', policy)
  const events = createEvents(pino({ level: 'silent' }), createHealth(), systemClock)
  let asked = 0
  const challenge: Pick<Challenge, 'verify'> = {
    verify: async () => {
      asked++
      return { kind: 'passed' } as const
    },
  }
  const parts = {
    ...{ challenge: challenge as Challenge, journal: journal.intake, events },
    ...{ clock: systemClock, newId: signupIds(), turns: new Turns() },
  }
  const exchange = { signups: 1, take, client: { rateLimitKey: undefined } }
  const parsed = parseSignup({ email: 'a@example.com' }, { defaultTab: 'Sheet1', source: 'api' })
  if (!parsed.ok) throw new Error('This is a good signup.')
  const submission = { signups: [parsed.value], challengeToken: 'a', idempotency: undefined }
  const refused = async () => store(submission, exchange as unknown as Exchange, parts)
  await expect(refused()).rejects.toBeInstanceOf(Refusal)
  expect(asked).toBe(0)
})
