import type { Logger } from './log.ts'

/** What a notice tells. Nothing of a visitor. */
interface NoticeData {
  readonly reason?: string
  readonly since: string
  readonly waiting: number
}

/** What became of a try to send a notice. */
type Tried =
  | { readonly kind: 'received'; readonly tries: number }
  | {
      readonly kind: 'later'
      readonly waiting: { readonly tries: number; readonly nextAt: number }
      readonly reason: string
    }
  | { readonly kind: 'given up'; readonly tries: number; readonly reason: string }

/** Events about notices to the operator. They never get the URL of the receiver: it may be a secret. */
export interface NoticeEvents {
  /** The operator is to be told of an outage or its end. */
  noticeMade(type: string, data: NoticeData): void
  noticeTried(tried: Tried, host: string): void
  /** Our own code failed. Tried again soon. */
  noticesFailed(error: unknown): void
}

export function noticeEvents(log: Logger): NoticeEvents {
  return {
    noticeMade(type, { reason, since, waiting }) {
      const line = { notice: type, reason, since, waiting }
      if (type === 'delivery.resumed') log.info(line, 'notice: delivery works again')
      else log.error(line, 'notice: signups do not reach the spreadsheet')
    },
    noticeTried(tried, host) {
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
    noticesFailed(error) {
      log.error({ err: error }, 'notices failed unexpectedly')
    },
  }
}
