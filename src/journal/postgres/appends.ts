import type { Clock } from '../../platform/clock.ts'
import type { Commit } from '../contracts/journal.ts'
import type { Appended, SignupStatus } from '../contracts/intake-log.ts'
import { JournalUnavailable, OutcomeUnknown } from '../contracts/errors.ts'
import { fingerprintHash, keyHash } from '../hashes.ts'
import type { Listeners } from '../../platform/listeners.ts'
import { type Answer, headLock, messageLock, reading, type Row, statementsOf } from '../sql.ts'
import { statusOfNew } from '../tables/append-one.ts'
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
import { rowStatus } from '../tables/layout.ts'
import { stepsToGreet } from '../tables/mail/mails.ts'
import {
  type Asks,
  statusesOfAsked,
  stepsToAsk,
  stepsToCountAsked,
  stepToFindAsked,
} from '../tables/pending/pending.ts'
import { isHeld, stepsToNote, type Suspect } from '../tables/quarantine.ts'
import type { Tab, TabRequest, Tabs } from '../tables/tabs.ts'
import type { Step } from './connections.ts'
import type { PostgresDatabase } from './database.ts'
import { addingPlaced, listNames, listsOf, listTypes, placedPerson } from './new-signups.ts'
import { stepsToForgetOld } from './old-keys.ts'
import { resolveLostCommit } from './resolve-lost-commit.ts'

/**
 * Adds a group of requests. Its lists are: tabs by number, requests by number, and signups in order. A
 * request is left out when its key is known or its token is used, and a signup when its tab is not there.
 * The group has no key and no token twice.
 *
 * The statement comes behind the lock of the head, so it sees all that was committed before. LATERAL with
 * LIMIT looks each key up by itself: a plan from when a table was small must not read all of a large one.
 */
function appendSql(status: string): string {
  return `
    WITH request AS (
      SELECT * FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY
        AS given (key, fingerprint, token, no)
    ), known AS (
      SELECT no, kept.fingerprint, first_position AS first, last_position AS last, refused
      FROM request CROSS JOIN LATERAL (
        SELECT * FROM rollcall.idempotency_key WHERE site = $1 AND key = request.key LIMIT 1
      ) AS kept
    ), used AS (
      SELECT no FROM request
      WHERE EXISTS (SELECT 1 FROM rollcall.used_token WHERE digest = token LIMIT 1)
    ), tabs AS (
      SELECT no, tab.id, tab.key, tab.name
      FROM unnest($2::text[]) WITH ORDINALITY AS wanted (key, no)
      CROSS JOIN LATERAL (
        SELECT * FROM rollcall.tab WHERE site = $1 AND tab.key = wanted.key LIMIT 1
      ) AS tab
    ), item AS (
      SELECT given.*, tabs.id AS tab
      FROM unnest($6::integer[], $7::integer[], $8::boolean[], $9::integer[], ${listTypes(10)})
        WITH ORDINALITY AS given (request, tab_no, is_held, place, ${listNames}, no)
      LEFT JOIN tabs ON tabs.no = given.tab_no
      WHERE given.request NOT IN (SELECT no FROM known)
        AND given.request NOT IN (SELECT no FROM used)
    ), placed AS (
      SELECT item.*, head.position + row_number() OVER (ORDER BY no) AS position
      FROM item, rollcall.head WHERE item.tab IS NOT NULL
    ), ${addingPlaced(status, 'NOT is_held')}, taken AS (
      SELECT request, min(position) AS first, max(position) AS last, min(received_at) AS at
      FROM placed GROUP BY request
    ), kept AS (
      INSERT INTO rollcall.idempotency_key
        (site, key, fingerprint, first_position, last_position, refused, stored_at)
      SELECT $1, key, fingerprint, first, last, coalesce((
          SELECT '[' || string_agg(place::text, ',' ORDER BY place) || ']'
          FROM item WHERE item.request = request.no AND tab IS NULL
        ), ''), at
      FROM request JOIN taken ON taken.request = request.no WHERE key IS NOT NULL
    ), burned AS (
      INSERT INTO rollcall.used_token (digest, stored_at)
      SELECT token, at FROM request JOIN taken ON taken.request = request.no
      WHERE token IS NOT NULL
    )
    SELECT (SELECT position FROM rollcall.head) AS position,
      (SELECT json_agg(known) FROM known) AS known,
      (SELECT json_agg(no) FROM used) AS used,
      (SELECT json_agg(tabs) FROM tabs) AS tabs,
      (SELECT json_agg(position) FROM added WHERE row_status = ${rowStatus.none}) AS ignored`
}

const unlessHeld = (status: string) => `CASE WHEN is_held THEN ${rowStatus.held} ELSE ${status} END`

const placed = { person: placedPerson, tab: 'placed.tab', hash: 'placed.hash', site: '$1' }

const sql = statementsOf('postgres appends', (dialect) => ({
  append: appendSql(unlessHeld(String(rowStatus.wanted))),
  // The same person in the tab, or earlier in this group.
  appendOnce: appendSql(
    unlessHeld(`CASE WHEN row_number() OVER (PARTITION BY tab, hash, is_held ORDER BY position) > 1
      THEN ${rowStatus.none} ELSE ${statusOfNew(dialect, placed)} END`),
  ),
}))

/** What became of a request. */
type Outcome =
  | Exclude<Appended, { readonly kind: 'replayed' | 'mismatch' }>
  /** The request has this key. The signups of the first request with it are still to be read. */
  | (KnownKey & { readonly kind: 'known' })

/** A request as the database gets it: with hashes, because a key may be an address. */
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
    outcomes: (answers) => outcomesOf(answers[making.length]?.rows[0] ?? {}, group, site.tabs),
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

function hashed(request: AppendRequest, { secret, tabs }: IntakeSite): HashedRequest {
  const { signups, terms } = request
  const { idempotency, token, client } = terms
  return {
    ...request,
    tabs: tabs.namedBy(signups),
    at: timeOf(request),
    client,
    token,
    key: idempotency && keyHash(secret, idempotency),
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
  return [
    policy.duplicates === 'ignore' ? sql.appendOnce : sql.append,
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
  ]
}

/** As `Part.outcomes`. @param answer the one to `appendStep` */
function outcomesOf(
  answer: Row,
  group: readonly HashedRequest[],
  knownTabs: Tabs,
): readonly Outcome[] {
  const rows = (answer['known'] ?? []) as readonly (KnownKey & { readonly no: number })[]
  const known = new Map(rows.map((row) => [row.no, row]))
  const used = new Set((answer['used'] ?? []) as readonly number[])
  const ignored = new Set((answer['ignored'] ?? []) as readonly number[])
  const found = (answer['tabs'] ?? []) as readonly Tab[]
  knownTabs.learn(found)
  const names = new Map(found.map(({ key, name }) => [key, name]))
  let position = Number(answer['position'])
  return group.map(({ signups, tabs }, index): Outcome => {
    const earlier = known.get(index + 1)
    if (earlier) return { kind: 'known', ...earlier }
    if (used.has(index + 1)) return { kind: 'tokenUsed' }
    let duplicates = 0
    const results = signups.map(({ id, receivedAt }, place): SignupStatus | undefined => {
      const sheetTab = names.get(tabs[place]?.key ?? '')
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
      results: asks ? statusesOfAsked(signups, site.tabs) : results,
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
