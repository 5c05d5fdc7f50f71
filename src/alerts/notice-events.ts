import type { Logger } from '../ops/log.ts'
import type { SenderEvents } from '../outbox/sender.ts'
import { type NoticeBody, noticeTypes } from './notice.ts'

/** Events about notices to the operator. They never get the URL of the receiver: it may be a secret. */
export type NoticeEvents = ReturnType<typeof noticeEvents>

export function noticeEvents(log: Logger) {
  return {
    /** The operator is to be told of a trouble or its end. */
    noticeMade({ type, data: { reason, since, waiting } }: NoticeBody): void {
      const [line] = noticeTypes[type]
      const details = { notice: type, reason, since, waiting }
      log[reason === undefined ? 'info' : 'error'](details, line)
    },
    /** Our own code failed. Tried again soon. */
    noticesFailed: (error: unknown): void =>
      log.error({ err: error }, 'notices failed unexpectedly'),
  }
}

/** Events about the sending of notices to this host. */
export function noticeSenderEvents(log: Logger, host: string): SenderEvents {
  return {
    sent: (_, tries) => log.info({ host, tries }, 'a notice was sent'),
    delayed(_, tries, reason, nextAt) {
      const next = new Date(nextAt).toISOString()
      log.warn({ host, tries, reason, next }, 'a notice could not be sent')
    },
    failed(_, tries, reason) {
      const hint = 'Check ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET, and the log of the receiver.'
      log.error({ host, tries, reason, hint }, 'a notice was given up: nobody received it')
    },
    // Each message tells it.
    serverFails: () => {},
    serverWorks: () => {},
    crashed: (error) => log.error({ err: error }, 'notices failed unexpectedly'),
  }
}
