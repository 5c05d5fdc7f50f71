import type { Reader } from '../journal/reader.ts'
import { JournalUnavailable } from '../journal/unavailable.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import { refusalWords, warningWords } from '../signup/trouble.ts'
import type { DeliveryStalled, ReadinessAnswer } from '../signup/wire.ts'
import { type Answer, json } from '../http/answer.ts'

export interface ReadinessOptions {
  readonly reader: Reader
  readonly events: Events
  readonly health: Health
  readonly clock: Clock
}

/** Delivery counts as stalled when signups wait and nothing was written for so long. */
const stalledAfterMs = 10 * 60 * 1000

const delayed = 'The spreadsheet does not accept rows just now; Rollcall keeps trying'

const challengeWords = {
  mismatch: 'Invalid challenge token',
  refused: 'The challenge provider refuses our calls',
  unavailable: 'The challenge provider gives no verdict just now',
} as const

/**
 * `GET /api/ready`. The service is ready while signups can be stored, even when the spreadsheet cannot
 * be reached; with `isStrict` a blocked delivery counts, too. The answer is public, so every error in
 * it is a fixed sentence.
 */
export async function ready(options: ReadinessOptions, isStrict: boolean): Promise<Answer> {
  const { reader, health } = options
  if (health.journal.state !== 'ok') await probe(options)
  const { tabs, warnings, refusedByOrigin, refusedApiKeys } = health
  const backlog = await unlessUnavailable(reader.backlog())
  const isStored = health.journal.state === 'ok' && backlog !== undefined
  const stalled = await stalledOf(options)
  const body: ReadinessAnswer = {
    status: isStored ? 'ready' : 'unavailable',
    journal: { state: isStored ? 'ok' : 'unavailable' },
    challenge: challengeOf(health),
    refusedByOrigin,
    refusedApiKeys,
    delivery: {
      ...deliveryOf(health),
      ...(backlog !== undefined && { backlog }),
      ...(stalled && { stalled }),
      tabsSetAside: [...tabs.values()].map(({ place, reason }) => ({
        tab: place,
        error: refusalWords[reason],
      })),
      warnings: [...new Set(warnings.map(({ kind }) => warningWords[kind]))],
    },
  }
  const isBlocked =
    stalled !== undefined ||
    health.delivery.state === 'blocked' ||
    tabs.size > 0 ||
    health.challenge.state === 'misconfigured'
  if (isStored && !(isStrict && isBlocked)) return json('ok', body)
  // The 503 makes load balancers take this instance out of rotation.
  return json('notReady', body, { headers: ['retry-after', '5'] })
}

function deliveryOf({ delivery }: Health): Pick<ReadinessAnswer['delivery'], 'state' | 'error'> {
  switch (delivery.state) {
    case 'ok':
      return delivery
    case 'delayed':
      return { state: 'delayed', error: delayed }
    case 'blocked':
      return { state: 'blocked', error: refusalWords[delivery.reason] }
  }
}

/**
 * Tells since when delivery has been stalled; undefined when it is not. Tabs set aside are reported
 * separately and do not count. The time comes from the journal, so that it survives a restart.
 */
async function stalledOf(options: ReadinessOptions): Promise<DeliveryStalled | undefined> {
  const { reader, health, clock } = options
  const since = await unlessUnavailable(reader.waitingSince([...health.tabs.keys()]))
  if (since === undefined || clock.now() - since < stalledAfterMs) return undefined
  const { error = 'No reason is known yet' } = deliveryOf(health)
  return { since: new Date(since).toISOString(), error }
}

/** Undefined while the journal cannot be read. */
async function unlessUnavailable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof JournalUnavailable) return undefined
    throw error
  }
}

function challengeOf({ challenge }: Health): ReadinessAnswer['challenge'] {
  const { state } = challenge
  if (state === 'misconfigured') return { state, error: challengeWords[challenge.reason] }
  if (state === 'unavailable') return { state, error: challengeWords.unavailable }
  return challenge
}

/** Tries to write. While we are not ready, a load balancer sends no signup whose success would show it. */
async function probe({ reader, events }: ReadinessOptions): Promise<void> {
  try {
    await reader.probe()
    events.journalRecovered()
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
  }
}
