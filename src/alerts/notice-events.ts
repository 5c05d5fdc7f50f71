import type { Logger } from '../ops/log.ts'
import type { Attempt } from './attempt.ts'
import type { NoticeBody } from './notice.ts'

/** Events about notices to the operator. They never get the URL of the receiver: it may be a secret. */
export type NoticeEvents = ReturnType<typeof noticeEvents>

export function noticeEvents(log: Logger) {
  return {
    /** The operator is to be told of an outage or its end. */
    noticeMade(type: NoticeBody['type'], { reason, since, waiting }: NoticeBody['data']): void {
      const line = { notice: type, reason, since, waiting }
      if (type === 'delivery.resumed') log.info(line, 'notice: delivery works again')
      else log.error(line, 'notice: signups do not reach the spreadsheet')
    },
    noticeTried(tried: Attempt, host: string): void {
      switch (tried.kind) {
        case 'received':
          log.info({ host, tries: tried.tries }, 'a notice was sent')
          break
        case 'later': {
          const { tries, nextAt } = tried.waiting
          const next = new Date(nextAt).toISOString()
          log.warn({ host, tries, reason: tried.reason, next }, 'a notice could not be sent')
          break
        }
        case 'given up': {
          const { tries, reason } = tried
          const hint =
            'Check ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET, and the log of the receiver.'
          log.error({ host, tries, reason, hint }, 'a notice was given up: nobody received it')
        }
      }
    },
    /** Our own code failed. Tried again soon. */
    noticesFailed(error: unknown): void {
      log.error({ err: error }, 'notices failed unexpectedly')
    },
  }
}
