import type { Outbox } from '../journal/contracts/outbox.ts'
import { type Receiver, sendMessage, type SendWorld, statusOf } from '../outbox/webhook/send.ts'
import { type Finding, findingsOf } from '../signup/finding.ts'
import { testNotice } from './notice.ts'

const { ok, warning, fault } = findingsOf('notices')
const timeoutMs = 5_000

const tryIt = 'To try it, run rollcall doctor --notice.'
const checkReceiver = 'Check ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET and the log of the receiver.'

/**
 * Whether the receiver of notices answers, and whether it took the last one. Asks for the first page of its
 * host: that needs no secret, and leads to no notice.
 *
 * @param sites the journals of all sites
 */
export async function inspectNotices(
  { url }: Receiver,
  sites: readonly { readonly outbox: Pick<Outbox, 'figures'> }[],
  { http }: Pick<SendWorld, 'http'>,
  signal: AbortSignal,
): Promise<Finding> {
  const { host, origin } = new URL(url)
  const asked = await statusOf({ method: 'GET', url: `${origin}/`, timeoutMs, signal }, http)
  if (typeof asked === 'string') {
    const hint = 'Check ALERT_WEBHOOK_URL. Until it works, only the log tells of an outage.'
    return fault(`go to ${host}, which does not answer: ${asked}`, hint)
  }
  const all = await Promise.all(sites.map(({ outbox }) => outbox.figures(['notice'])))
  const [last] = all.flatMap(({ failed }) => failed ?? []).toSorted((a, b) => b.at - a.at)
  if (last) {
    const { tries, reason } = last
    const when = `${tries} tries: at ${new Date(last.at).toISOString()}, ${reason}`
    const message = `go to ${host}, which has not taken the last one in ${when}`
    return warning(message, `${checkReceiver} ${tryIt}`)
  }
  return asked < 500
    ? ok(`go to ${host}, which answers; --notice sends it a test`)
    : warning(`go to ${host}, whose first page answers with status ${asked}`, tryIt)
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
