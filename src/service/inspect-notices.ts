import type { Journal } from '../journal/contracts/journal.ts'
import { type FailedTry, readKept } from '../alerts/kept.ts'
import { testNotice } from '../alerts/notice.ts'
import type { Clock } from '../platform/clock.ts'
import { HttpFailure } from '../platform/http-client.ts'
import { messageOf } from '../platform/message-of.ts'
import type { Finding } from '../spreadsheet/inspection.ts'
import { type Receiver, sendMessage } from '../alerts/send.ts'
import { realWorld } from './world.ts'

const check = 'notices'
const timeoutMs = 5_000
/** Nobody reads the answer. */
const answerBytesMax = 64 * 1024

const tryIt = 'To try it, run rollcall doctor --notice.'

/**
 * Whether the receiver of notices answers, and whether it took the last one. Asks for the first page of its
 * host: that needs no secret, and leads to no notice.
 *
 * @param sites the journals of all sites
 */
export async function inspectNotices(
  { url }: Receiver,
  sites: readonly Pick<Journal, 'delivery'>[],
  signal: AbortSignal,
): Promise<Finding> {
  const { host, origin } = new URL(url)
  const asked = await statusOf(`${origin}/`, signal)
  if (typeof asked === 'string') {
    const message = `go to ${host}, which does not answer: ${asked}`
    const hint = 'Check ALERT_WEBHOOK_URL. Until it works, only the log tells of an outage.'
    return { check, state: 'fault', message, hint }
  }
  const kept = await Promise.all(sites.map(({ delivery }) => readKept(delivery)))
  const [last] = kept.flatMap(({ failed }) => failed ?? []).toSorted((a, b) => b.at - a.at)
  if (last) return notTaken(host, last)
  if (asked < 500) {
    const message = `go to ${host}, which answers; --notice sends it a test`
    return { check, state: 'ok', message }
  }
  const message = `go to ${host}, whose first page answers with status ${asked}`
  return { check, state: 'warning', message, hint: tryIt }
}

function notTaken(host: string, { at, tries, reason }: FailedTry): Finding {
  const time = new Date(at).toISOString()
  const message = `go to ${host}, which has not taken the last one in ${tries} tries: at ${time}, ${reason}`
  const hint = `Check ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET and the log of the receiver. ${tryIt}`
  return { check, state: 'warning', message, hint }
}

/** Sends a notice that says that it is a test, once. */
export async function sendTestNotice(
  receiver: Receiver,
  { clock, stop }: { readonly clock: Pick<Clock, 'now'>; readonly stop: AbortSignal },
): Promise<Finding> {
  const { host } = new URL(receiver.url)
  const message = { id: `msg_${crypto.randomUUID()}`, body: testNotice(clock.now()) }
  const sent = await sendMessage(receiver, message, { http: realWorld.receiverHttp, clock }, stop)
  if (sent.kind === 'received') {
    return { check, state: 'ok', message: `go to ${host}, which has taken a test notice` }
  }
  const hint = 'Check ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET and the log of the receiver.'
  const why = `go to ${host}, which has not taken a test notice: ${sent.reason}`
  return { check, state: 'fault', message: why, hint }
}

/** The status of the answer, or why there is none. */
async function statusOf(url: string, signal: AbortSignal): Promise<number | string> {
  try {
    const request = { method: 'GET', url, timeoutMs, answerBytesMax, signal } as const
    return (await realWorld.receiverHttp(request)).status
  } catch (error) {
    if (error instanceof HttpFailure && error.status !== undefined) return error.status
    return messageOf(error)
  }
}
