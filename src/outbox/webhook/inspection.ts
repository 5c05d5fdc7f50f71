import { type Finding, findingsOf } from '../../platform/finding.ts'
import { type Receiver, type SendWorld, statusOf } from './send.ts'

const timeoutMs = 5_000

export interface InspectionWords {
  /** The name of the check. */
  readonly check: string
  /** What stands before the host, such as `go to`. */
  readonly to: string
  readonly checkIt: string
  /** What to run to try it. */
  readonly tryIt: string
}

/**
 * Whether a receiver of messages answers. Asks for the first page of its host: that needs no secret, and sends
 * no message.
 */
export async function inspectReceiver(
  { url }: Pick<Receiver, 'url'>,
  { check, to, checkIt, tryIt }: InspectionWords,
  { http }: Pick<SendWorld, 'http'>,
  signal: AbortSignal,
): Promise<Finding> {
  const { ok, warning, fault } = findingsOf(check)
  const { host, origin } = new URL(url)
  const asked = await statusOf({ method: 'GET', url: `${origin}/`, timeoutMs, signal }, http)
  const where = `${to} ${host}`
  if (typeof asked === 'string') return fault(`${where}, which does not answer: ${asked}`, checkIt)
  // A receiver may know no GET.
  return asked < 500 || asked === 501
    ? ok(`${where}, which answers; ${tryIt} sends it a test`)
    : warning(`${where}, whose first page answers with status ${asked}`, `To try it, run ${tryIt}.`)
}
