import { expect, test } from 'vitest'

import { createHealth } from '../ops/health.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ApiKeys } from '../http/api-keys.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Figures } from '../journal/contracts/reader.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Readings } from '../ops/metrics.ts'
import { metricsHandler } from './metrics.ts'

const headers = new Headers({ authorization: 'Bearer a-token-0123456789' })

/** Asks for the metrics of one site. Each answer is what was read. */
function world(figures: () => Promise<Figures>) {
  const clock = new ManualClock()
  let reads = 0
  const reader = {
    figures: () => {
      reads += 1
      return figures()
    },
  }
  const outbox = async () => ({
    messages_waiting: { mail: 0 },
    webhook_backlog: undefined,
    webhook_oldest_seconds: undefined,
  })
  const handle = metricsHandler({
    tokens: new ApiKeys(['a-token-0123456789']),
    metrics: {
      text: async (readings: Readings | undefined) => JSON.stringify([...(readings?.sites ?? [])]),
    },
    sites: [{ name: 'news', reader, health: createHealth(), outbox }],
    quota: async () => undefined,
    clock,
  })
  const ask = async () => {
    const { body } = await handle({ request: { headers } } as unknown as Exchange)
    return body as string
  }
  return { ask, clock, reads: () => reads }
}

test('a journal that fails leaves out only what is read from it, and is read again', async () => {
  const { ask, reads } = world(() => Promise.reject(new JournalUnavailable('gone')))
  expect([await ask(), await ask()]).toEqual(['[]', '[]'])
  expect(reads()).toBe(2)
})

test('a journal that hangs is waited for, for three seconds, and asked once by all who wait', async () => {
  const { promise, resolve } = Promise.withResolvers<Figures>()
  const { ask, clock, reads } = world(() => promise)
  const begin = clock.now()
  const late = [ask(), ask()]
  await clock.run(3_000)
  expect(await Promise.all(late)).toEqual(['[]', '[]'])
  const next = ask()
  const oldestWaiting = begin - 1500
  const counts = { accepted: 5, written: 3, erased: 0, suspect: 0, held: 0 }
  const all = { ...counts, pending: 4, asked: 0, confirmed: 0 }
  resolve({ all, waiting: 2, oldestWaiting, lastWritten: 7 })
  const reading = {
    pending_signups: 2,
    pending_confirmations: 4,
    oldest_pending_age_seconds: 1.5,
    delivery_state: { ok: 1, delayed: 0, 'partly blocked': 0, blocked: 0 },
    delivery_last_success_timestamp_seconds: 0.007,
    messages_waiting: { mail: 0 },
  }
  expect(JSON.parse(await next)).toEqual([['news', reading]])
  expect(reads()).toBe(1)
})
