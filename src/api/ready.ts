import type { Reader } from '../journal/contracts/reader.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import { delayWords, deliveryState, refusalWords, warningWords } from '../signup/trouble.ts'
import type { BlockedSite, DeliveryStalled, ReadinessAnswer } from '../signup/wire.ts'
import { type Answer, json } from '../http/answer.ts'

export interface ReadinessOptions {
  readonly reader: Reader
  readonly events: Events
  readonly health: Health
  readonly clock: Clock
}

/** Delivery counts as stalled when signups wait and nothing was written for so long. */
const stalledAfterMs = 10 * 60 * 1000

const challengeWords = {
  mismatch: 'Invalid challenge token',
  refused: 'The challenge provider refuses our calls',
  unavailable: 'The challenge provider gives no verdict just now',
} as const

/**
 * `GET /api/ready` of one site. The service is ready while signups can be stored, even when the
 * spreadsheet cannot be reached; with `isStrict` a blocked delivery counts, too. The answer is public, so
 * every error in it is a fixed sentence.
 */
export async function ready(options: ReadinessOptions, isStrict: boolean): Promise<Answer> {
  const { reader, health } = options
  if (health.journal.state !== 'ok') await probe(options)
  const backlog = await unlessUnavailable(reader.backlog())
  const stalled = await stalledOf(options)
  return answerOf({ health, backlog, stalled }, isStrict)
}

/** A site by its name. */
export interface NamedSite extends ReadinessOptions {
  readonly name: string
}

/**
 * `GET /api/ready` of all sites together. Reads the journal once, however many sites there are.
 *
 * @param backlogs as in `OpenJournal`
 */
export async function readySites(
  sites: readonly [NamedSite, ...NamedSite[]],
  backlogs: () => Promise<ReadonlyMap<string, number>>,
  isStrict: boolean,
): Promise<Answer> {
  const [first] = sites
  if (first.health.journal.state !== 'ok') await probe(first)
  const waiting = await unlessUnavailable(backlogs())
  const backlog = waiting && sites.reduce((sum, { name }) => sum + (waiting.get(name) ?? 0), 0)
  const blockedSites = sites.flatMap(({ name, health }) => {
    const error = blockedBy(health)
    return error === undefined ? [] : [{ site: name, error }]
  })
  return answerOf({ health: together(sites), backlog, blockedSites }, isStrict)
}

interface Readiness {
  readonly health: Health
  /** Undefined while the journal cannot be read. */
  readonly backlog: number | undefined
  readonly stalled?: DeliveryStalled | undefined
  readonly blockedSites?: readonly BlockedSite[]
}

function answerOf(
  { health, backlog, stalled, blockedSites }: Readiness,
  isStrict: boolean,
): Answer {
  const { tabs, warnings, refusedByOrigin, refusedApiKeys } = health
  const isStored = health.journal.state === 'ok' && backlog !== undefined
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
    ...(blockedSites && { blockedSites }),
  }
  const isBlocked = stalled !== undefined || blockedBy(health) !== undefined
  if (isStored && !(isStrict && isBlocked)) return json('ok', body)
  // The 503 makes load balancers take this instance out of rotation.
  return json('notReady', body, { headers: ['retry-after', '5'] })
}

/** What waits for a person, in a fixed sentence. */
function blockedBy({ delivery, tabs, challenge }: Health): string | undefined {
  if (delivery.state === 'blocked') return refusalWords[delivery.reason]
  const [tab] = tabs.values()
  if (tab) return refusalWords[tab.reason]
  return challenge.state === 'misconfigured' ? challengeWords[challenge.reason] : undefined
}

/** Of each kind of trouble the worst that any site has. */
function together(sites: readonly [NamedSite, ...NamedSite[]]): Health {
  const all = sites.map(({ health }) => health)
  const { journal } = sites[0].health
  const worst = <State extends { readonly state: string }>(
    states: readonly State[],
    order: readonly State['state'][],
  ) => states.toSorted((a, b) => order.indexOf(b.state) - order.indexOf(a.state))[0]
  return {
    journal,
    delivery: worst(
      all.map(({ delivery }) => delivery),
      ['ok', 'delayed', 'blocked'],
    ) ?? { state: 'ok' },
    challenge: worst(
      all.map(({ challenge }) => challenge),
      ['off', 'ok', 'unavailable', 'misconfigured'],
    ) ?? { state: 'off' },
    tabs: new Map(
      sites.flatMap(({ name, health }) =>
        Array.from(health.tabs, ([key, tab]) => [JSON.stringify([name, key]), tab] as const),
      ),
    ),
    refusedByOrigin: all.reduce((sum, it) => sum + it.refusedByOrigin, 0),
    refusedApiKeys: all.reduce((sum, it) => sum + it.refusedApiKeys, 0),
    warnings: all.flatMap(({ warnings }) => warnings),
  }
}

function deliveryOf(health: Health): Pick<ReadinessAnswer['delivery'], 'state' | 'error'> {
  const state = deliveryState(health)
  if (state === 'ok') return { state }
  return {
    state,
    error: (state === 'delayed' ? undefined : blockedBy(health)) ?? delayWords.delayed,
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
  const { delivery } = health
  const error =
    delivery.state === 'blocked'
      ? refusalWords[delivery.reason]
      : delayWords[delivery.state === 'delayed' ? 'delayed' : 'unknown']
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
