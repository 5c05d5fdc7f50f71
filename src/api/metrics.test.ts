import { expect, test } from 'vitest'

import { createHealth } from '../ops/health.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ApiKeys } from '../http/api-keys.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Figures } from '../journal/contracts/reader.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Readings } from '../ops/metrics.ts'
import { sha256 } from '../platform/node/digest.ts'
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
  const outbox = async () => ({ messages: { mail: 0, notice: 0 }, webhooks: undefined })
  const handle = metricsHandler({
    tokens: new ApiKeys(['a-token-0123456789'], sha256),
    metrics: {
      text: async (readings: Readings | undefined) => JSON.stringify([...(readings?.sites ?? [])]),
    },
    sites: [{ name: 'news', reader, health: createHealth(), outbox }],
    quota: async () => undefined,
    clock,
  })
  const ask = async () => {
    const { body } = await handle({ request: { headers } } as unknown as Exchange)
    return String(body)
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
  resolve({
    all: { accepted: 5, written: 3 },
    waiting: 2,
    allSuspects: 0,
    suspects: [],
    hours: [],
    oldestWaiting,
    lastWritten: 7,
  })
  const reading = {
    state: 'ok',
    pending: 2,
    oldestPendingAgeSeconds: 1.5,
    lastSuccessSeconds: 0.007,
    messages: { mail: 0, notice: 0 },
  }
  expect(JSON.parse(await next)).toEqual([['news', reading]])
  expect(reads()).toBe(1)
})
