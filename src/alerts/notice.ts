import { inWords, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { News } from './outage.ts'

/** How many signups or mails wait, and since when the oldest one does. */
export interface Backlog {
  readonly waiting: number
  readonly oldest: Millis | undefined
}

type NoticeType = `delivery.${'blocked' | 'stalled' | 'resumed'}` | MailNoticeType
type MailNoticeType = 'mail.failing' | 'mail.resumed' | 'mail.delayed' | 'mail.on_time'

/** The body of a notice. It has nothing that a visitor may have typed: neither cells nor names of tabs. */
export type NoticeBody = ReturnType<typeof noticeOf>

export function deliveryNotice(news: News, site: string, backlog: Backlog, now: Millis) {
  const kind = news.kind === 'blocked' || news.kind === 'stalled' ? news.kind : 'resumed'
  const waits = waitingWords(backlog, now, 'signup', 'on disk')
  return noticeOf(
    `delivery.${kind}`,
    news,
    site,
    backlog,
    now,
    `${sentencesOf(news, now)} ${waits}`,
  )
}

/** @param type as it is told when it is not the end of a trouble, and then */
export function mailNotice(
  [begun, ended]: readonly [MailNoticeType, MailNoticeType],
  news: News,
  site: string,
  backlog: Backlog,
  now: Millis,
) {
  const type = news.kind === 'resumed' ? ended : begun
  const waits = waitingWords(backlog, now, 'mail', 'in the journal')
  return noticeOf(type, news, site, backlog, now, `${mailSentencesOf(type, news, now)} ${waits}`)
}

/** Times are ISO 8601 in UTC. */
function noticeOf(
  type: NoticeType,
  news: News,
  site: string,
  backlog: Backlog,
  now: Millis,
  sentences: string,
) {
  return {
    type,
    timestamp: new Date(now).toISOString(),
    data: {
      site,
      // A fixed sentence.
      ...(news.kind !== 'resumed' && { reason: news.reason }),
      // When the outage began.
      since: new Date(news.since).toISOString(),
      waiting: backlog.waiting,
      oldestWaitingSeconds: oldestSeconds(backlog, now),
    },
    // The same for people. Chat programs such as Slack show it.
    text: `Rollcall, site ${site}: ${sentences}`,
  }
}

/** The body of a notice that an operator asks for, to see that it arrives. */
export function testNotice(now: Millis): string {
  return JSON.stringify({
    type: 'notice.test',
    timestamp: new Date(now).toISOString(),
    data: {},
    text: 'Rollcall: this is a test. Notices of an outage come here.',
  })
}

function sentencesOf(news: News, now: Millis): string {
  const length = inWords(now - news.since)
  switch (news.kind) {
    case 'blocked':
      return `delivery has been blocked for ${length}. ${news.reason}. Run rollcall doctor to see what to do.`
    case 'resumed':
      return `delivery works again, after ${length}.`
    default:
      return `no signup was written for ${length}. ${news.reason}.`
  }
}

function mailSentencesOf(type: MailNoticeType, news: News, now: Millis): string {
  const length = inWords(now - news.since)
  const reason = news.kind === 'resumed' ? '' : `${news.reason}.`
  switch (type) {
    case 'mail.failing':
      return `no mail could be sent for ${length}. ${reason} Run rollcall doctor to see what to do.`
    case 'mail.resumed':
      return `mails are sent again, after ${length}.`
    case 'mail.delayed':
      return `mails are late. ${reason} MAIL_PER_HOUR is the pace of all sites.`
    case 'mail.on_time':
      return `mails are no longer late, after ${length}.`
  }
}

/** Of the oldest that waits; 0 when none does. */
function oldestSeconds({ oldest }: Backlog, now: Millis): number {
  return Math.max(0, Math.round((now - (oldest ?? now)) / 1000))
}

function waitingWords(backlog: Backlog, now: Millis, what: string, where: string): string {
  const { waiting } = backlog
  const oldest = inWords(oldestSeconds(backlog, now) * second)
  if (waiting === 0) return `No ${what} waits.`
  if (waiting === 1) return `1 ${what} waits ${where}, for ${oldest}.`
  return `${waiting} ${what}s wait ${where}, the oldest one for ${oldest}.`
}
