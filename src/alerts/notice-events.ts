import type { Logger } from '../ops/log.ts'
import { iso } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { type NoticeBody, noticeTypes } from './notice.ts'

/** Events about notices to the operator. They know the host of the receiver only: its URL may be a secret. */
export type NoticeEvents = ReturnType<typeof noticeEvents>

export function noticeEvents(log: Logger) {
  return {
    /** The operator is to be told of a trouble or its end. */
    noticeMade({ type, data: { reason, since, waiting } }: NoticeBody): void {
      const [line] = noticeTypes[type]
      const details = { notice: type, reason, since, waiting }
      log[reason === undefined ? 'info' : 'error'](details, line)
    },
    /** The receiver has taken a notice. */
    noticeSent: (host: string, tries: number): void =>
      log.info({ host, tries }, 'a notice was sent'),
    noticeDelayed(host: string, tries: number, reason: string, nextAt: Millis): void {
      log.warn({ host, tries, reason, next: iso(nextAt) }, 'a notice could not be sent')
    },
    noticeGivenUp(host: string, tries: number, reason: string): void {
      const hint = 'Check ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET, and the log of the receiver.'
      log.error({ host, tries, reason, hint }, 'a notice was given up: nobody received it')
    },
    /** Our own code failed. Tried again soon. */
    noticesFailed: (error: unknown): void =>
      log.error({ err: error }, 'notices failed unexpectedly'),
  }
}
