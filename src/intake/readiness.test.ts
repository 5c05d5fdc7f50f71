import { expect, test } from 'vitest'

import { openSqliteJournal } from '../journal/sqlite.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import { systemClock } from '../platform/clock.ts'
import { refusalWords, type RefusalReason } from '../signup/trouble.ts'
import { ready } from './readiness.ts'

const secret = 'SECRET robot@project.example /srv/data Very Private.csv'
const reasons = Object.keys(refusalWords) as RefusalReason[]

function world() {
  const health = createHealth()
  const journal = openSqliteJournal(':memory:')
  const events = createEvents(createLog('silent'), health, systemClock)
  const ask = async (isStrict = false) => {
    const answer = await ready({ journal, events, health }, isStrict)
    return { status: answer.status, text: await answer.text() }
  }
  return { health, events, ask, [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose]() }
}

test('whatever is wrong, the public gets fixed sentences and nothing of what the log has', async () => {
  for (const reason of reasons) {
    await using it = world()
    const refusal = { reason, message: secret, hint: secret }
    it.events.tabSetAside({ name: secret, place: 'the tab at place 2 (gid=7)' }, refusal)
    it.events.spreadsheetWarnings([
      { kind: 'columns', message: `${secret} 1` },
      { kind: 'columns', message: `${secret} 2` },
    ])
    it.events.challengeAnswered({ kind: 'unavailable', message: secret }, '')
    it.events.deliveryDelayed(secret, 0)
    const delayed = await it.ask()
    it.events.challengeAnswered({ kind: 'misconfigured', ...refusal, reason: 'refused' }, '')
    it.events.deliveryBlocked(refusal)
    const blocked = await it.ask()
    expect(delayed.text + blocked.text).not.toMatch(/SECRET|hint/)
    expect(JSON.parse(delayed.text)).toMatchObject({ delivery: { state: 'delayed' } })
    expect(JSON.parse(blocked.text)).toMatchObject({
      challenge: { state: 'misconfigured', error: 'The challenge provider refuses our calls' },
      delivery: {
        state: 'blocked',
        error: refusalWords[reason],
        tabsSetAside: [{ tab: 'the tab at place 2 (gid=7)', error: refusalWords[reason] }],
        warnings: ['A tab has columns of its own'],
      },
    })
    expect([blocked.status, (await it.ask(true)).status]).toEqual([200, 503])
  }
})

test('the four messages of the contract are told word for word', async () => {
  await using it = world()
  it.events.challengeAnswered(
    { kind: 'misconfigured', reason: 'mismatch', message: secret, hint: secret },
    '',
  )
  expect((await it.ask()).text).toContain('"error":"Invalid challenge token"')
  expect(refusalWords).toMatchObject({
    permission: 'The caller does not have permission',
    notFound: 'Requested entity was not found',
    credentials: 'Invalid Credentials',
  })
})
