import { expect, test } from 'vitest'

import { createHealth } from '../ops/health.ts'
import { minute } from '../platform/clock.ts'
import { watchWebhook } from './watched.ts'

const usual = { toldAfterMs: 5 * minute, calmMs: minute }

test('of a webhook, a halt and that it is disabled are told apart, and neither ends the other', async () => {
  const health = createHealth()
  const reader = { webhooks: async () => undefined, ...unread }
  const watched = watchWebhook('key', { health, reader })
  const seen = () => Promise.all(watched.map(async (it) => (await it.see(usual)).kind))
  const fare = { host: 'hooks.example.com', reason: 'down', since: 5 }
  expect(await seen()).toEqual(['unsure', 'unsure'])
  health.webhooks.set('key', { ...fare, state: 'failing' })
  expect(await seen()).toEqual(['webhook.failing', 'unsure'])
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
  heldEnding: () => Promise.reject(new Error('nobody asks for this')),
}
