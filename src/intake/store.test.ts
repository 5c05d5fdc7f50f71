import { join } from 'node:path'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { systemClock } from '../platform/clock.ts'
import { signupIds } from '../signup/id.ts'
import { parseSignup } from '../signup/parse.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { Turns } from './idempotency.ts'
import { refuseSpent, store, type StoreParts } from './store.ts'
import type { Challenge } from '../challenge/challenge.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Idempotency, IntakeLog } from '../journal/contracts/intake-log.ts'
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

const partsOf = (journal: IntakeLog, challenge?: Challenge): StoreParts => ({
  ...{ challenge, journal, clock: systemClock, newId: signupIds(), turns: new Turns() },
  events: createEvents(pino({ level: 'silent' }), createHealth(), systemClock),
})

function exchangeWith(take = () => {}) {
  const client = { rateLimitKey: undefined }
  return { signups: 1, take, takeReplays: take, client } as unknown as Exchange
}

function submissionWith(idempotency?: Idempotency) {
  const parsed = parseSignup({ email: 'a@example.com' }, { defaultTab: 'Sheet1', source: 'api' })
  if (!parsed.ok) throw new Error('This is a good signup.')
  return { signups: [parsed.value], challengeToken: 'anything', idempotency }
}

test('without a challenge everybody is admitted, and no token is kept', async () => {
  await using journal = openSqliteJournal(':memory:')
  const parts = partsOf(journal.intake)
  for (let time = 0; time < 2; time++) {
    const { results } = await store(submissionWith(), exchangeWith(), parts)
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
  let asked = 0
  const challenge: Pick<Challenge, 'verify'> = {
    verify: async () => {
      asked++
      return { kind: 'passed' } as const
    },
  }
  const parts = partsOf(journal.intake, challenge as Challenge)
  const refused = async () => store(submissionWith(), exchangeWith(take), parts)
  await expect(refused()).rejects.toBeInstanceOf(Refusal)
  expect(asked).toBe(0)
})

test('a key that gets the last seat at another instance while it is looked up here gets the same answer', async () => {
  await using world = await tempFolder()
  const open = () => openSqliteJournal(join(world.path, 'journal.db'), { closing: { after: 1 } })
  await using one = open()
  await using other = open()
  const submission = submissionWith({ space: '', key: 'a', fingerprint: 'a' })
  const send = (intake: IntakeLog) => store(submission, exchangeWith(), partsOf(intake))
  let first: Awaited<ReturnType<typeof send>> | undefined
  const recall: IntakeLog['recall'] = async (key) => {
    const known = await one.intake.recall(key)
    first ??= await send(other.intake)
    await one.intake.lookAtSeats()
    return known
  }
  const again = await send({ ...one.intake, recall })
  expect(again).toEqual({ results: first?.results, isReplay: true })
})
