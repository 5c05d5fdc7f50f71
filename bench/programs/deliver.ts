/**
 * Delivers all waiting signups in DATA_DIR to PROVIDER_URL, with the delivery of the real service, and
 * prints the cost as JSON. The clock skips waits, but the printed time includes them.
 */
import { changed } from '../../harness/changed.ts'
import { createEvents } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { storeOf } from '../../src/service/choose-store.ts'
import { createDelivery } from '../../src/service/delivery.ts'
import { deliverySettings, hurriedWorld } from '../delivery.ts'
import { HurriedClock } from '../hurried-clock.ts'

const { DATA_DIR = '', PROVIDER_URL = '' } = process.env
const { config, secrets } = deliverySettings(DATA_DIR, PROVIDER_URL)
const clock = new HurriedClock()
const serviceLog = createLog('error')
await using journal = await storeOf(config, secrets, { clock }).open({ log: serviceLog })
const rows = await journal.reader.backlog()
const events = createEvents(serviceLog, createHealth(), clock)
const log = journal.delivery
// The journal answers some turns of the event loop later. Tell the clock that it is at work.
const delivery = changed(log, {
  waiting: (...slice) => clock.during(() => log.waiting(...slice)),
  freeze: (...batch) => clock.during(() => log.freeze(...batch)),
  settle: (...batch) => clock.during(() => log.settle(...batch)),
})
const options = { ...config, ...secrets, journal: { ...journal, delivery }, events }
const { writer } = createDelivery(options, hurriedWorld(clock))

const before = process.cpuUsage()
const begin = clock.elapsed()
const delivered = new Promise<void>((resolve) => {
  journal.intake.onSettle(() => {
    void journal.reader.backlog().then((left) => {
      if (left === 0) resolve()
    })
  })
})
writer.start()
await delivered
const { user, system } = process.cpuUsage(before)
const milliseconds = clock.elapsed() - begin
await writer.stop(0)
process.stdout.write(JSON.stringify({ rows, cpuMicroseconds: user + system, milliseconds }))
