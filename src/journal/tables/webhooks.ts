import { day } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type {
  EndpointRecord,
  Settled,
  Together,
  WebhookLog,
  WebhookMessage,
  WebhookOutcome,
  WebhookType,
} from '../contracts/webhook-log.ts'
import {
  ask,
  flagOf,
  givenPositions,
  givenRows,
  headLock,
  numberOf,
  type Operation,
  type Row,
  rowOf,
  rowReader,
  siteLock,
  statementsOf,
  type Step,
} from '../sql.ts'
import type { ReadSite } from './facts.ts'
import { rowStatus } from './layout.ts'
import { idOf, recordColumns, toRecord } from './rows.ts'
import type { Site } from './site.ts'

/** At most how many messages are sent together, and how many failed are read. */
const [windowMax, failedAtOnce] = [10, 100]
/** How many positions one read looks at, of all sites. As many behind a cursor are counted one by one. */
const [readPositions, searchedPositions] = [1_000, 20_000]
/** For how long an endpoint is known that nobody follows, and a message that has failed. */
const [unfollowedMs, failedMs] = [day, 30 * day]

/** Whether its cells are gone, or go as soon as its batch has ended. */
const isErased = `(signup.email = ''
  OR EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position))`
/** Whether it is or was somebody's who counts: neither held nor a duplicate. Of erased ones nobody knows. */
const counts = `row_status <> ${rowStatus.held} AND (row_status <> ${rowStatus.none} OR ${isErased})`
const isSilent = `coalesce((SELECT after FROM silent WHERE silent.site = tab.site
  AND silent.upto >= signup.position ORDER BY silent.upto LIMIT 1), signup.position) < signup.position`

// SQLite plans a statement anew for each run whose limit is bound.
const most = (parameter: string) => `(SELECT CAST(${parameter} AS integer))`

const known = 'WHERE site = $1 AND key = $2'
const endpoint = `(SELECT id FROM endpoint ${known})`

const sql = statementsOf('webhooks', ({ given, signupAt, lastPosition }) => {
  const columns = `${recordColumns}, ${isErased} AS "isErased"`
  // CROSS JOIN keeps the order of the tables, so SQLite reads by position and not by tab.
  const behind = (select: string) => `SELECT ${select} FROM signup CROSS JOIN tab
    WHERE signup.position > $3 AND signup.position <= $4 AND tab.id = signup.tab AND tab.site = $1
      AND ${counts} AND NOT ${isSilent} AND NOT EXISTS (
        SELECT 1 FROM webhook_message AS own
        WHERE own.endpoint = ${endpoint} AND own.position = signup.position)`
  const own = (select: string) =>
    `SELECT ${select} FROM webhook_message AS own ${signupAt('own.position')}
     JOIN tab ON tab.id = signup.tab WHERE own.endpoint = ${endpoint}`
  const ownOf = (select: string) =>
    `(SELECT ${select} FROM webhook_message WHERE endpoint = endpoint.id AND next_at`
  return {
    follow: `INSERT INTO endpoint (id, site, key, began, cursor, seen_at)
             SELECT coalesce(max(id), 0) + 1, $1, $2, ${lastPosition}, ${lastPosition}, $3
             FROM endpoint WHERE true
             ON CONFLICT (site, key) DO UPDATE SET seen_at = excluded.seen_at`,
    dropOwn: `DELETE FROM webhook_message WHERE endpoint IN (
                SELECT id FROM endpoint WHERE site = $1 AND seen_at < $2)`,
    unfollow: 'DELETE FROM endpoint WHERE site = $1 AND seen_at < $2',
    dropFailed: `DELETE FROM webhook_message WHERE next_at IS NULL AND at < $2
                 AND endpoint IN (SELECT id FROM endpoint WHERE site = $1)`,
    record: `SELECT asked.no, cursor, taken_at AS "takenAt", failing_since AS "failingSince",
               disabled_at AS "disabledAt", reason, enabled, fixed_to AS "fixedTo", ${lastPosition} AS last,
               ${ownOf('min(next_at)')} IS NOT NULL) AS "dueAt",
               ${ownOf('count(*)')} > 0) AS waiting
             FROM ${given('asked', '$1', { no: 'integer', site: 'integer', key: 'text' })}
             JOIN endpoint ON endpoint.site = asked.site AND endpoint.key = asked.key`,
    places: `SELECT ${lastPosition} AS last, (SELECT count(*) FROM webhook_message
               WHERE endpoint = ${endpoint} AND next_at > 0) AS waiting`,
    behind: `${behind(columns)} ORDER BY signup.position LIMIT ${most('$5')}`,
    countBehind: behind('count(*) AS count, min(received_at) AS oldest'),
    due: `${own(`${columns}, own.tries`)} AND next_at <= $3
          ORDER BY next_at, own.position LIMIT ${most('$4')}`,
    move: `UPDATE endpoint SET cursor = $4, taken_at = coalesce($5, taken_at), fixed_to = $6
           ${known} AND cursor = $3 AND coalesce(fixed_to, -1) = $7`,
    note: `UPDATE endpoint SET failing_since = $3, disabled_at = $4, reason = $5 ${known}`,
    end: `DELETE FROM webhook_message
          WHERE endpoint = ${endpoint} AND position = $3 AND ($4 OR NOT is_erased)`,
    fail: `INSERT INTO webhook_message AS own (endpoint, position, tries, next_at, at, reason)
           SELECT id, $3, $5, $6, $7, $8 FROM endpoint ${known}
           ON CONFLICT (endpoint, position) DO UPDATE SET tries = excluded.tries,
             next_at = excluded.next_at, at = excluded.at, reason = excluded.reason
           WHERE $4 OR NOT own.is_erased`,
    failed: `${own('own.position, signup.id, tries, at, reason, is_erased AS "isErased"')}
             AND next_at IS NULL AND own.position > $3 ORDER BY own.position LIMIT ${failedAtOnce}`,
  }
})

const asked = statementsOf('webhooks asked', ({ id, given, signupAt }) => ({
  passed: `SELECT signup.id FROM ${given('asked', '$3', { id: 'text' })}
           ${signupAt(`(SELECT position FROM signup WHERE signup.id = ${id('asked.id')})`)}
           JOIN tab ON tab.id = signup.tab JOIN endpoint ON endpoint.site = tab.site
           WHERE tab.site = $1 AND endpoint.key = $2 AND signup.position > began
             AND signup.position <= cursor AND ${counts} AND NOT ${isSilent} AND NOT EXISTS (
               SELECT 1 FROM webhook_message AS own
               WHERE own.endpoint = endpoint.id AND own.position = signup.position)`,
  replay: `INSERT INTO webhook_message (endpoint, position, tries, next_at, at, reason, is_erased)
           SELECT ${endpoint}, signup.position, 0, 0, 0, '', ${isErased}
           FROM signup JOIN tab ON tab.id = signup.tab
           WHERE signup.id = ${id('$3')} AND tab.site = $1 AND ${counts} AND ${endpoint} IS NOT NULL
           ON CONFLICT (endpoint, position) DO UPDATE SET tries = 0, next_at = 0`,
  since: `SELECT min(signup.position) AS first FROM signup CROSS JOIN tab
          WHERE signup.position > $2 AND signup.position <= $3 AND tab.id = signup.tab
            AND tab.site = $1 AND coalesce(confirmed_at, received_at) >= $4`,
  enable: `UPDATE endpoint SET failing_since = NULL, disabled_at = NULL, reason = '', enabled = enabled + 1 ${known}`,
  hurry: `UPDATE webhook_message SET tries = 0, next_at = 0 WHERE endpoint = ${endpoint} AND next_at > 0`,
  moveBack: `UPDATE endpoint SET cursor = $3, fixed_to = NULL, began = CASE WHEN began < $3 THEN began ELSE $3 END
             ${known} AND cursor > $3`,
  // What has failed behind the cursor is sent like all others.
  dropFailedAgain: `DELETE FROM webhook_message WHERE endpoint = ${endpoint} AND position > $3
                    AND next_at IS NULL
                    AND position <= (SELECT cursor FROM endpoint WHERE id = ${endpoint})`,
  counts: `SELECT count(*) FILTER (WHERE next_at IS NULL) AS failed,
             count(*) FILTER (WHERE next_at IS NOT NULL) AS own, (
               SELECT received_at FROM signup WHERE position = (
                 SELECT min(position) FROM webhook_message
                 WHERE endpoint = ${endpoint} AND next_at IS NOT NULL)) AS oldest
           FROM webhook_message WHERE endpoint = ${endpoint}`,
}))

const telling = statementsOf('webhooks telling', ({ given, signupAt, lastPosition }) => ({
  // Also to endpoints that were never told of it: its id says nothing to them, and they may know it from elsewhere.
  tellErased: `INSERT INTO webhook_message (endpoint, position, tries, next_at, at, reason, is_erased)
               SELECT endpoint.id, signup.position, 0, 0, 0, '', true
               FROM ${given('given', '$2', { position: 'number' })} ${signupAt('given.position')}
               JOIN tab ON tab.id = signup.tab JOIN endpoint ON endpoint.site = $1
               WHERE row_status NOT IN (${rowStatus.none}, ${rowStatus.held})
               ON CONFLICT (endpoint, position) DO UPDATE
               SET is_erased = true, tries = 0, next_at = 0, reason = ''`,
  // A read that saw it in quarantine may still move the cursor over it, and begins up to 500 positions ahead of the
  // cursor. To be told twice is harmless.
  tellReleased: `INSERT INTO webhook_message (endpoint, position, tries, next_at, at, reason, is_erased)
                 SELECT endpoint.id, signup.position, 0, 0, 0, '', false
                 FROM ${given('given', '$2', { position: 'number' })} ${signupAt('given.position')}
                 JOIN endpoint ON endpoint.site = $1
                 WHERE row_status = ${rowStatus.wanted} AND signup.position <= cursor + ${2 * readPositions}
                 ON CONFLICT DO NOTHING`,
  beginSilence: `INSERT INTO silent (site, upto, after) SELECT $1, ${lastPosition}, ${lastPosition}
                 WHERE true ON CONFLICT DO NOTHING`,
  endSilence: `UPDATE silent SET upto = ${lastPosition}
               WHERE site = $1 AND upto = (SELECT max(upto) FROM silent WHERE site = $1)`,
}))

/** Positions of signups that are brought along are silent: no endpoint is told of them. Needs the lock of the head. */
export function stepsOfSilence(site: number): { readonly begin: Step; readonly end: Step } {
  return { begin: [telling.beginSilence, site], end: [telling.endSilence, site] }
}

/** To run in the transaction that erases these signups, while they have their cells. */
export function stepToTellErased(site: number, positions: readonly number[]): Step {
  return [telling.tellErased, site, givenPositions(positions)]
}

/** To run in the transaction that releases these signups. The cursor of an endpoint comes by the others. */
export function stepToTellReleased(site: number, positions: string): Step {
  return [telling.tellReleased, site, positions]
}

/** The webhooks of one site. */
export function webhooksOf(site: Pick<Site, 'db' | 'id'>): WebhookLog {
  const { db, id } = site
  return {
    follow: async (endpoints, now) => {
      await db.change(
        [headLock, siteLock(id)],
        ...endpoints.map((key): Step => [sql.follow, id, key, now]),
        [sql.dropOwn, id, now - unfollowedMs],
        [sql.unfollow, id, now - unfollowedMs],
        [sql.dropFailed, id, now - failedMs],
      )
    },
    endpoint: (key) => recordOf(site, key),
    next: (key, after, now, together) => next(site, key, after, now, together),
    // Signups would wait for the disk, and what it loses is sent once more. That has to be the same.
    settle: (key, settled) => {
      const isSynced = settled.fixedTo !== undefined
      return db.transact([siteLock(id)], () => settlingWindow(id, key, settled), { isSynced })
    },
    enable: async (key) => {
      await db.change([siteLock(id)], [asked.enable, id, key], [asked.hurry, id, key])
    },
    failed: async (key, position) => {
      const [{ rows }] = await db.query([sql.failed, id, key, position])
      return rows.map((row) => ({ ...toFailed(row), type: typeOf(row) }))
    },
    passed: async (key, ids) => {
      const [{ rows }] = await db.query([
        asked.passed,
        id,
        key,
        givenRows(ids.map((id) => ({ id }))),
      ])
      return rows.map((row) => idOf(row['id']))
    },
    replay: async (key, signup) => {
      const [{ changes }] = await db.change([siteLock(id)], [asked.replay, id, key, signup])
      return changes > 0
    },
    replaySince: (key, since) => replaySince(site, key, since),
    figures: (key) => webhookFigures(site, key),
  }
}

function typeOf(row: Row): WebhookType {
  return flagOf(row['isErased']) ? 'signup.erased' : 'signup.accepted'
}

function toMessage(row: Row): WebhookMessage {
  return { ...toRecord(row), type: typeOf(row) }
}

const toEndpoint = rowReader({
  ...{ cursor: Number, last: Number, reason: String, dueAt: numberOf, takenAt: numberOf },
  ...{ failingSince: numberOf, disabledAt: numberOf, fixedTo: numberOf },
  ...{ waiting: Number, enabled: Number },
})

const toFailed = rowReader({
  ...{ position: Number, id: idOf, tries: Number, at: Number, reason: String },
})

async function recordOf({ db, id }: ReadSite, key: string): Promise<EndpointRecord | undefined> {
  const [row] = await db.queryTogether(sql.record, { site: id, key })
  return row && toEndpoint(row)
}

async function next(
  { db, id }: ReadSite,
  key: string,
  after: number,
  now: Millis,
  together?: Together,
) {
  const { most = windowMax, fixedTo } = together ?? {}
  const end = Math.min(after + readPositions, fixedTo ?? Infinity)
  const [places, due, list] = await db.query(
    [sql.places, id, key],
    [sql.due, id, key, now, fixedTo === undefined ? most / 2 : 0],
    [sql.behind, id, key, after, end, most],
  )
  const [last, waiting] = [Number(rowOf(places)['last']), Number(rowOf(places)['waiting'])]
  const own = due.rows.map((row) => ({ ...toMessage(row), tries: Number(row['tries']) }))
  if (together && own.length > 0) return { messages: own, upto: after }
  const untried = own.filter(({ tries }) => tries === 0)
  const max = most - Math.min(waiting + untried.length, most - 1)
  const read = list.rows.slice(0, max).map(toMessage)
  const isAll = list.rows.length < most && list.rows.length <= max
  const upto = isAll ? Math.min(end, Math.max(after, last)) : (read.at(-1)?.position ?? after)
  return { messages: [...own, ...read], upto }
}

function* settlingWindow(id: number, key: string, settled: Settled): Operation<boolean> {
  const { from, to, outcomes, takenAt = null, fare, fixedFrom = -1, fixedTo = null } = settled
  const move: Step = [sql.move, id, key, from, to, takenAt, fixedTo, fixedFrom]
  const [{ changes }] = yield* ask(move)
  if (changes === 0) return false
  const steps = outcomes.map((one) => stepToNote(id, key, one))
  if (fare) {
    const { failingSince = null, disabledAt = null, reason } = fare
    steps.push([sql.note, id, key, failingSince, disabledAt, reason])
  }
  yield* ask(...steps)
  return true
}

/** When the signup was erased meanwhile, that is still to be told. */
function stepToNote(id: number, key: string, one: WebhookOutcome): Step {
  const which = [id, key, one.position, one.type === 'signup.erased'] as const
  if (one.kind === 'sent') return [sql.end, ...which]
  return [sql.fail, ...which, one.tries, one.nextAt ?? null, one.at, one.reason]
}

async function replaySince(site: ReadSite, key: string, since: Millis): Promise<number> {
  const { db, id } = site
  const { cursor = 0, last = 0 } = (await recordOf(site, key)) ?? {}
  const end = Math.min(cursor, last)
  for (let from = 0; from < end; from += searchedPositions) {
    const [found] = await db.query([asked.since, id, from, from + searchedPositions, since])
    const first = numberOf(rowOf(found)['first'])
    if (first === undefined) continue
    const [, { changes }] = await db.change(
      [siteLock(id)],
      [asked.dropFailedAgain, id, key, first - 1],
      [asked.moveBack, id, key, first - 1],
    )
    return changes > 0 ? cursor - first + 1 : 0
  }
  return 0
}

/** As `WebhookLog.figures`. */
export async function webhookFigures(site: ReadSite, key: string) {
  const record = await recordOf(site, key)
  if (!record) return undefined
  const { last, dueAt: _, fixedTo: __, ...figures } = record
  const [first, end] = [record.cursor, record.cursor + readPositions]
  const [owns, behind] = await site.db.query(
    [asked.counts, site.id, key],
    [sql.countBehind, site.id, key, first, end],
  )
  const { own, failed, oldest: oldestOwn = Infinity } = toCounts(rowOf(owns))
  const { count, oldest = Infinity } = toCounts(rowOf(behind))
  const waits = Math.min(oldest, oldestOwn)
  return {
    ...{ ...figures, failed, backlog: own + (last > end ? last - first : count) },
    oldest: waits === Infinity ? undefined : waits,
  }
}

const toCounts = rowReader({ count: Number, own: Number, failed: Number, oldest: numberOf })
