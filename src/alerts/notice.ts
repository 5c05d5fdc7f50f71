import { rollcall } from '../platform/command-words.ts'
import { inWords, iso, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/** How many signups or mails wait, and since when the oldest one does. */
export interface Backlog {
  readonly waiting: number
  readonly oldest: Millis | undefined
}

const askDoctor = `Run ${rollcall('doctor')} to see what to do.`
const askWebhooks = `Run ${rollcall('webhooks')} to see which one.`

/** The types of notices: what the log says of each, and what people read, after the trouble has lasted so long. */
export const noticeTypes = {
  'delivery.blocked': [
    'notice: signups do not reach the spreadsheet',
    (length, reason) => `delivery has been blocked for ${length}. ${reason}. ${askDoctor}`,
  ],
  'delivery.stalled': [
    'notice: signups do not reach the spreadsheet',
    (length, reason) => `no signup was written for ${length}. ${reason}.`,
  ],
  'delivery.resumed': [
    'notice: delivery works again',
    (length) => `delivery works again, after ${length}.`,
  ],
  'mail.failing': [
    'notice: mails cannot be sent',
    (length, reason) => `no mail could be sent for ${length}. ${reason}. ${askDoctor}`,
  ],
  'mail.resumed': [
    'notice: mails are sent again',
    (length) => `mails are sent again, after ${length}.`,
  ],
  'mail.delayed': [
    'notice: mails are late',
    (_, reason) => `mails are late. ${reason}. MAIL_PER_HOUR is the pace of all sites.`,
  ],
  'mail.on_time': [
    'notice: mails are no longer late',
    (length) => `mails are no longer late, after ${length}.`,
  ],
  'held.ending': [
    'notice: held signups will be erased',
    (_, reason) =>
      `held signups will be erased. ${reason}, unless somebody decides on it: run ${rollcall('quarantine')}.`,
  ],
  'webhook.failing': [
    'notice: a webhook takes nothing',
    (length, reason) => `a webhook has taken nothing for ${length}. ${reason}. ${askWebhooks}`,
  ],
  'webhook.disabled': [
    'notice: a webhook is disabled',
    (_, reason) => `a webhook is disabled, and gets nothing any more. ${reason}. ${askWebhooks}`,
  ],
  'webhook.resumed': [
    'notice: a webhook takes messages again',
    (length) => `a webhook takes messages again, after ${length}.`,
  ],
} as const satisfies Readonly<
  Record<string, readonly [line: string, words: (length: string, reason: string) => string]>
>

export type NoticeType = keyof typeof noticeTypes

/** The body of a notice. It has nothing that a visitor may have typed: neither cells nor names of tabs. */
export type NoticeBody = ReturnType<typeof noticeOf>

/**
 * Times are ISO 8601 in UTC.
 *
 * @param trouble since when it has lasted, and why: a fixed sentence, without which it is over
 */
export function noticeOf(
  type: NoticeType,
  { since, reason }: { readonly since: Millis; readonly reason?: string },
  site: string,
  { waiting, oldest = Infinity }: Backlog,
  now: Millis,
) {
  const oldestWaitingSeconds = Math.max(0, Math.round((now - oldest) / 1000))
  const [, words] = noticeTypes[type]
  const waits = waitingWords(type, waiting, inWords(oldestWaitingSeconds * second))
  return {
    type,
    timestamp: iso(now),
    data: {
      site,
      ...(reason !== undefined && { reason }),
      since: iso(since),
      waiting,
      oldestWaitingSeconds,
    },
    // The same for people. Chat programs such as Slack show it.
    text: `Rollcall, site ${site}: ${words(inWords(now - since), reason ?? '')} ${waits}`,
  }
}

function waitingWords(type: NoticeType, waiting: number, oldest: string): string {
  const room = type.split('.')[0] ?? ''
  const kept: Readonly<Record<string, string>> = {
    mail: 'mail',
    webhook: 'message',
    held: 'such signup',
  }
  const what = kept[room] ?? 'signup'
  const where = room === 'delivery' ? 'on disk' : 'in the journal'
  if (waiting === 0) return `No ${what} waits.`
  if (waiting === 1) return `1 ${what} waits ${where}, for ${oldest}.`
  return `${waiting} ${what}s wait ${where}, the oldest one for ${oldest}.`
}

/** The body of a notice that an operator asks for, to see that it arrives. */
export function testNotice(now: Millis): string {
  return JSON.stringify({
    type: 'notice.test',
    timestamp: iso(now),
    data: {},
    text: 'Rollcall: this is a test. Notices of an outage come here.',
  })
}
