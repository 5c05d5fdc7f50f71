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

/** Nothing was written for so long of what waits. */
const stalledAfterMs = 10 * 60 * 1000

const delayed = 'The spreadsheet gives no good answer just now; it is tried again'

const challengeWords = {
  mismatch: 'Invalid challenge token',
  refused: 'The challenge provider refuses our calls',
  unavailable: 'The challenge provider gives no verdict just now',
} as const

/**
 * Ready while signups can be stored: a spreadsheet that is out of reach turns nobody away, unless
 * `isStrict`. Anybody may ask: what is wrong is told in fixed sentences.
 */
export async function ready(options: ReadinessOptions, isStrict: boolean): Promise<Answer> {
  const { reader, health } = options
  if (health.journal.state !== 'ok') await probe(options)
  const { tabs, warnings, refusedByOrigin, refusedApiKeys } = health
  const isStored = health.journal.state === 'ok'
  const stalled = await stalledOf(options)
  const body: ReadinessAnswer = {
    status: isStored ? 'ready' : 'unavailable',
    journal: health.journal,
    challenge: challengeOf(health),
    refusedByOrigin,
    refusedApiKeys,
    delivery: {
      ...deliveryOf(health),
      backlog: await reader.backlog(),
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
  // For load balancers: it takes this instance out of rotation.
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
 * A tab that is set aside tells of itself, and counts for nothing here: what it holds back says nothing
 * of the others. By the journal, so that a restart does not begin anew.
 */
async function stalledOf(options: ReadinessOptions): Promise<DeliveryStalled | undefined> {
  const { reader, health, clock } = options
  const since = await waitingSince(reader, [...health.tabs.keys()])
  if (since === undefined || clock.now() - since < stalledAfterMs) return undefined
  const { error = 'No reason is known yet' } = deliveryOf(health)
  return { since: new Date(since).toISOString(), error }
}

/** Undefined also while the journal cannot be read, which is told as such. */
async function waitingSince(reader: Reader, asideTabs: readonly string[]) {
  try {
    return await reader.waitingSince(asideTabs)
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

/** A load balancer sends no signup to what is not ready: only a try of our own can end that. */
async function probe({ reader, events }: ReadinessOptions): Promise<void> {
  try {
    await reader.probe()
    events.journalRecovered()
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
  }
}
