import { rollcall } from '../platform/command-words.ts'
import { noticeFailureFact } from '../journal/contracts/delivery-log.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import { inspectReceiver } from '../outbox/webhook/inspection.ts'
import { type Receiver, sendMessage, type SendWorld } from '../outbox/webhook/send.ts'
import { type Finding, findingsOf } from '../platform/finding.ts'
import type { Millis } from '../signup/signup.ts'
import { testNotice } from './notice.ts'

const { ok, warning, fault } = findingsOf('notices')

const tryIt = rollcall('doctor --notice')
const checkReceiver = 'Check ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET and the log of the receiver.'

/** As the watch notes it. */
interface Failure {
  readonly at: Millis
  readonly tries: number
  readonly reason: string
}

/**
 * Whether the receiver of notices answers, and whether it took the last one.
 *
 * @param sites the journals of all sites
 */
export async function inspectNotices(
  receiver: Receiver,
  sites: readonly { readonly reader: Pick<Reader, 'fact'> }[],
  world: Pick<SendWorld, 'http'>,
  signal: AbortSignal,
): Promise<Finding> {
  const checkIt = 'Check ALERT_WEBHOOK_URL. Until it works, only the log tells of an outage.'
  const words = { check: 'notices', to: 'go to', checkIt, tryIt }
  const answers = await inspectReceiver(receiver, words, world, signal)
  if (answers.state === 'fault') return answers
  const facts = await Promise.all(sites.map(({ reader }) => reader.fact(noticeFailureFact)))
  const all = facts.flatMap((text) =>
    text === undefined || text === '' ? [] : (JSON.parse(text) as Failure),
  )
  const [last] = all.toSorted((a, b) => b.at - a.at)
  if (!last) return answers
  const { host } = new URL(receiver.url)
  const when = `${last.tries} tries: at ${new Date(last.at).toISOString()}, ${last.reason}`
  const message = `go to ${host}, which has not taken the last one in ${when}`
  return warning(message, `${checkReceiver} To try it, run ${tryIt}.`)
}

/** Sends a notice that says that it is a test, once. */
export async function sendTestNotice(
  receiver: Receiver,
  world: SendWorld,
  signal: AbortSignal,
): Promise<Finding> {
  const { host } = new URL(receiver.url)
  const message = { id: `msg_${crypto.randomUUID()}`, body: testNotice(world.clock.now()) }
  const sent = await sendMessage(receiver, message, world, signal)
  return sent.kind === 'sent'
    ? ok(`go to ${host}, which has taken a test notice`)
    : fault(`go to ${host}, which has not taken a test notice: ${sent.reason}`, checkReceiver)
}
