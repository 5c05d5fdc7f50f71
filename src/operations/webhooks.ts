import { rollcall } from '../platform/command-words.ts'
import type { WebhookFigures, WebhookLog } from '../journal/contracts/webhook-log.ts'
import { isoOrNull } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { counted } from './words.ts'
import { digits } from '../platform/digits.ts'

/** A webhook of a site. */
export interface Endpoint {
  /** From 1 in the order of the settings. */
  readonly number: number
  readonly host: string
  /** By which the journal knows it. */
  readonly key: string
}

/** How an endpoint does. Times are ISO 8601 in UTC. */
export type EndpointState = ReturnType<typeof endpointState>

/** @param found undefined when no service has run with it yet */
export function endpointState(found: WebhookFigures | undefined) {
  const times = [
    ['disabled', found?.disabledAt],
    ['failing', found?.failingSince],
  ] as const
  const known = times.find(([, at]) => at !== undefined)
  const isTried = found?.takenAt !== undefined || (found?.failed ?? 0) > 0
  const [state, since] = known ?? [found ? (isTried ? 'ok' : 'untried') : 'unknown']
  return {
    ...{ state, since: isoOrNull(since), reason: known ? (found?.reason ?? null) : null },
    // All messages up to this position were sent, have failed, or are tried again.
    ...{ position: found?.cursor ?? null, lastTaken: isoOrNull(found?.takenAt) },
    ...{ waiting: found?.backlog ?? 0, oldest: isoOrNull(found?.oldest) },
    ...{ triedAgain: found?.waiting ?? 0, failed: found?.failed ?? 0 },
  }
}

const stateWords = {
  ok: 'works',
  untried: 'not tried yet',
  unknown: 'no service has run with it yet',
  failing: 'takes nothing',
  disabled: 'disabled',
}

/** The same for people. */
export function endpointWords(it: EndpointState): string {
  const isPart = it.state === 'ok' && it.triedAgain > 0
  const failed = `fails for ${digits(it.triedAgain)} of ${digits(it.waiting)} waiting, and tries them again`
  return [
    isPart ? failed : stateWords[it.state],
    it.since !== null && ` since ${it.since}: ${it.reason ?? ''}`,
    !isPart && it.waiting > 0 && `; ${digits(it.waiting)} waiting`,
    it.oldest !== null && `, the oldest of ${it.oldest}`,
    it.failed > 0 && `; ${digits(it.failed)} failed`,
  ]
    .filter((word) => word !== false)
    .join('')
}

/** What to do about it; undefined when nothing has failed. */
export function endpointHint(it: EndpointState, number: number): string | undefined {
  if (it.state === 'disabled')
    return `Mend its receiver. Then press “Send what waits now” on the admin page, or run ${rollcall(`webhooks enable ${number}`)}.`
  if (it.state === 'failing') return 'Mend its receiver. What waits is sent by itself then.'
  return it.failed > 0
    ? `See what has failed under Sending on the admin page, or by ${rollcall(`webhooks failed ${number}`)}; ${rollcall('webhooks replay')} sends it again.`
    : undefined
}

/** What was done with a webhook, for behind its name. */
export interface WebhookDone {
  readonly words: string
  readonly isWell?: boolean
}

/** Sends the message of a signup again. */
export async function replayOne(log: WebhookLog, key: string, id: string): Promise<WebhookDone> {
  const isWell = await log.replay(key, id.toLowerCase())
  return { words: isWell ? 'gets it again' : 'has no message of such a signup', isWell }
}

/** Sends the messages of signups again that came, or were confirmed, at this time or later. */
export async function replayFrom(log: WebhookLog, key: string, since: Millis) {
  const positions = await log.replaySince(key, since)
  const back = `goes back by ${counted(positions, 'position')}`
  return { words: positions === 0 ? 'has sent nothing since then' : back, positions }
}

/** Sends again to a webhook that is disabled or rests, and at once what waits for a further try. */
export async function enable(log: WebhookLog, key: string): Promise<WebhookDone> {
  await log.enable(key)
  return { words: 'sends what waits now' }
}

/** @param sent what became of a test */
export function testWords(sent: { readonly kind: string; readonly reason?: string }): WebhookDone {
  if (sent.kind === 'sent') return { words: 'has taken the test', isWell: true }
  return { words: `has not taken the test: ${sent.reason ?? ''}`, isWell: false }
}
