import { expect, test } from 'vitest'

import { systemClock } from '../platform/clock.ts'
import { createEvents } from './events.ts'
import { createHealth } from './health.ts'
import { createLog } from './log.ts'
import { Metrics } from './metrics.ts'

const create = () => new Metrics(['fields'])

test('durations are in seconds', async () => {
  const metrics = create()
  const options = { metrics: metrics.ofSite('news') }
  const events = createEvents(createLog('silent'), createHealth(), systemClock, options)
  events.signupsCommitted({ signups: 3, ms: 250 })
  events.challengeAnswered({ kind: 'passed', askedMs: 1500 }, '')
  metrics.requestAnswered('/', 'GET', 200, 125)
  const text = await metrics.text(undefined)
  expect(text).toContain('rollcall_commit_duration_seconds_sum 0.25\n')
  expect(text).toContain('rollcall_challenge_duration_seconds_sum 1.5\n')
  expect(text).toMatch(/rollcall_http_request_duration_seconds_sum\{.*\} 0\.125\n/)
})

test('what the journal told before is not shown while it cannot be read', async () => {
  const metrics = create()
  const reading = {
    pending_signups: 2,
    pending_confirmations: 4,
    oldest_pending_age_seconds: 9,
    delivery_state: { ok: 0, delayed: 0, 'partly blocked': 1, blocked: 0 },
    delivery_last_success_timestamp_seconds: 5,
    messages_waiting: { mail: 1 },
    webhook_backlog: 7,
    webhook_oldest_seconds: 1.5,
  }
  const quota = { minute: 3, day: 4 }
  const names = async (readings: Parameters<Metrics['text']>[0]) =>
    (await metrics.text(readings)).match(
      /^rollcall_(pending|oldest|delivery|quota|messages|webhook_(?!messages))\w+/gm,
    )
  expect(await names({ sites: new Map([['news', reading]]), quota })).toHaveLength(13)
  expect(await names(undefined)).toBeNull()
})

test('a mail is counted by its kind and by what became of it', async () => {
  const metrics = create()
  metrics.ofSite('news').add('mails_total', 1, 'confirm', 'sent')
  const text = await metrics.text(undefined)
  expect(text.match(/^rollcall_mails_total.*/gm)?.toSorted()).toEqual([
    'rollcall_mails_total{site="news",kind="confirm",outcome="failed"} 0',
    'rollcall_mails_total{site="news",kind="confirm",outcome="sent"} 1',
    'rollcall_mails_total{site="news",kind="report",outcome="failed"} 0',
    'rollcall_mails_total{site="news",kind="report",outcome="sent"} 0',
    'rollcall_mails_total{site="news",kind="welcome",outcome="failed"} 0',
    'rollcall_mails_total{site="news",kind="welcome",outcome="sent"} 0',
  ])
})

test('a value that is on no list makes no series', async () => {
  const metrics = create()
  const news = metrics.ofSite('news')
  news.add('signups_refused_total', 1, 'fields')
  news.add('signups_refused_total', 1, 'a stranger’s text')
  const text = await metrics.text(undefined)
  expect(text.match(/^rollcall_signups_refused_total.*/gm)).toEqual([
    'rollcall_signups_refused_total{reason="fields"} 1',
  ])
})
