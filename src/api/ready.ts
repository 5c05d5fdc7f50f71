import type { Reader } from '../journal/contracts/reader.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { Events } from '../ops/events.ts'
import type { ChallengeHealth, Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import {
  blockedWords,
  delayWords,
  type DeliveryState,
  deliveryState,
  deliveryStates,
  refusalWords,
  warningWords,
} from '../signup/trouble.ts'
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
  await probe(options)
  const backlog = await unlessUnavailable(reader.backlog())
  const stalled = await stalledOf(options)
  return answerOf({ healths: [health], backlog, stalled }, isStrict)
}

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
  await probe(first)
  const waiting = await unlessUnavailable(backlogs())
  const backlog = waiting && sites.reduce((sum, { name }) => sum + (waiting.get(name) ?? 0), 0)
  const blockedSites = sites.flatMap(({ name, health }) => {
    const error = blockedBy(health)
    return error === undefined ? [] : [{ site: name, error }]
  })
  const healths = sites.map(({ health }) => health)
  return answerOf({ healths, backlog, blockedSites }, isStrict)
}

interface Readiness {
  readonly healths: readonly Health[]
  /** Undefined while the journal cannot be read. */
  readonly backlog: number | undefined
  readonly stalled?: Awaited<ReturnType<typeof stalledOf>>
  readonly blockedSites?: readonly { readonly site: string; readonly error: string }[]
}

function answerOf(readiness: Readiness, isStrict: boolean): Answer {
  const { healths, stalled } = readiness
  const body = bodyOf(readiness)
  const isBlocked = stalled !== undefined || healths.some((it) => blockedBy(it) !== undefined)
  if (body.status === 'ready' && !(isStrict && isBlocked)) return json('ok', body)
  // The 503 makes load balancers take this instance out of rotation.
  return json('notReady', body, { headers: ['retry-after', '5'] })
}

export type ReadinessAnswer = ReturnType<typeof bodyOf>

/** Of each kind of trouble it tells the worst that any site has. Every error is a fixed sentence. */
function bodyOf({ healths, backlog, stalled, blockedSites }: Readiness) {
  const isStored = healths[0]?.journal.state === 'ok' && backlog !== undefined
  const sum = (count: 'refusedByOrigin' | 'refusedApiKeys') =>
    healths.reduce((all, health) => all + health[count], 0)
  const warnings = healths.flatMap((health) => health.warnings)
  return {
    status: isStored ? 'ready' : 'unavailable',
    journal: { state: isStored ? 'ok' : 'unavailable' },
    challenge: worst(healths.map(challengeOf), ['off', 'ok', 'unavailable', 'misconfigured']),
    // Why mails cannot be sent is for the operator only.
    mail: worst(
      healths.map(({ mail: { state } }) => ({ state })),
      ['off', 'ok', 'failing'],
    ),
    webhooks: worst(healths.map(webhooksOf), ['off', 'ok', 'failing']),
    refusedByOrigin: sum('refusedByOrigin'),
    refusedApiKeys: sum('refusedApiKeys'),
    delivery: {
      ...worst(healths.map(deliveryOf), deliveryStates),
      ...(backlog !== undefined && { backlog }),
      ...(stalled && { stalled }),
      // `tab` tells the operator which, without its name.
      tabsSetAside: healths
        .flatMap(({ tabs }) => [...tabs.values()])
        .map(({ place, reason }) => ({ tab: place, error: refusalWords[reason] })),
      warnings: [...new Set(warnings.map(({ kind }) => warningWords[kind]))],
    },
    // When a file names sites and the request names none, those that wait for a person.
    ...(blockedSites && { blockedSites }),
  }
}

/** @param order of the states, from the best to the worst */
function worst<It extends { readonly state: string }>(
  all: readonly It[],
  order: readonly It['state'][],
): It {
  const badness = ({ state }: It) => order.indexOf(state)
  return all.reduce((one, other) => (badness(other) > badness(one) ? other : one))
}

/** What waits for a person, in a fixed sentence. */
function blockedBy({ delivery, tabs, challenge }: Health): string | undefined {
  const [tab] = tabs.values()
  const ofChallenge =
    challenge.state === 'misconfigured' ? challengeWords[challenge.reason] : undefined
  return blockedWords(delivery, tab) ?? ofChallenge
}

function deliveryOf(health: Health): { readonly state: DeliveryState; readonly error?: string } {
  const state = deliveryState(health)
  if (state === 'ok') return { state }
  return {
    state,
    error: (state === 'delayed' ? undefined : blockedBy(health)) ?? delayWords.delayed,
  }
}

/** `failing`: at least one endpoint takes nothing, or is disabled. */
function webhooksOf({ webhooks }: Health): { readonly state: 'off' | 'ok' | 'failing' } {
  const states = [...webhooks.values()].map(({ state }) => state)
  if (states.length === 0) return { state: 'off' }
  return { state: states.every((state) => state === 'ok') ? 'ok' : 'failing' }
}

/**
 * Tells since when delivery has been stalled; undefined when it is not. Tabs set aside are reported
 * separately and do not count. The time comes from the journal, so that it survives a restart.
 */
async function stalledOf({ reader, health, clock }: ReadinessOptions) {
  const since = await unlessUnavailable(reader.waitingSince([...health.tabs.keys()]))
  if (since === undefined || clock.now() - since < stalledAfterMs) return undefined
  const { delivery } = health
  const delay = delayWords[delivery.state === 'delayed' ? 'delayed' : 'unknown']
  const error = blockedWords(delivery, undefined) ?? delay
  return { since: new Date(since).toISOString(), error }
}

function challengeOf({ challenge }: Health): {
  readonly state: ChallengeHealth['state']
  readonly error?: string
} {
  const { state } = challenge
  if (state === 'misconfigured') return { state, error: challengeWords[challenge.reason] }
  if (state === 'unavailable') return { state, error: challengeWords.unavailable }
  return challenge
}

/** Tries to write when that failed: while we are not ready, a load balancer sends no signup that would show success. */
async function probe({ health, reader, events }: ReadinessOptions): Promise<void> {
  if (health.journal.state === 'ok') return
  await unlessUnavailable(reader.probe().then(() => events.journalRecovered()))
}
