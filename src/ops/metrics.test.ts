import { expect, test } from 'vitest'

import { Metrics } from './metrics.ts'

const create = () => new Metrics({ sites: ['news'], reasons: [] })

test('durations are in seconds', async () => {
  const metrics = create()
  const news = metrics.ofSite('news')
  news.signupsCommitted({ signups: 3, ms: 250 })
  news.challengeAnswered('passed', 1500)
  metrics.requestAnswered('/', 'GET', 200, 125)
  const text = await metrics.text(undefined)
  expect(text).toContain('rollcall_commit_duration_seconds_sum 0.25\n')
  expect(text).toContain('rollcall_challenge_duration_seconds_sum 1.5\n')
  expect(text).toMatch(/rollcall_http_request_duration_seconds_sum\{.*\} 0\.125\n/)
})

test('what the journal told before is not shown while it cannot be read', async () => {
  const metrics = create()
  const state = 'partly blocked' as const
  const reading = {
    ...{ state, pending: 2, oldestPendingAgeSeconds: 9, lastSuccessSeconds: 5 },
    messages: { mail: 1, notice: 0 },
    webhooks: { backlog: 7, oldestSeconds: 1.5 },
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
  metrics.ofSite('news').mailEnded('confirm', 'sent')
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
