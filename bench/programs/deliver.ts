/**
 * Delivers all waiting signups in DATA_DIR, or DATABASE_URL, to PROVIDER_URL, with the delivery of the real service, and
 * prints the cost as JSON. The clock skips waits, but the printed time includes them.
 */
import { onlySiteOf } from '../../harness/only-site.ts'
import { createEvents } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { journalHomeOf } from '../../src/service/journal-home.ts'
import { createWriter } from '../../src/service/site-delivery.ts'
import { siteOf } from '../../src/service/site.ts'
import { deliverySettings, hurriedWorld } from '../delivery.ts'
import { HurriedClock } from '../hurried-clock.ts'

const { DATA_DIR = '', DATABASE_URL, PROVIDER_URL = '' } = process.env
const more = DATABASE_URL === undefined ? {} : { DATABASE_URL }
const { config, secrets } = deliverySettings(DATA_DIR, PROVIDER_URL, more)
const clock = new HurriedClock()
const serviceLog = createLog('error')
const home = await journalHomeOf(config, secrets, { clock })
await using journal = onlySiteOf(await home.open({ log: serviceLog }))
const rows = await journal.reader.backlog()
const events = createEvents(serviceLog, createHealth(), clock)
const options = {
  ...{ ...siteOf(config.sites[0], config, secrets), events },
  journal: {
    ...journal,
    delivery: atWork(journal.delivery),
    erasure: atWork(journal.erasure),
    callLedger: (...account: Parameters<typeof journal.callLedger>) =>
      atWork(journal.callLedger(...account)),
  },
}
const writer = createWriter(options, hurriedWorld(clock))

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

/** The same part of the journal. It answers later than it is asked, so the clock must not skip that time. */
function atWork<T extends object>(part: T): T {
  return new Proxy(part, {
    get(_, name) {
      const value: unknown = Reflect.get(part, name, part)
      if (typeof value !== 'function') return value
      return (...values: unknown[]) => {
        const answer: unknown = Reflect.apply(value, part, values)
        return answer instanceof Promise ? clock.during(() => answer) : answer
      }
    },
  })
}
