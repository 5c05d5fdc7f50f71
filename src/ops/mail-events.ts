import { rollcall } from '../platform/command-words.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { SiteMetrics } from './metrics.ts'

/** A mail, as far as events tell of it. */
interface SentMail {
  readonly kind: string
}

/** Events about mails on their way. Reasons are fixed sentences; no event has an address. */
export function mailEvents(
  log: Logger,
  health: Pick<Health, 'mail'>,
  { now }: Pick<Clock, 'now'>,
  metrics: SiteMetrics,
) {
  return {
    sent({ kind }: SentMail, tries: number): void {
      metrics.add('mails_total', 1, kind, 'sent')
      log.debug({ kind, tries }, 'a mail was sent')
    },
    delayed({ kind }: SentMail, tries: number, reason: string, nextAt: Millis): void {
      const next = new Date(nextAt).toISOString()
      log.info({ kind, tries, reason, next }, 'a mail could not be sent')
    },
    failed({ kind }: SentMail, tries: number, reason: string): void {
      metrics.add('mails_total', 1, kind, 'failed')
      log.warn({ kind, tries, reason }, 'a mail was given up')
    },
    /** The mail server takes nothing. Mails wait, and it is tried again and again. */
    serverFails(reason: string): void {
      const since = health.mail.state === 'failing' ? health.mail.since : now()
      health.mail = { state: 'failing', reason, since }
      const hint = `Run ${rollcall('doctor')} to see what to do.`
      log.warn({ reason, hint }, 'mails cannot be sent: they are kept')
    },
    serverWorks(): void {
      if (health.mail.state === 'failing') log.info('mails are sent again')
      health.mail = { state: 'ok' }
    },
    /** Our own code failed. */
    crashed(error: unknown): void {
      log.error({ err: error }, 'the sending of mails failed unexpectedly')
    },
  }
}
