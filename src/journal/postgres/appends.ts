import { addressHash, fingerprintHash, keyHash, type Secret } from '../hashes.ts'
import type { Appended, SignupStatus } from '../contracts/intake-log.ts'
import { keysKept, tokensKept } from '../kept-times.ts'
import type { AppendRequest, HashedRequest } from './append-request.ts'
import type { Step } from './database.ts'
import { openKey } from './default-tab.ts'
import { addingPlaced, listNames, listsOf, listTypes } from './new-signups.ts'
import type { PostgresSite } from './site.ts'
import { type Row, statementsOf } from './statement.ts'
import type { PostgresTabs } from './tabs.ts'

/**
 * Adds a group of requests. Its lists are: tabs by number, requests by number, and signups in order. A
 * request is left out when its key is known or its token is used, and a signup when its tab is not there.
 * The group has no key and no token twice. Nothing is added when the default tab has got its final name,
 * and the group does not know that ($3).
 *
 * The statement comes behind the lock of the head, so it sees all that was committed before. LATERAL with
 * LIMIT looks each key up by itself: a plan from when a table was small must not read all of a large one.
 */
function appendSql(isIgnored: string): string {
  return `
    WITH stale AS (
      SELECT 1 FROM rollcall.fact WHERE site = $1 AND name = $3
    ), request AS (
      SELECT * FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY
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
      SELECT no, tab.id, tab.name
      FROM unnest($2::text[]) WITH ORDINALITY AS wanted (key, no)
      CROSS JOIN LATERAL (
        SELECT * FROM rollcall.tab WHERE site = $1 AND tab.key = wanted.key LIMIT 1
      ) AS tab
    ), item AS (
      SELECT given.*, tabs.id AS tab
      FROM unnest($7::integer[], $8::integer[], $9::integer[], $10::text[], ${listTypes(11)})
        WITH ORDINALITY AS given (request, tab_no, place, hash, ${listNames}, no)
      LEFT JOIN tabs ON tabs.no = given.tab_no
      WHERE given.request NOT IN (SELECT no FROM known)
        AND given.request NOT IN (SELECT no FROM used)
        AND NOT EXISTS (SELECT 1 FROM stale)
    ), placed AS (
      SELECT item.*, head.position + row_number() OVER (ORDER BY no) AS position
      FROM item, rollcall.head WHERE item.tab IS NOT NULL
    ), ${addingPlaced(isIgnored)}, taken AS (
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
      EXISTS (SELECT 1 FROM stale) AS "isStale",
      (SELECT json_agg(known) FROM known) AS known,
      (SELECT json_agg(no) FROM used) AS used,
      (SELECT json_agg(tabs) FROM tabs) AS tabs,
      (SELECT json_agg(position) FROM added WHERE is_ignored = 1) AS ignored`
}

/**
 * Deletes what was stored more than $2 milliseconds before $1: the $3 oldest ones, and those of the same
 * millisecond. A machine's clock says $1. When that is ahead of the database's, the database's counts, so
 * it deletes nothing early that other machines have stored.
 */
function sweepSql(table: string): string {
  return `DELETE FROM ${table} WHERE stored_at <= (
    SELECT max(stored_at) FROM (
      SELECT stored_at FROM ${table} WHERE stored_at < (
        SELECT least($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) - $2::bigint
      ) ORDER BY stored_at LIMIT $3
    ) AS oldest)`
}

const sql = statementsOf('appends', {
  append: appendSql('0'),
  // The same address in the tab, after it was last forgotten; or earlier in this group.
  appendOnce: appendSql(`CASE WHEN EXISTS (
      SELECT 1 FROM rollcall.signup AS earlier
      WHERE lower(earlier.email COLLATE "C") = lower(placed.email COLLATE "C")
        -- The sums keep the database from reading the whole tab by another index.
        AND earlier.tab + 0 = placed.tab
        AND earlier.position + 0 > coalesce((
          SELECT upto FROM rollcall.tombstone WHERE site = $1 AND tombstone.hash = placed.hash), 0)
    ) OR EXISTS (
      SELECT 1 FROM rollcall.kept_address AS kept
      WHERE kept.tab = placed.tab AND kept.hash = placed.hash
    ) OR row_number() OVER (PARTITION BY tab, lower(email COLLATE "C") ORDER BY position) > 1
    THEN 1 ELSE 0 END`),
  sweepKeys: sweepSql('rollcall.idempotency_key'),
  sweepTokens: sweepSql('rollcall.used_token'),
})

/** What became of a request. */
export type Outcome = Exclude<Appended, { readonly kind: 'replayed' | 'mismatch' }> | KnownKey

/** The request has a key that the journal knows. The signups of the first request are still to be read. */
export interface KnownKey {
  readonly kind: 'known'
  readonly fingerprint: string
  readonly first: number
  readonly last: number
  /** A JSON array of indexes, or empty. */
  readonly refused: string
}

/** The statement that adds a group, and how to read its answer. */
export interface GroupAppend {
  readonly step: Step
  /** What became of each request; undefined when the default tab has got its name, so nothing was added. */
  readonly outcomes: (answer: Row) => readonly Outcome[] | undefined
}

export function hashed(request: AppendRequest, secret: Secret, tabs: PostgresTabs): HashedRequest {
  const { idempotency } = request.terms
  return {
    ...request,
    key: idempotency && keyHash(secret, idempotency),
    fingerprint: idempotency && fingerprintHash(secret, idempotency.fingerprint),
    tabs: request.signups.map(({ sheetTab }) => tabs.named(sheetTab)),
  }
}

/** Prepares to add a group of requests, in which no key and no token comes twice. */
export function groupAppend(
  { id, policy, secret, defaultTab }: PostgresSite,
  group: readonly HashedRequest[],
  tabs: PostgresTabs,
): GroupAppend {
  const ignores = policy.duplicates === 'ignore'
  const keys = [...new Set(group.flatMap(({ tabs }) => tabs.map(({ key }) => key)))]
  const items = group.flatMap(({ signups, tabs }, index) =>
    signups.map((signup, place) => ({
      ...signup,
      request: index + 1,
      place,
      tab: keys.indexOf(tabs[place]?.key ?? '') + 1,
    })),
  )
  const step: Step = [
    ignores ? sql.appendOnce : sql.append,
    id,
    keys,
    keys.includes(openKey) ? defaultTab.fact : null,
    group.map(({ key }) => key ?? null),
    group.map(({ fingerprint }) => fingerprint ?? null),
    group.map(({ terms }) => terms.token ?? null),
    items.map(({ request }) => request),
    items.map(({ tab }) => tab),
    items.map(({ place }) => place),
    items.map(({ email }) => (ignores ? addressHash(secret, email) : null)),
    ...listsOf(items),
  ]
  return { step, outcomes: (answer) => outcomesOf(answer, group, keys, tabs) }
}

function outcomesOf(
  answer: Row,
  group: readonly HashedRequest[],
  keys: readonly string[],
  knownTabs: PostgresTabs,
): readonly Outcome[] | undefined {
  if (answer['isStale'] === true) return undefined
  const rows = (answer['known'] ?? []) as readonly KnownRow[]
  const known = new Map(rows.map((row) => [row.no, row]))
  const used = new Set((answer['used'] ?? []) as readonly number[])
  const tabs = (answer['tabs'] ?? []) as readonly TabRow[]
  const ignored = new Set((answer['ignored'] ?? []) as readonly number[])
  const names = new Map(tabs.map(({ no, name }) => [keys[no - 1] ?? '', name]))
  knownTabs.learn(names.keys())
  let position = Number(answer['position'])
  return group.map(({ signups, tabs }, index): Outcome => {
    const found = known.get(index + 1)
    if (found) return { kind: 'known', ...found }
    if (used.has(index + 1)) return { kind: 'tokenUsed' }
    let duplicates = 0
    const results = signups.map(({ id, receivedAt }, place): SignupStatus | undefined => {
      const key = tabs[place]?.key ?? ''
      const sheetTab = names.get(key)
      if (sheetTab === undefined) return undefined
      position += 1
      if (ignored.has(position)) duplicates += 1
      const isTabOpen = key === openKey && { isTabOpen: true as const }
      return { id, sheetTab, receivedAt, position, ...isTabOpen }
    })
    return { kind: 'appended', results, ...(duplicates > 0 && { duplicates }) }
  })
}

/**
 * The statements that delete keys and tokens that are no longer needed: up to two for each one that the
 * group stores, so the tables shrink as they are used.
 */
export function stepsToSweep(group: readonly HashedRequest[]): readonly Step[] {
  const at = Math.max(0, ...group.map(({ signups }) => signups[0]?.receivedAt ?? 0))
  const keys = group.filter(({ key }) => key !== undefined).length
  const tokens = group.filter(({ terms }) => terms.token !== undefined).length
  const steps: Step[] = []
  if (keys > 0) steps.push([sql.sweepKeys, at, keysKept, 2 * keys])
  if (tokens > 0) steps.push([sql.sweepTokens, at, tokensKept, 2 * tokens])
  return steps
}

interface KnownRow extends Omit<KnownKey, 'kind'> {
  readonly no: number
}

interface TabRow {
  readonly no: number
  readonly name: string
}
