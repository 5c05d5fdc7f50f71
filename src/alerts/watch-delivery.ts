import { noticesFact } from '../journal/contracts/delivery-log.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { deliveryNotice } from './notice.ts'
import { seenIn } from './outage.ts'
import type { Watched } from './watch.ts'

export interface DeliveryWatchOptions {
  /** The name of the site. */
  readonly site: string
  /** What the site's own writer meets. */
  readonly health: Pick<Health, 'delivery' | 'tabs'>
  readonly reader: Pick<Reader, 'backlog' | 'waitingSince' | 'figures'>
  readonly clock: Pick<Clock, 'elapsed'>
  readonly time: Pick<Clock, 'now'>
}

/** Whether signups reach the spreadsheet. */
export function watchDelivery(options: DeliveryWatchOptions): Watched {
  const { site, health, reader, clock, time } = options
  const startedAt = clock.elapsed()
  /** What the journal last said of how long something waits, and when it first said so, on the elapsed clock. */
  let waits: { readonly since: Millis | undefined; readonly seenAt: Millis }
  waits = { since: undefined, seenAt: startedAt }
  return {
    fact: noticesFact,
    async see(times) {
      const since = await reader.waitingSince([...health.tabs.keys()])
      if (since !== waits.since) waits = { since, seenAt: clock.elapsed() }
      const now = time.now()
      // A wall clock that was set back must not hide that something waits.
      const seenSince = now - (clock.elapsed() - waits.seenAt)
      const waitingSince = since === undefined ? undefined : Math.min(since, seenSince)
      const seen = seenIn(health, waitingSince, now, times)
      // Signups may have waited while no service ran. The writer has a moment for them.
      const isNew = clock.elapsed() - startedAt < times.calmMs
      return isNew && seen.kind === 'stalled' ? { kind: 'unsure' } : seen
    },
    async noticeOf(news) {
      const now = time.now()
      const waiting = await reader.backlog()
      const { oldestWaiting: oldest } = await reader.figures(now, now)
      return deliveryNotice(news, site, { waiting, oldest }, now)
    },
  }
}
