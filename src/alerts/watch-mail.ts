import { mailFact } from '../journal/contracts/delivery-log.ts'
import type { Outbox, OutboxFigures } from '../journal/contracts/outbox.ts'
import type { Health } from '../ops/health.ts'
import { type Clock, minute } from '../platform/clock.ts'
import { mailNotice } from './notice.ts'
import type { News } from './outage.ts'
import type { Watched } from './watch.ts'

export interface MailWatchOptions {
  /** The name of the site. */
  readonly site: string
  /** What the site's own sender meets. */
  readonly health: Pick<Health, 'mail'>
  readonly outbox: Pick<Outbox, 'figures'>
  readonly time: Pick<Clock, 'now'>
}

const lateAfterMs = 10 * minute
const lateWords = 'More mails wait than may be sent in an hour'
const kinds = ['confirm', 'welcome', 'report'] as const

/** Whether mails can be sent at all, and whether those that may be sent go in time. */
export function watchMail({ site, health, outbox, time }: MailWatchOptions): readonly Watched[] {
  let wasLate = false
  const notice = async (types: Parameters<typeof mailNotice>[0], news: News) =>
    mailNotice(types, news, site, await outbox.figures(kinds), time.now())
  return [
    {
      fact: mailFact,
      see: async () => {
        const { mail } = health
        if (mail.state !== 'failing') return { kind: 'well' }
        return { kind: 'failing', reason: mail.reason, since: mail.since }
      },
      noticeOf: (news) => notice(['mail.failing', 'mail.resumed'], news),
    },
    {
      fact: 'mail delay',
      toldAfterMs: lateAfterMs,
      see: async () => {
        if (health.mail.state === 'failing') return { kind: 'unsure' }
        const since = lateSince(await outbox.figures(kinds), time.now())
        // A mail whose next try has just come is not late.
        const isLate = wasLate && since !== undefined
        wasLate = since !== undefined
        if (!isLate) return { kind: wasLate ? 'unsure' : 'well' }
        return { kind: 'delayed', reason: lateWords, since }
      },
      noticeOf: (news) => notice(['mail.delayed', 'mail.on_time'], news),
    },
  ]
}

function lateSince({ oldest }: OutboxFigures, now: number): number | undefined {
  return oldest !== undefined && now - oldest >= lateAfterMs ? oldest : undefined
}
