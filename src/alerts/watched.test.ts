import { expect, test } from 'vitest'

import type { OutboxFigures } from '../journal/contracts/outbox.ts'
import { createHealth } from '../ops/health.ts'
import { noticeOf } from './notice.ts'
import { advance, type Outage } from './outage.ts'
import { watchMail, watchWebhook } from './watched.ts'

const minute = 60_000
const usual = { toldAfterMs: 5 * minute, calmMs: minute }

/** What a site's mails lead to, with a look every ten seconds. */
function createWorld() {
  const health = createHealth()
  health.mail = { state: 'ok' }
  const world = {
    health,
    now: 0,
    /** When the oldest mail that may be sent was made. */
    oldest: undefined as number | undefined,
    told: [] as string[],
    texts: [] as string[],
    async pass(ms: number): Promise<void> {
      for (const end = world.now + ms; world.now < end; world.now += 10_000) await look()
    },
  }
  const figures = async (): Promise<OutboxFigures> => {
    return { waiting: 3, oldest: world.oldest, lastSent: undefined, failed: undefined }
  }
  const time = { now: () => world.now }
  const watched = watchMail({ health, outbox: { figures }, time })
  const states = watched.map((it) => ({ it, outage: undefined as Outage | undefined, well: 0 }))
  async function look(): Promise<void> {
    for (const state of states) {
      const { it } = state
      const times = { ...usual, toldAfterMs: it.toldAfterMs ?? usual.toldAfterMs }
      const seen = await it.see(times)
      if (seen.kind !== 'well') state.well = world.now
      const { outage, news } = advance(state.outage, seen, world.now, world.now - state.well, times)
      state.outage = outage
      if (!news) continue
      const kind = news.kind === 'resumed' ? it.ended : news.kind
      const { type, text } = noticeOf(kind, news, 'launch', await it.backlog(), world.now)
      world.told.push(type)
      world.texts.push(text)
    }
  }
  return world
}

test('a mail server that fails is told after five minutes, and that it works after one', async () => {
  const world = createWorld()
  world.health.mail = { state: 'failing', reason: 'The mail server refuses the login', since: 0 }
  await world.pass(5 * minute)
  expect(world.told).toEqual([])
  await world.pass(minute)
  expect(world.told).toEqual(['mail.failing'])
  expect(world.texts[0]).toContain(
    'no mail could be sent for 5 minutes. The mail server refuses the login.',
  )
  world.health.mail = { state: 'ok' }
  await world.pass(10 * minute)
  expect(world.told).toEqual(['mail.failing', 'mail.resumed'])
  expect(world.texts[1]).toContain('3 mails wait in the journal')
})

test('mails that have waited for ten minutes are told once, and when they no longer do', async () => {
  const world = createWorld()
  world.oldest = 0
  await world.pass(10 * minute)
  expect(world.told).toEqual([])
  await world.pass(60 * minute)
  expect(world.told).toEqual(['mail.delayed'])
  world.oldest = undefined
  await world.pass(2 * minute)
  expect(world.told).toEqual(['mail.delayed', 'mail.on_time'])
})

test('a mail is not late because its next try has just come, nor while the server fails', async () => {
  const world = createWorld()
  await world.pass(60 * minute)
  world.oldest = 0
  await world.pass(10_000)
  world.oldest = undefined
  await world.pass(minute)
  world.oldest = 0
  world.health.mail = { state: 'failing', reason: 'any', since: world.now }
  await world.pass(60 * minute)
  expect(world.told).toEqual(['mail.failing'])
})

test('of a webhook, a halt and that it is disabled are told apart, and neither ends the other', async () => {
  const health = createHealth()
  const reader = { webhooks: async () => undefined, ...unread }
  const watched = watchWebhook('key', { health, reader })
  const seen = () => Promise.all(watched.map(async (it) => (await it.see(usual)).kind))
  const fare = { host: 'hooks.example.com', reason: 'down', since: 5 }
  expect(await seen()).toEqual(['unsure', 'unsure'])
  health.webhooks.set('key', { ...fare, state: 'halted' })
  expect(await seen()).toEqual(['webhook.halted', 'unsure'])
  health.webhooks.set('key', { ...fare, state: 'disabled' })
  expect(await seen()).toEqual(['unsure', 'webhook.disabled'])
  const [, disabled] = watched
  expect(await disabled?.see(usual)).toMatchObject({ reason: 'hooks.example.com: down', since: 5 })
  expect(watched.map(({ toldAfterMs }) => toldAfterMs)).toEqual([undefined, 0])
  health.webhooks.set('key', { ...fare, state: 'ok' })
  expect(await seen()).toEqual(['well', 'well'])
})

/** What a webhook is not asked about. */
const unread = {
  backlog: async () => 0,
  waitingSince: async () => undefined,
  figures: () => Promise.reject(new Error('nobody asks for this')),
}
