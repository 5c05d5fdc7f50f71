import type { Clock } from '../../platform/clock.ts'
import { overflowKeyOf } from '../../signup/closing.ts'
import type { Commit } from '../contracts/journal.ts'
import type { Appended, AppendResults, SignupStatus } from '../contracts/intake-log.ts'
import { JournalUnavailable, OutcomeUnknown } from '../contracts/errors.ts'
import { fingerprintHash } from '../hashes.ts'
import type { Listeners } from '../../platform/listeners.ts'
import { type Answer, headLock, messageLock, numberOf, reading, type Row } from '../sql.ts'
import {
  type AppendRequest,
  type IntakeSite,
  type KnownKey,
  recalled,
  type SiteRequest,
  stepToFindKey,
  tellAdded,
  timeOf,
} from '../tables/intake.ts'
import { stepsToGreet } from '../tables/mail/mails.ts'
import {
  type Asks,
  statusesOfAsked,
  stepsToAsk,
  stepsToCountAsked,
  stepToFindAsked,
} from '../tables/pending/pending.ts'
import { isHeld, stepsToNote, type Suspect } from '../tables/quarantine.ts'
import type { Tab, TabRequest } from '../tables/tabs.ts'
import { appendStatements } from './append-statements.ts'
import type { Step } from './connections.ts'
import type { PostgresDatabase } from './database.ts'
import { listsOf } from './new-signups.ts'
import { stepsToForgetOld } from './old-keys.ts'
import { resolveLostCommit } from './resolve-lost-commit.ts'

/** What became of a request. */
type Outcome =
  | Exclude<Appended, { readonly kind: 'replayed' | 'mismatch' }>
  /** The request has this key. The signups of the first request with it are still to be read. */
  | (KnownKey & { readonly kind: 'known' })

/** A request as the database gets it: with hashes, because a key may be an address. Its tabs are those of `Tabs.reachedBy`. */
interface HashedRequest extends TabRequest, AppendRequest {
  readonly fingerprint: string | undefined
}

/** A part of a group: its steps, and how to read what their answers say of each of its requests. */
interface Part {
  readonly site: IntakeSite
  readonly requests: readonly SiteRequest[]
  readonly steps: readonly Step[]
  readonly outcomes: (answers: readonly Answer[]) => readonly Outcome[]
}

/** Appends requests of one site. No key and no token comes twice. */
function appending(site: IntakeSite, requests: readonly SiteRequest[]): Part {
  const group = requests.map((request) => hashed(request, site))
  const making = group.flatMap((request) => site.tabs.stepsToMake(request))
  const noting = stepsToNote(site, group.flatMap(suspectsOf))
  const greeting = group.flatMap(({ signups, terms }) => stepsToGreet(site, signups, terms))
  return {
    ...{ site, requests },
    steps: [...making, appendStep(site, group), ...noting, ...greeting],
    outcomes: (answers) => outcomesOf(answers[making.length]?.rows[0] ?? {}, group, site),
  }
}

function asking(request: SiteRequest, asks: Asks): Part {
  const { site, signups, terms } = request
  const { key = null } = hashed(request, site)
  const storing = stepsToAsk(site, signups, terms, asks)
  const looking = [stepToFindAsked(signups), stepToFindKey(site.id, key)]
  return {
    ...{ site, requests: [request] },
    steps: [...storing, ...looking, ...stepsToCountAsked(site, signups)],
    outcomes: (answers) => {
      const [stored, known] = answers.slice(storing.length).map(({ rows }) => rows[0])
      if (stored) return [{ kind: 'appended', results: statusesOfAsked(signups, site.tabs) }]
      return [known ? { kind: 'known', ...(known as unknown as KnownKey) } : { kind: 'tokenUsed' }]
    },
  }
}

function hashed(request: AppendRequest, { secret, keyHashOf, tabs }: IntakeSite): HashedRequest {
  const { signups, terms } = request
  const { idempotency, token, client } = terms
  return {
    ...request,
    tabs: tabs.namedBy(tabs.reachedBy(signups)),
    at: timeOf(request),
    client,
    token,
    key: idempotency && keyHashOf(idempotency),
    fingerprint: idempotency && fingerprintHash(secret, idempotency.fingerprint),
  }
}

function appendStep(site: IntakeSite, group: readonly HashedRequest[]): Step {
  const { id, policy, hashOf } = site
  const keys = [...new Set(group.flatMap(({ tabs }) => tabs.map(({ key }) => key)))]
  const items = group.flatMap(({ signups, tabs }, index) =>
    signups.map((signup, place) => ({
      ...signup,
      hash: hashOf(signup.email),
      request: index + 1,
      place,
      tab: keys.indexOf(tabs[place]?.key ?? '') + 1,
    })),
  )
  const { after } = policy.closing ?? {}
  const isOnce = policy.duplicates === 'ignore'
  const { append, appendOnce, appendSeats, appendSeatsOnce } = appendStatements
  const [plain, seats] = isOnce ? [appendOnce, appendSeatsOnce] : [append, appendSeats]
  return [
    after === undefined ? plain : seats,
    id,
    keys,
    group.map(({ key }) => key ?? null),
    group.map(({ fingerprint }) => fingerprint ?? null),
    group.map(({ token }) => token ?? null),
    items.map(({ request }) => request),
    items.map(({ tab }) => tab),
    items.map((item) => isHeld(site, item)),
    items.map(({ place }) => place),
    ...listsOf(items),
    ...(after === undefined ? [] : [after, overflowKeyOf(policy.closing) ?? null]),
  ]
}

/** As `Part.outcomes`. @param answer the one to `appendStep` */
function outcomesOf(
  answer: Row,
  group: readonly HashedRequest[],
  { tabs: knownTabs, seats, policy }: Pick<IntakeSite, 'tabs' | 'seats' | 'policy'>,
): readonly Outcome[] {
  const rows = (answer['known'] ?? []) as readonly (KnownKey & { readonly no: number })[]
  const known = new Map(rows.map((row) => [row.no, row]))
  const used = new Set((answer['used'] ?? []) as readonly number[])
  const ignored = new Set((answer['ignored'] ?? []) as readonly number[])
  const found = (answer['tabs'] ?? []) as readonly Tab[]
  knownTabs.learn(found)
  seats.learn(Number(answer['taken'] ?? 0))
  const names = new Map(found.map(({ key, name }) => [key, name]))
  const fullFrom = numberOf(answer['fullFrom']) ?? Infinity
  const overflowKey = overflowKeyOf(policy.closing)
  let position = Number(answer['position'])
  let no = 0
  return group.map(({ signups, tabs }, index): Outcome => {
    const before = no
    no += signups.length
    const earlier = known.get(index + 1)
    if (earlier) return { kind: 'known', ...earlier }
    if (used.has(index + 1)) return { kind: 'tokenUsed' }
    let duplicates = 0
    const isFull = (place: number) => before + place + 1 >= fullFrom
    const stored = signups.filter((_, place) => overflowKey !== undefined || !isFull(place))
    const results = stored.map(({ id, receivedAt }, place): SignupStatus | undefined => {
      const key = isFull(place) ? overflowKey : tabs[place]?.key
      const sheetTab = names.get(key ?? '')
      if (sheetTab === undefined) return undefined
      position += 1
      if (ignored.has(position)) duplicates += 1
      return { id, receivedAt, position, sheetTab }
    })
    return { kind: 'appended', results, ...(duplicates > 0 && { duplicates }) }
  })
}

function suspectsOf({ signups }: HashedRequest): readonly Suspect[] {
  return signups.flatMap(({ suspect, ...signup }) => (suspect ? [{ ...signup, suspect }] : []))
}

/**
 * Commits a group of requests in one transaction, whatever sites they are for. Resolves with what became
 * of each.
 */
export async function commitAppends(
  db: PostgresDatabase,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  group: readonly SiteRequest[],
  commits: Listeners<Commit>,
): Promise<readonly PromiseSettledResult<Appended>[]> {
  const begun = clock.elapsed()
  const { outcomes, failure } = await resolveLostCommit<SiteRequest, Outcome>(
    db,
    clock,
    group,
    (part) => append(db, part),
    ({ asks, signups, site }, results) => ({
      kind: 'appended',
      results: asks ? statusesOfAsked(signups, site.tabs) : foundOf(site, results),
    }),
  )
  tellAdded(outcomes, commits, clock.elapsed() - begun)
  return Promise.allSettled(
    group.map(async (request) => {
      const outcome = outcomes.get(request)
      if (!outcome) throw failure
      return outcome.kind === 'known' ? recall(outcome, request) : outcome
    }),
  )
}

/** The results of a request that was found by its rows. What is missing behind the last one was left out by a closed site. */
function foundOf({ policy }: IntakeSite, results: AppendResults): AppendResults {
  const { after, overflowTab } = policy.closing ?? {}
  if (after === undefined || overflowTab !== undefined) return results
  return results.slice(0, results.findLastIndex(Boolean) + 1)
}

/** An earlier request has stored something under this key. */
async function recall(known: KnownKey, { site, terms }: SiteRequest): Promise<Appended> {
  if (!terms.idempotency) return { kind: 'mismatch' }
  return reading(site.db, recalled(site, known, terms.idempotency)).catch((error: unknown) => {
    throw error instanceof JournalUnavailable ? new OutcomeUnknown(error.message) : error
  })
}

async function append(
  db: PostgresDatabase,
  group: readonly SiteRequest[],
): Promise<readonly (Outcome | undefined)[]> {
  const appended = group.filter(({ asks }) => !asks)
  const bySite = Map.groupBy(appended, ({ site }) => site)
  const parts = [
    ...Array.from(bySite, ([site, requests]) => appending(site, requests)),
    ...group.flatMap((request) => (request.asks ? [asking(request, request.asks)] : [])),
  ]
  const steps = [...parts.flatMap((part) => part.steps), ...stepsToForgetOld(group)]
  const greets = appended.some(({ terms, site }) => terms.greeting && site.policy.welcomes)
  const answers = await db.change(greets ? [headLock, messageLock] : [headLock], ...steps)
  const outcomeOf = new Map<SiteRequest, Outcome | undefined>()
  let at = 0
  for (const { requests, steps, outcomes } of parts) {
    const found = outcomes(answers.slice(at, (at += steps.length)))
    requests.forEach((request, index) => outcomeOf.set(request, found[index]))
  }
  return group.map((request) => outcomeOf.get(request))
}
