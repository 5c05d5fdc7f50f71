import type { HttpClient } from '../../platform/http-client.ts'
import { messageOf } from '../../platform/message-of.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'
import {
  MailConnection,
  mailServerOf,
  type MailTimes,
  mailTimes,
  MailServerFailure,
} from './connection.ts'
import { addressOf } from './mail-consumer.ts'
import { mailTroubles } from '../../signup/mail-trouble.ts'

/** A person waits for the answer. */
const times: MailTimes = { ...mailTimes, greetingMs: 15_000, silenceMs: 15_000, totalMs: 30_000 }
const timeoutMs = 10_000

/** Whether the mail server takes mail of this sender. Sends none. */
export async function inspectMailServer(
  url: string,
  from: string,
  stop: AbortSignal,
): Promise<Finding> {
  const { ok, fault } = findingsOf('mail')
  const server = mailServerOf(url)
  const signal = AbortSignal.any([stop, AbortSignal.timeout(times.totalMs)])
  const place = `${server.host}:${server.port}`
  try {
    using connection = await MailConnection.open(server, times, signal, addressOf(from))
    await connection.probeSender(signal)
  } catch (error) {
    if (!(error instanceof MailServerFailure)) throw error
    const [reason, hint] = mailTroubles[error.trouble]
    return fault(`${reason} (${place})`, hint)
  }
  const tls = server.tls === 'none' ? 'without TLS, on this machine' : 'by TLS'
  return ok(`goes to ${place} ${tls}, which takes mail from ${addressOf(from)}`)
}

/**
 * Whether visitors reach this service by `PUBLIC_URL`: something that only who has the journal can sign.
 *
 * @param url of the stamp of a form
 * @param isOurs whether a stamp was signed by this journal
 */
export async function inspectPublicUrl(
  url: string,
  isOurs: (stamp: string) => boolean,
  http: HttpClient,
  signal: AbortSignal,
): Promise<Finding> {
  const { ok, fault } = findingsOf('links')
  const { origin } = new URL(url)
  const hint = 'Start the service, and let PUBLIC_URL be the URL under which visitors reach it.'
  try {
    const asked = { method: 'GET', url, timeoutMs, answerBytesMax: 64 * 1024, signal } as const
    const { status, text } = await http(asked)
    if (status === 200 && isOurs(stampIn(text)))
      return ok(`of mails lead to ${origin}, which is ours`)
    return fault(
      `of mails lead to ${origin}, where another service answers (status ${status})`,
      hint,
    )
  } catch (error) {
    return fault(`of mails lead to ${origin}, which does not answer: ${messageOf(error)}`, hint)
  }
}

function stampIn(text: string): string {
  try {
    const { stamp } = JSON.parse(text) as { stamp?: unknown }
    return typeof stamp === 'string' ? stamp : ''
  } catch {
    return ''
  }
}
