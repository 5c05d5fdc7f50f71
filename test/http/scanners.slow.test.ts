// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'
import { limits } from '../../src/signup/limits.ts'
import { costlyRequests } from '../../harness/costly-requests.ts'
import { measure, measuredProgram } from '../../harness/measure.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { sendRaw } from '../../harness/raw-http.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

/**
 * No request may keep the others waiting for longer than this many small signups take one after the other.
 * It is processor time of the thread that serves, and all are of one run, so that a busy or slow machine
 * does not fail the test. A scanner whose time grows with the square of its input is slow at a megabyte,
 * but not in small signups. The costliest request takes a third of that.
 */
const smallSignups = 4_000
/** The best of three tries counts, because compilation and garbage collection take time, too. */
const tries = 3

let service: RunningService

beforeAll(async () => {
  service = await startService({
    program: measuredProgram,
    env: {
      RATE_LIMIT_PER_MINUTE: '0',
      TRUST_PROXY: '1',
      ALLOWED_ORIGINS: 'https://shop.example',
      SHEET_TABS: 'News',
      LOG_LEVEL: 'error',
    },
  })
})

afterAll(() => service.stop())

test('no request keeps the others waiting, whatever it contains', async () => {
  const emails = Array.from({ length: smallSignups }, (_, index) => `visitor${index}@example.com`)
  await postSignups(service.url, emails.slice(0, 200))
  await measure(service)
  await postSignups(service.url, emails)
  const { processorMs: maxMs } = await measure(service)
  const slow: string[] = []
  for (const { title, bytes } of costlyRequests(limits.bodyBytesMax)) {
    let longestMs = Infinity
    for (let tried = 0; tried < tries && longestMs > maxMs; tried++) {
      await measure(service)
      const [answer] = await sendRaw(service.url, bytes)
      expect(answer?.status, title).toBeLessThan(500)
      longestMs = Math.min(longestMs, (await measure(service)).longestTurnMs)
    }
    if (longestMs > maxMs) slow.push(`${longestMs} ms: ${title}`)
  }
  expect(slow, `${smallSignups} small signups: ${maxMs} ms`).toEqual([])
})
