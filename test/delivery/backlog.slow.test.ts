// @module-tag slow
import { expect, test } from 'vitest'

import type { LoggedCall } from '../../emulators/google-sheets/call-log.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'

const requests = 20
const signupsEach = 1000
/** The bucket of batches then holds three tokens and gains the next one after an hour. */
const quota = { perMinute: 50, perDay: 30 }
/** Rows of this size fill the 2 MiB of a batch before its 5,000 rows. */
const rowsOfFullBatch = 4000

/** Signups as they come from a landing page: about 440 bytes a row. */
const signupsOf = (request: number) =>
  Array.from({ length: signupsEach }, (_, index) => ({
    email: `visitor-${request * signupsEach + index}@example.com`,
    name: 'Ada Augusta King-Noel',
    tags: ['launch', 'newsletter'],
    metadata: { utm_source: 'partner', utm_campaign: 'autumn', page: '/pricing/enterprise' },
  }))

test('a backlog of 20,000 signups from an outage of Google is delivered in full batches, once, in order and within the quota', async () => {
  await using world = await createGoogleWorld()
  const { faults, log } = world.emulator
  faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  await using service = await startService({
    env: {
      ...world.env,
      SHEETS_REQUESTS_PER_MINUTE: String(quota.perMinute),
      SHEETS_REQUESTS_PER_DAY: String(quota.perDay),
    },
  })
  const emails: string[] = []
  for (let request = 0; request < requests; request++) {
    const signups = signupsOf(request)
    expect((await postBulk(service.url, { signups })).status).toBe(202)
    emails.push(...signups.map(({ email }) => email))
  }
  expect(await addressesInSheet(world)).toEqual([])
  faults.clear()
  await allDelivered(service)

  expect(await addressesInSheet(world)).toEqual(emails)
  const sizes = log
    .calls('batchUpdate')
    .filter(({ status, rows }) => status === 200 && rows > 0)
    .map(({ rows }) => rows)
  const [last = 0, ...full] = sizes.toReversed()
  expect(last).toBeGreaterThan(0)
  expect(full.length, 'more than there are tokens').toBeGreaterThan(quota.perDay / 10)
  expect(Math.min(...full)).toBeGreaterThan(rowsOfFullBatch)
  expectWithinQuota(log.calls())
})

function expectWithinQuota(all: readonly LoggedCall[]): void {
  const times = all.filter(({ kind }) => kind !== 'token').map(({ time }) => Date.parse(time))
  expect(times.length).toBeLessThanOrEqual(quota.perDay)
  const most = times.map((start) => times.filter((at) => at >= start && at < start + 60_000).length)
  expect(Math.max(...most)).toBeLessThanOrEqual(quota.perMinute)
}
