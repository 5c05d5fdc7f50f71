import { inWords, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { News } from './outage.ts'

/** How many signups wait, and since when the oldest one does. */
export interface Backlog {
  readonly waiting: number
  readonly oldest: Millis | undefined
}

/** The body of a notice. It has nothing that a visitor may have typed: neither cells nor names of tabs. */
export type NoticeBody = ReturnType<typeof noticeOf>

/** Times are ISO 8601 in UTC. */
export function noticeOf(news: News, site: string, { waiting, oldest }: Backlog, now: Millis) {
  // Of the oldest signup that waits; 0 when none does.
  const oldestWaitingSeconds = Math.max(0, Math.round((now - (oldest ?? now)) / 1000))
  const waits = waitingWords(waiting, inWords(oldestWaitingSeconds * second))
  return {
    type: `delivery.${news.kind}` as const,
    timestamp: new Date(now).toISOString(),
    data: {
      site,
      // A fixed sentence.
      ...(news.kind !== 'resumed' && { reason: news.reason }),
      // When the outage began.
      since: new Date(news.since).toISOString(),
      ...{ waiting, oldestWaitingSeconds },
    },
    // The same for people. Chat programs such as Slack show it.
    text: `Rollcall, site ${site}: ${sentencesOf(news, now)} ${waits}`,
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
    case 'stalled':
      return `no signup was written for ${length}. ${news.reason}.`
    case 'resumed':
      return `delivery works again, after ${length}.`
  }
}

function waitingWords(waiting: number, oldest: string): string {
  if (waiting === 0) return 'No signup waits.'
  if (waiting === 1) return `1 signup waits on disk, for ${oldest}.`
  return `${waiting} signups wait on disk, the oldest one for ${oldest}.`
}
