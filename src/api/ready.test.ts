import { expect, test } from 'vitest'

import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import { refusalWords, type RefusalReason } from '../signup/trouble.ts'
import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ready, readySites, type ReadinessAnswer } from './ready.ts'
import { minute } from '../platform/clock.ts'

const secret = 'SECRET robot@project.example /srv/data Very Private.csv'
const reasons = Object.keys(refusalWords) as RefusalReason[]

function world() {
  const health = createHealth()
  const journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const events = createEvents(createLog('silent'), health, clock)
  const ask = async (isStrict = false) => {
    const answer = await ready({ reader: journal.reader, events, health, clock }, isStrict)
    return { status: answer.status, text: answer.body as string }
  }
  const accept = (sheetTab: string) =>
    journal.intake.append([makeSignup({ sheetTab, receivedAt: clock.now() })])
  const deliver = async (sheetTab: string) => {
    const batch = await freezeNext(journal.delivery, { wanted: (tab) => tab === sheetTab })
    await journal.delivery.settle(batch?.number ?? 0, clock.now())
  }
  /** What is told of a stall, and the status of strict readiness. */
  const stall = async () => {
    const { delivery } = JSON.parse((await ask()).text) as ReadinessAnswer
    return { ...delivery.stalled, strict: (await ask(true)).status }
  }
  return {
    journal,
    clock,
    events,
    health,
    ask,
    accept,
    deliver,
    stall,
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
}

test('the public gets only fixed sentences, and nothing of the details in the log', async () => {
  for (const reason of reasons) {
    await using service = world()
    const refusal = { reason, message: secret, hint: secret }
    service.events.tabSetAside({ name: secret, place: 'the tab at place 2 (gid=7)' }, refusal)
    service.events.spreadsheetWarnings([
      { kind: 'columns', message: `${secret} 1` },
      { kind: 'columns', message: `${secret} 2` },
    ])
    const later = { retryAfterSeconds: 30, isPassing: true }
    const down = { kind: 'unavailable', message: secret, ...later } as const
    service.events.challengeAnswered(down, '')
    service.events.deliveryDelayed(secret, 0)
    const delayed = await service.ask()
    const wrong = { kind: 'misconfigured', ...refusal, ...later, reason: 'refused' } as const
    service.events.challengeAnswered(wrong, '')
    service.events.deliveryBlocked(refusal)
    const blocked = await service.ask()
    expect(delayed.text + blocked.text).not.toMatch(/SECRET|hint/)
    expect(JSON.parse(delayed.text)).toMatchObject({
      delivery: { state: 'partly blocked', error: refusalWords[reason] },
    })
    expect(JSON.parse(blocked.text)).toMatchObject({
      challenge: { state: 'misconfigured', error: 'The challenge provider refuses our calls' },
      delivery: {
        state: 'blocked',
        error: refusalWords[reason],
        tabsSetAside: [{ tab: 'the tab at place 2 (gid=7)', error: refusalWords[reason] }],
        warnings: ['A tab has columns of its own'],
      },
    })
    expect([blocked.status, (await service.ask(true)).status]).toEqual([200, 503])
  }
})

test('the answer has the four messages of the contract word for word', async () => {
  await using service = world()
  service.events.challengeAnswered(
    {
      kind: 'misconfigured',
      reason: 'mismatch',
      message: secret,
      hint: secret,
      retryAfterSeconds: 30,
    },
    '',
  )
  expect((await service.ask()).text).toContain('"error":"Invalid challenge token"')
  expect(refusalWords).toMatchObject({
    permission: 'The caller does not have permission',
    notFound: 'Requested entity was not found',
    credentials: 'Invalid Credentials',
  })
})

const locked = { name: 'Locked', place: 'the tab at place 2 (gid=7)' }
const refusal = { reason: 'protectedTab', message: '', hint: '' } as const

test('strict readiness is 503 when nothing of a backlog was written for ten minutes', async () => {
  await using service = world()
  const noon = service.clock.now()
  await service.accept('News')
  service.events.deliveryDelayed('socket hang up', 0)
  await service.clock.run(10 * minute - 1)
  expect(await service.stall()).toEqual({ strict: 200 })
  await service.clock.run(1)
  const since = new Date(noon).toISOString()
  const error = 'The spreadsheet does not accept rows just now; Rollcall keeps trying'
  expect(await service.stall()).toEqual({ since, error, strict: 503 })
  expect((await service.ask()).status, 'without strict').toBe(200)
  await service.accept('News')
  expect(await service.stall(), 'whatever comes').toMatchObject({ since })
  await service.deliver('News')
  expect(await service.stall()).toEqual({ strict: 200 })
})

test('delivery is not stalled when no signup waited before, or while the backlog shrinks', async () => {
  await using service = world()
  await service.clock.run(60 * minute)
  for (const tab of ['A', 'B', 'C']) await service.accept(tab)
  for (const tab of ['A', 'B']) {
    expect(await service.stall()).toEqual({ strict: 200 })
    await service.clock.run(9 * minute)
    await service.deliver(tab)
  }
  await service.clock.run(9 * minute)
  expect(await service.stall()).toEqual({ strict: 200 })
  await service.clock.run(minute)
  expect(await service.stall()).toMatchObject({ error: 'No reason is known yet', strict: 503 })
})

test('a tab set aside neither hides nor causes a stall of the other tabs', async () => {
  await using service = world()
  await service.accept('Locked')
  service.events.tabSetAside(locked, refusal)
  await service.clock.run(60 * minute)
  expect(await service.stall(), 'told as set aside').toEqual({ strict: 503 })
  const since = new Date(service.clock.now()).toISOString()
  await service.accept('Free')
  await service.clock.run(9 * minute)
  expect(await service.stall()).toEqual({ strict: 503 })
  await service.clock.run(minute)
  expect(await service.stall()).toMatchObject({ since })
  await service.deliver('Free')
  service.events.tabResumed('Locked')
  expect(await service.stall()).toEqual({ strict: 200 })
  await service.clock.run(10 * minute)
  expect(await service.stall(), 'not known to be set aside any more').toMatchObject({ strict: 503 })
})

test('while the journal cannot be read, it is unavailable and the backlog unknown', async () => {
  await using service = world()
  const broken = () => Promise.reject(new JournalUnavailable('The database does not answer.'))
  const reader = changed(service.journal.reader, { backlog: broken, waitingSince: broken })
  const { health, events, clock } = service
  const answer = await ready({ reader, health, events, clock }, false)
  expect(answer.status).toBe(503)
  expect(answer.headers).toEqual(expect.arrayContaining(['retry-after', '5']))
  expect(JSON.parse(answer.body as string)).toMatchObject({
    status: 'unavailable',
    journal: { state: 'unavailable' },
    delivery: { state: 'ok', tabsSetAside: [], warnings: [] },
  })
  expect((await service.ask()).status, 'when it is back').toBe(200)
})

test('all sites together are as bad as the worst, those that wait for a person are named, and one look reads all backlogs', async () => {
  await using good = world()
  await using bad = world()
  bad.events.deliveryBlocked({ reason: 'permission', message: secret, hint: secret })
  const named = ({ journal, events, health, clock }: typeof good, name: string) => {
    return { name, reader: journal.reader, events, health, clock }
  }
  const backlogs = async () =>
    new Map([
      ['news', 2],
      ['shop', 3],
      ['gone', 9],
    ])
  const ask = async (isStrict: boolean) => {
    const answer = await readySites([named(good, 'news'), named(bad, 'shop')], backlogs, isStrict)
    return { status: answer.status, body: JSON.parse(answer.body as string) as ReadinessAnswer }
  }
  const { status, body } = await ask(false)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    ...{ status: 'ready', blockedSites: [{ site: 'shop', error: refusalWords.permission }] },
    delivery: { state: 'blocked', backlog: 5 },
  })
  expect(JSON.stringify(body)).not.toContain('SECRET')
  expect((await ask(true)).status).toBe(503)
})

test('webhooks are failing while one of them takes nothing or is disabled, and nothing of it is told', async () => {
  await using service = world()
  const { events, ask } = service
  const state = async () => (JSON.parse((await ask(true)).text) as ReadinessAnswer).webhooks
  expect(await state()).toEqual({ state: 'off' })
  const works = { failingSince: undefined, disabledAt: undefined, reason: '' }
  for (const [key, fare, expected] of [
    ['a', works, 'ok'],
    ['b', { ...works, failingSince: 1, reason: secret }, 'failing'],
    ['b', { ...works, disabledAt: 1, reason: secret }, 'failing'],
    ['b', works, 'ok'],
  ] as const) {
    events.webhookFares(key, secret, fare)
    expect(await state()).toEqual({ state: expected })
    expect(await ask(true)).toMatchObject({
      status: 200,
      text: expect.not.stringContaining(secret),
    })
  }
})
