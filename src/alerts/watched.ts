import { mailFact, noticesFact } from '../journal/contracts/delivery-log.ts'
import type { Outbox } from '../journal/contracts/outbox.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import type { Health } from '../ops/health.ts'
import { type Clock, day, hour, iso, minute } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { seenIn } from './outage.ts'
import type { Watched } from './watch.ts'

export interface WatchedParts {
  /** What the site's own writer and its own senders meet. */
  readonly health: Pick<Health, 'delivery' | 'tabs' | 'mail' | 'webhooks'>
  readonly reader: Pick<Reader, 'backlog' | 'waitingSince' | 'figures' | 'heldEnding' | 'webhooks'>
  readonly outbox: Pick<Outbox, 'figures'>
  readonly clock: Pick<Clock, 'elapsed'>
  readonly time: Pick<Clock, 'now'>
}

/** Whether signups reach the spreadsheet. */
export function watchDelivery(parts: Omit<WatchedParts, 'outbox'>): Watched {
  const { health, reader, clock, time } = parts
  const startedAt = clock.elapsed()
  /** What the journal last said of how long something waits, and when it first said so, on the elapsed clock. */
  let waits: { readonly since: Millis | undefined; readonly seenAt: Millis }
  waits = { since: undefined, seenAt: startedAt }
  return {
    fact: noticesFact,
    ended: 'delivery.resumed',
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
      return isNew && seen.kind === 'delivery.stalled' ? { kind: 'unsure' } : seen
    },
    async backlog() {
      const waiting = await reader.backlog()
      const { oldestWaiting: oldest } = await reader.figures()
      return { waiting, oldest }
    },
  }
}

const lateAfterMs = 10 * minute
const lateWords = 'More mails wait than may be sent in an hour'

/** Whether mails can be sent at all, and whether those that may be sent go in time. */
export function watchMail(
  parts: Pick<WatchedParts, 'health' | 'outbox' | 'time'>,
): readonly Watched[] {
  const { health, outbox, time } = parts
  const backlog = () => outbox.figures(['confirm', 'welcome', 'report'])
  let wasLate = false
  return [
    {
      fact: mailFact,
      ended: 'mail.resumed',
      backlog,
      see: async () => {
        const { mail } = health
        if (mail.state !== 'failing') return { kind: 'well' }
        return { kind: 'mail.failing', reason: mail.reason, since: mail.since }
      },
    },
    {
      fact: 'mail delay',
      ended: 'mail.on_time',
      toldAfterMs: lateAfterMs,
      backlog,
      see: async () => {
        if (health.mail.state === 'failing') return { kind: 'unsure' }
        const { oldest: since = Infinity } = await backlog()
        // A mail whose next try has just come is not late.
        const mayBeLate = wasLate
        wasLate = time.now() - since >= lateAfterMs
        if (!wasLate) return { kind: 'well' }
        return mayBeLate ? { kind: 'mail.delayed', reason: lateWords, since } : { kind: 'unsure' }
      },
    },
  ]
}

/** What will be erased of all that is held: told once a week, and a week before at least. */
export function watchHeld(parts: Pick<WatchedParts, 'reader' | 'clock' | 'time'>): Watched {
  const { reader, clock, time } = parts
  const backlog = () => reader.heldEnding(time.now())
  let lookAt = -Infinity
  return {
    fact: 'held',
    // It is never seen to be well, so nobody is told of an end.
    ended: 'held.ending',
    toldAfterMs: 0,
    backlog,
    see: async () => {
      if (clock.elapsed() < lookAt) return { kind: 'unsure' }
      const { waiting, until } = await backlog()
      lookAt = clock.elapsed() + hour
      if (waiting === 0) return { kind: 'unsure' }
      const reason = `By ${iso(until).slice(0, 10)}, what was held for 90 days is gone`
      return { kind: 'held.ending', reason, since: until - 14 * day, recurs: true }
    },
  }
}

/** Whether an endpoint, by its key, takes messages. That it is disabled is told at once. */
export function watchWebhook(
  endpoint: string,
  { health, reader }: Pick<WatchedParts, 'health' | 'reader'>,
): readonly Watched[] {
  return (['failing', 'disabled'] as const).map((state) => ({
    fact: `webhook ${state} ${endpoint}`,
    ended: 'webhook.resumed',
    ...(state === 'disabled' && { toldAfterMs: 0 }),
    backlog: async () => {
      const figures = await reader.webhooks(endpoint)
      return { waiting: figures?.backlog ?? 0, oldest: figures?.oldest }
    },
    see: async () => {
      const found = health.webhooks.get(endpoint)
      if (found?.state === 'ok') return { kind: 'well' }
      if (found?.state !== state) return { kind: 'unsure' }
      const { host, reason, since = 0 } = found
      return { kind: `webhook.${state}`, reason: `${host}: ${reason}`, since }
    },
  }))
}
