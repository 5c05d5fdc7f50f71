import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import type { Message } from '../../journal/contracts/outbox.ts'
import type { Clock } from '../../platform/clock.ts'
import { emailProblem } from '../../signup/email.ts'
import type { Consumer, Sent, SendTask } from '../sender.ts'
import {
  MailConnection,
  type MailServer,
  type MailTimes,
  mailTimes,
  type SmtpFailure,
  troubleOf,
  MailServerFailure,
} from './connection.ts'
import { idleConnections } from './idle-connections.ts'
import type { Mail } from './mail.ts'
import { mailTroubles } from '../../signup/mail-trouble.ts'

export interface MailConsumerOptions {
  readonly server: MailServer
  /** `MAIL_FROM` */
  readonly from: string
  /** `MAIL_PER_HOUR` */
  readonly perHour: number
  readonly compose: (message: Message) => Mail
  readonly clock: Pick<Clock, 'sleep'>
  readonly times?: Partial<MailTimes> | undefined
}

/** How many connections a site has to the mail server. Servers often allow ten to a client. */
const atOnce = 5

const words = {
  address: 'The address cannot be written to',
  recipient: 'The mail server refuses the recipient',
  message: 'The mail server refuses the message',
  unanswered: 'The connection ended before the mail server answered for the message',
} as const

/** The address of `name <address>`. */
export function addressOf(from: string): string {
  return /<([^<>]*)>$/.exec(from)?.[1] ?? from
}

/** Sends mails by SMTP, over a few connections that are kept for a while. */
export function mailConsumer(options: MailConsumerOptions): Consumer {
  const { server, from, perHour, compose, clock } = options
  const times = { ...mailTimes, ...options.times }
  const idle = idleConnections(clock)
  return {
    order: { kinds: ['confirm', 'welcome', 'report'], perHour },
    ...{ atOnce, send },
    [Symbol.asyncDispose]: async () => idle[Symbol.dispose](),
  }

  async function send(message: Message, task: SendTask): Promise<Sent> {
    const mail = compose(message)
    // nodemailer takes other forms of addresses, too.
    // Only the server is tried for it.
    const isGone = message.isUnwanted && mail.to === ''
    if (!isGone && (emailProblem(mail.to) !== undefined || /[^\x21-\x7e]|[<>]/.test(mail.to)))
      return { kind: 'refused', reason: words.address }
    const content = await contentOf(mail, from)
    const signal = AbortSignal.any([task.signal, AbortSignal.timeout(times.totalMs)])
    for (;;) {
      const kept = idle.take()
      const sent = await sendOnce(kept, mail.to, content, { ...task, signal })
      if (sent === 'stale') continue
      // A stop is no failure of the server.
      return task.signal.aborted && sent.kind === 'down' ? { kind: 'unsent' } : sent
    }
  }

  /** Resolves with `stale` when a kept connection was over, and the mail was not handed over. */
  async function sendOnce(
    kept: MailConnection | undefined,
    to: string,
    content: Buffer,
    task: SendTask,
  ): Promise<Sent | 'stale'> {
    const { signal } = task
    let isHandedOver = false
    // Read when the server is ready for it.
    const read = async function* () {
      if (!(await task.mayHandOver())) throw new Unwanted()
      isHandedOver = true
      yield content
    }
    try {
      using opened = new DisposableStack()
      const connection = opened.use(kept ?? (await MailConnection.open(server, times, signal)))
      const isStillWanted = to !== '' && (await task.isWanted())
      if (isStillWanted)
        await connection.send({ from: addressOf(from), to }, Readable.from(read()), signal)
      opened.move()
      idle.keep(connection)
      return { kind: isStillWanted ? 'sent' : 'unsent' }
    } catch (error) {
      const failure = error as SmtpFailure
      if (failure instanceof Unwanted) return { kind: 'unsent' }
      const sent = sentOf(failure, isHandedOver)
      return kept && sent.kind === 'down' && !signal.aborted ? 'stale' : sent
    }
  }
}

/** A mail is not to be sent any more. The connection is closed before its end, so that the server drops it. */
class Unwanted extends Error {}

/** The mail as it goes over the wire. */
function contentOf(mail: Mail, from: string): Promise<Buffer> {
  const { to, subject, text, html, messageId, headers } = mail
  const composer = new MailComposer({
    ...{ from, to, subject, text, html, newline: '\r\n' },
    messageId: `<${messageId}>`,
    headers: { ...unfolded(headers), 'Auto-Submitted': 'auto-generated' },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  return composer.compile().build()
}

/** In one line each: some servers sign folded headers wrongly. */
function unfolded(headers: Mail['headers']) {
  const lines = Object.entries(headers).map(([name, value]) => {
    return [name, { value, prepared: true, foldLines: false }] as const
  })
  return Object.fromEntries(lines)
}

function sentOf(failure: SmtpFailure, isHandedOver: boolean): Sent {
  const { command = '', responseCode = 0 } = failure
  const down = (): Sent => ({ kind: 'down', reason: mailTroubles[troubleOf(failure)][0] })
  if (failure instanceof MailServerFailure || responseCode === 421) return down()
  if (command.startsWith('RCPT') && responseCode > 0) {
    const reason = `${words.recipient} (${responseCode})`
    return { kind: responseCode >= 500 ? 'refused' : 'later', reason }
  }
  if (command.startsWith('DATA') && responseCode > 0) {
    // It may refuse all that this sender sends, so that not even a 5xx is final.
    return { kind: 'later', reason: `${words.message} (${responseCode})`, mayBeServer: true }
  }
  return isHandedOver ? { kind: 'later', reason: words.unanswered, mayBeServer: true } : down()
}
