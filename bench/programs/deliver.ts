/**
 * The half of the service that delivers, with the real pace and quota on a hurried clock: writer, call
 * gate, Sheets adapter and journal, as `src/service/service.ts` puts them together. Delivers all that waits in
 * DATA_DIR to PROVIDER_URL and prints what it cost as JSON.
 */
import { join } from 'node:path'
import { openCallGate } from '../../src/delivery/call-gate.ts'
import { batchBucket } from '../../src/delivery/pace.ts'
import { Writer } from '../../src/delivery/writer.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { createEvents } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { HurriedClock } from '../hurried-clock.ts'
import { connectSheets } from '../sheets.ts'

const clock = new HurriedClock()
await using journal = openSqliteJournal(join(process.env['DATA_DIR'] ?? '', 'journal.db'))
const quota = { perMinute: 50, perDay: 10_000 }
const rows = await journal.backlog()
const sheets = connectSheets(process.env['PROVIDER_URL'] ?? '', {
  clock,
  gate: await openCallGate(journal, quota, clock),
  during: (work) => clock.during(work),
})

const writer = new Writer({
  journal,
  spreadsheet: sheets,
  clock,
  random: Math.random,
  events: createEvents(createLog('error'), createHealth(), clock),
  limits: { rowsMax: 5000, bytesMax: 2 * 1024 * 1024 },
  bucket: batchBucket(quota),
  linger: { quietMs: 100, maxMs: 800, burstMaxMs: 3000 },
  markersMax: 100,
})
const before = process.cpuUsage()
const begin = performance.now()
const delivered = new Promise<void>((resolve) => {
  journal.onSettle(() => {
    void journal.backlog().then((left) => {
      if (left === 0) resolve()
    })
  })
})
writer.start()
await delivered
const { user, system } = process.cpuUsage(before)
const milliseconds = performance.now() - begin
await writer.stop(0)
process.stdout.write(JSON.stringify({ rows, cpuMicroseconds: user + system, milliseconds }))
