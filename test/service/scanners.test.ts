import { afterAll, beforeAll, expect, test } from 'vitest'
import { limits } from '../../src/signup/limits.ts'
import { costlyRequests } from '../../harness/costly-requests.ts'
import { measure, measuredProgram } from '../../harness/measure.ts'
import { sendRaw } from '../../harness/raw-http.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

/**
 * How long one request may keep all others waiting. It is processor time of the thread that serves, so
 * that a busy machine does not fail the test. The best of three tries counts, because compilation and
 * garbage collection take time, too. A scanner whose time grows with the square of its input needs
 * seconds in every try.
 */
const longestTurnMsMax = 600
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
  const slow: string[] = []
  for (const { title, bytes } of costlyRequests(limits.bodyBytesMax)) {
    let longestMs = Infinity
    for (let tried = 0; tried < tries && longestMs > longestTurnMsMax; tried++) {
      await measure(service)
      const [answer] = await sendRaw(service.url, bytes)
      expect(answer?.status, title).toBeLessThan(500)
      longestMs = Math.min(longestMs, (await measure(service)).longestTurnMs)
    }
    if (longestMs > longestTurnMsMax) slow.push(`${longestMs} ms: ${title}`)
  }
  expect(slow).toEqual([])
})
