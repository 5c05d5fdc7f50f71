import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import { openSqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { JournalUnavailable } from '../journal/unavailable.ts'
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
