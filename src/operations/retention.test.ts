import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { createLog } from '../ops/log.ts'
import { startRetention } from './retention.ts'

test('the log says why old signups could not be erased', async () => {
  await using journal = openSqliteJournal(':memory:')
  const lines = new PassThrough({ encoding: 'utf8' })
  const retention = {
    ...journal.retention,
    expire: () => Promise.reject(new JournalUnavailable('The disk is full')),
  }
  const log = createLog('info', lines)
  const told = once(lines, 'data')
  await using _ = startRetention({ ...journal, retention }, 30, new ManualClock(), log)
  const [line] = (await told) as [string]
  expect(JSON.parse(line)).toMatchObject({
    msg: expect.stringContaining('old signups were not erased'),
    err: { message: 'The disk is full' },
  })
})

test('what has expired is cleaned up at the start and then once a day, as that stops the process', async () => {
  await using journal = openSqliteJournal(':memory:')
  let scrubs = 0
  const erasure = {
    ...journal.erasure,
    scrub: async () => {
      scrubs++
      return true
    },
  }
  const clock = new ManualClock()
  const log = createLog('info', new PassThrough())
  await using _ = startRetention({ ...journal, erasure }, 30, clock, log)
  await clock.run(23 * 60 * 60 * 1000)
  expect(scrubs).toBe(1)
  await clock.run(60 * 60 * 1000)
  expect(scrubs).toBe(2)
})
