import pino from 'pino'
import { expect, test } from 'vitest'
import { Client } from '../http/client.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Appended, AppendTerms, AskTerms, IntakeLog } from '../journal/contracts/intake-log.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { Metrics } from '../ops/metrics.ts'
import { systemClock } from '../platform/clock.ts'
import { signupIds } from '../signup/id.ts'
import { parseSignup } from '../signup/parse.ts'
import type { Signup } from '../signup/signup.ts'
import { Turns } from './idempotency.ts'
import { store, type Submission, type VisitorMail } from './store.ts'

/** A journal that notes what it is asked for. */
function world(mail: VisitorMail | undefined) {
  const asked: AskTerms[] = []
  const appended: (AppendTerms | undefined)[] = []
  const answer = (signups: readonly Signup[], beside?: 'pending'): Appended => ({
    kind: 'appended',
    results: signups.map((it, at) => ({
      ...{ id: it.id, sheetTab: it.sheetTab, receivedAt: it.receivedAt },
      ...(beside ? { position: 0, beside } : { position: at + 1 }),
    })),
  })
  const journal: Pick<IntakeLog, 'openness' | 'append' | 'ask'> = {
    openness: () => 'open',
    append: async (signups, terms) => {
      appended.push(terms)
      return answer(signups)
    },
    ask: async (signups, terms) => {
      asked.push(terms)
      return answer(signups, 'pending')
    },
  }
  const metrics = new Metrics([])
  const options = { metrics: metrics.ofSite('default') }
  const events = createEvents(pino({ level: 'silent' }), createHealth(), systemClock, options)
  const parts = {
    ...{ challenge: undefined, journal: journal as IntakeLog, events, mail },
    ...{ clock: systemClock, newId: signupIds(), turns: new Turns() },
  }
  const parsed = parseSignup({ email: 'a@example.com' }, { defaultTab: 'Sheet1', source: 'api' })
  if (!parsed.ok) throw new Error('This is a good signup.')
  const whole = { signups: [parsed.value], challengeToken: undefined, idempotency: undefined }
  const send = async (how: Partial<Submission>, apiKey?: string, headers = {}) => {
    const sender = { remoteAddress: '203.0.113.7', forwardedFor: null, trustedProxies: 0 }
    const client = new Client(sender)
    client.apiKey = apiKey
    const request = new Request('https://signup.example/api/signup?language=sv', { headers })
    const exchange = { signups: 1, take: () => {}, client, request } as unknown as Exchange
    const { results } = await store({ ...whole, ...how }, exchange, parts)
    return results
  }
  return { asked, appended, send, counted: () => metrics.text(undefined) }
}

const german = { 'accept-language': 'de-AT' }

test('where the site confirms, a signup is asked for with the share and the language of its request', async () => {
  const { asked, appended, send, counted } = world({ confirms: true, language: 'it' })
  expect(await send({ isOwn: true }, undefined, german)).toMatchObject([{ beside: 'pending' }])
  await send({}, 'digest')
  expect(asked.map(({ addressing }) => addressing)).toEqual([
    { share: '203.0.113.7', language: 'de' },
    { share: 'key', language: 'it' },
  ])
  expect(appended).toEqual([])
  const text = await counted()
  expect(text).toContain('rollcall_signups_unconfirmed_total{site="default"} 2')
  expect(text).toContain('rollcall_signups_accepted_total{site="default"} 0')
})

test('a request that says its people have confirmed goes to the list, and greets nobody', async () => {
  const { asked, appended, send, counted } = world({ confirms: true, language: undefined })
  expect(await send({ isConfirmed: true }, 'digest')).toMatchObject([{ position: 1 }])
  expect(asked).toEqual([])
  expect(appended).toMatchObject([{}])
  expect(appended[0]?.greeting).toBeUndefined()
  expect(await counted()).toContain('rollcall_signups_accepted_total{site="default"} 1')
})

test('a welcome mail is for people who sign up themselves, not for bulk and not for API keys', async () => {
  const { appended, send } = world({ confirms: false, language: undefined })
  await send({ isOwn: true })
  await send({ isOwn: false })
  expect(appended.map((terms) => terms?.greeting)).toEqual([
    { share: '203.0.113.7', language: 'en' },
    undefined,
  ])
})

test('a site without mails asks for nothing and greets nobody', async () => {
  const { appended, send } = world(undefined)
  await send({ isOwn: true })
  expect(appended[0]?.greeting).toBeUndefined()
})
