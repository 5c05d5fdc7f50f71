import type { Logger } from '../ops/log.ts'
import type { SenderEvents } from '../outbox/sender.ts'
import type { NoticeBody } from './notice.ts'

/** Events about notices to the operator. They never get the URL of the receiver: it may be a secret. */
export type NoticeEvents = ReturnType<typeof noticeEvents>

const lines = {
  'delivery.blocked': 'notice: signups do not reach the spreadsheet',
  'delivery.stalled': 'notice: signups do not reach the spreadsheet',
  'delivery.resumed': 'notice: delivery works again',
  'mail.failing': 'notice: mails cannot be sent',
  'mail.resumed': 'notice: mails are sent again',
  'mail.delayed': 'notice: mails are late',
  'mail.on_time': 'notice: mails are no longer late',
} as const satisfies Record<NoticeBody['type'], string>

export function noticeEvents(log: Logger) {
  return {
    /** The operator is to be told of a trouble or its end. */
    noticeMade({ type, data: { reason, since, waiting } }: NoticeBody): void {
      const line = { notice: type, reason, since, waiting }
      log[reason === undefined ? 'info' : 'error'](line, lines[type])
    },
    /** Our own code failed. Tried again soon. */
    noticesFailed(error: unknown): void {
      log.error({ err: error }, 'notices failed unexpectedly')
    },
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
