import type { Journal } from '../journal/journal.ts'
import { readKept } from '../notices/kept.ts'
import { type HttpClient, HttpFailure } from '../platform/http-client.ts'
import type { Finding } from '../spreadsheet/inspection.ts'
import type { Receiver } from '../webhook/send.ts'

const timeoutMs = 5_000
/** Nobody reads the answer. */
const answerBytesMax = 64 * 1024

/**
 * Whether the receiver of notices answers, and whether notices wait for it. Asks for the first page of its
 * host: that needs no secret, and leads to no notice.
 *
 * @param sites the journals of all sites
 */
export async function inspectNotices(
  { url }: Receiver,
  sites: readonly Pick<Journal, 'delivery'>[],
  http: HttpClient,
  signal: AbortSignal,
): Promise<Finding> {
  const check = 'notices'
  const { host, origin } = new URL(url)
  const failure = await failureOf({ http, url: `${origin}/`, signal })
  if (failure !== undefined) {
    const hint = 'Check ALERT_WEBHOOK_URL. Until it works, only the log tells of an outage.'
    return {
      check,
      state: 'fault',
      message: `go to ${host}, which does not answer: ${failure}`,
      hint,
    }
  }
  const kept = await Promise.all(sites.map(({ delivery }) => readKept(delivery)))
  const failed = kept.flatMap(({ waiting }) => waiting).filter(({ tries }) => tries > 0)
  if (failed.length === 0) return { check, state: 'ok', message: `go to ${host}, which answers` }
  const tries = Math.max(...failed.map((it) => it.tries))
  const message = `go to ${host}, which answers, but has not taken one in ${tries} tries`
  const hint = 'The log says why: look for "a notice could not be sent".'
  return { check, state: 'warning', message, hint }
}

/** Why there is no answer; undefined when there is any. */
async function failureOf({ http, url, signal }: Asked): Promise<string | undefined> {
  try {
    await http({ method: 'GET', url, timeoutMs, answerBytesMax, signal })
    return undefined
  } catch (error) {
    if (error instanceof HttpFailure && error.status !== undefined) return undefined
    return error instanceof Error ? error.message : String(error)
  }
}

interface Asked {
  readonly http: HttpClient
  readonly url: string
  readonly signal: AbortSignal
}
