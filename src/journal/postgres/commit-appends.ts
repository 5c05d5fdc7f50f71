import type { Clock } from '../../platform/clock.ts'
import type { Appended } from '../contracts/intake-log.ts'
import { addedBy } from '../commit.ts'
import { JournalUnavailable, OutcomeUnknown } from '../contracts/unavailable.ts'
import type { AppendRequest } from './append-request.ts'
import { groupAppend, hashed, type KnownKey, type Outcome, stepsToSweep } from './appends.ts'
import type { PostgresDatabase, Step } from './database.ts'
import { headLock } from './locks.ts'
import { settleUnknown } from './settle-unknown.ts'
import type { PostgresSite } from './site.ts'
import type { Row } from './statement.ts'
import type { PostgresTabs } from './tabs.ts'

/** A request, and the site that it is for. */
export interface SiteRequest extends AppendRequest {
  readonly site: AppendingSite
}

/** What appends need of a site. */
export interface AppendingSite {
  readonly site: PostgresSite
  readonly tabs: PostgresTabs
  /** Reads what the first request with this key was answered. */
  readonly recalled: (known: KnownKey, request: AppendRequest) => Promise<Appended>
}

/**
 * Commits a group of requests in one transaction, whatever sites they are for. Resolves with what became
 * of each.
 */
export async function commitAppends(
  db: PostgresDatabase,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  group: readonly SiteRequest[],
): Promise<readonly PromiseSettledResult<Appended>[]> {
  const stale = new Set<AppendingSite>()
  const { outcomes, failure } = await settleUnknown<SiteRequest, Outcome>(
    { db },
    clock,
    group,
    (part) => append(db, part, stale),
    (results) => ({ kind: 'appended', results }),
  )
  tellAdded(outcomes)
  return Promise.allSettled(
    group.map(async (request) => {
      const outcome = outcomes.get(request)
      if (!outcome) throw failure
      return outcome.kind === 'known' ? recall(outcome, request) : outcome
    }),
  )
}

/** An earlier request has stored something under this key. */
async function recall(known: KnownKey, request: SiteRequest): Promise<Appended> {
  try {
    return await request.site.recalled(known, request)
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
    throw new OutcomeUnknown(error.message)
  }
}

/**
 * Adds nothing to a site whose default tab has got its name meanwhile, and notes the site in `stale`. The
 * next call reads the name before it adds anything, so that a failure loses no outcome of this call.
 */
async function append(
  db: PostgresDatabase,
  group: readonly SiteRequest[],
  stale: Set<AppendingSite>,
): Promise<readonly (Outcome | undefined)[]> {
  for (const { site } of stale) await site.defaultTab.now()
  stale.clear()
  const outcomes = new Map<SiteRequest, Outcome>()
  const parts = Array.from(
    Map.groupBy(group, ({ site }) => site),
    prepare,
  )
  const answers = await db.inOneGo(
    headLock,
    parts.flatMap(({ steps }) => steps),
  )
  let at = 0
  for (const { site, requests, steps, appendAt, read } of parts) {
    const found = read(answers[at + appendAt]?.[0] ?? {})
    at += steps.length
    found?.forEach((outcome, index) => {
      const request = requests[index]
      if (request) outcomes.set(request, outcome)
    })
    if (!found) stale.add(site)
  }
  return group.map((request) => outcomes.get(request))
}

interface Part {
  readonly site: AppendingSite
  readonly requests: readonly SiteRequest[]
  readonly steps: readonly Step[]
  /** Which of the steps adds the signups. */
  readonly appendAt: number
  /** Reads its answer; undefined when the default tab has got its name, so nothing was added. */
  readonly read: (answer: Row) => readonly Outcome[] | undefined
}

/** The steps for one site's requests. */
function prepare([site, requests]: [AppendingSite, readonly SiteRequest[]]): Part {
  const { secret } = site.site
  const withHashes = requests.map((request) => hashed(request, secret, site.tabs))
  const { step, outcomes } = groupAppend(site.site, withHashes, site.tabs)
  const making = withHashes.flatMap((request) => site.tabs.stepsToMake(request))
  const steps = [...making, step, ...stepsToSweep(withHashes)]
  return { site, requests, steps, appendAt: making.length, read: outcomes }
}

function tellAdded(outcomes: ReadonlyMap<SiteRequest, Outcome>): void {
  const added = new Map<PostgresSite, number>()
  for (const [{ site: appending }, outcome] of outcomes) {
    const { site } = appending
    added.set(site, (added.get(site) ?? 0) + addedBy([outcome]))
  }
  for (const [{ appended }, count] of added) if (count > 0) appended.tell(count)
}
