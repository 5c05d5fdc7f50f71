import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { FastClock } from '../../harness/fast-clock.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'

const requests = 60
const signupsEach = 500
/** About 70 rows of this size make a full batch, which takes no token of the bucket. */
const metadata = { note: '漢'.repeat(9_900) }
const callsPerMinute = 200

/** About 420 full batches. Their markers stay for 15 minutes, because an answer to each was lost. */
test('when markers fill their pool, delivery waits for room, and every signup becomes one row', async () => {
  const clock = new FastClock(2)
  await using world = await createGoogleWorld({
    clock,
    quota: [{ access: 'any', per: 'user', limit: callsPerMinute, windowMs: 60_000 }],
  })
  const { faults, log } = world.emulator
  faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  await using service = await startService({
    env: {
      ...world.env,
      ...clock.environment(),
      SHEETS_REQUESTS_PER_MINUTE: String(callsPerMinute),
      SHEETS_REQUESTS_PER_DAY: '1000000',
      BODY_LIMIT_BYTES: String(16 * 1024 * 1024),
    },
  })
  const emails: string[] = []
  for (let request = 0; request < requests; request++) {
    const signups = Array.from({ length: signupsEach }, (_, index) => ({
      email: `visitor-${request * signupsEach + index}@example.com`,
      metadata,
    }))
    expect((await postBulk(service.url, { signups })).status).toBe(202)
    emails.push(...signups.map(({ email }) => email))
  }
  faults.clear()

  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  let markers = -1
  let mostMarkers = 0
  while (sheet.rowCount('Sheet1') < emails.length + 1) {
    const before = markers
    markers = sheet.metadata().length
    mostMarkers = Math.max(mostMarkers, markers)
    if (markers > before) {
      faults.add({ on: 'batchUpdate', times: 1, apply: 'now', answer: 'drop' })
    }
    await sleep(20)
  }
  expect(await addressesInSheet(world)).toEqual(emails)
  expect(mostMarkers).toBe(300)
  expect(log.calls().filter(({ status }) => status === 429)).toEqual([])
})
