import { day } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type {
  AsideMessage,
  AsideOutcome,
  CursorMove,
  MessageSlice,
  WebhookFigures,
  WebhookLog,
  WebhookMessage,
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
import { isHeldKey } from './tabs.ts'

/** At most how many messages one read brings. */
const readAtOnce = 10
const dueAtOnce = 20
const failedAtOnce = 100
/** How many positions one read looks at, of all sites. As many behind a cursor are counted one by one. */
const [readPositions, searchedPositions] = [1_000, 20_000]
/** For how long an endpoint is known that nobody follows, and a message that was given up. */
const [unfollowedMs, failedMs] = [day, 30 * day]

/** Whether its cells are gone, or go as soon as its batch has ended. */
const isErased = `(signup.email = ''
  OR EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position))`
/** Whether it is or was somebody's who counts: neither held nor a duplicate. Of erased ones nobody knows. */
const counts = `NOT ${isHeldKey('tab.key')} AND (row_status <> ${rowStatus.none} OR ${isErased})`
const isSilent = `coalesce((SELECT after FROM silent WHERE silent.site = tab.site
  AND silent.upto >= signup.position ORDER BY silent.upto LIMIT 1), signup.position) < signup.position`

const sql = statementsOf('webhooks', (dialect) => {
  const { id, given, signupAt, lastPosition } = dialect
  const endpoint = '(SELECT id FROM endpoint WHERE site = $1 AND key = $2)'
  const known = 'WHERE site = $1 AND key = $2'
  const columns = `${recordColumns}, ${isErased} AS "isErased"`
  // CROSS JOIN keeps the order of the tables, so SQLite reads by position and not by tab.
  const behind = (select: string) => `SELECT ${select} FROM signup CROSS JOIN tab
    WHERE signup.position > $3 AND signup.position <= $4 AND tab.id = signup.tab AND tab.site = $1
      AND ${counts} AND NOT ${isSilent} AND NOT EXISTS (
        SELECT 1 FROM aside WHERE endpoint = ${endpoint} AND aside.position = signup.position AND is_erased)`
  const aside = (select: string) =>
    `SELECT ${select} FROM aside ${signupAt('aside.position')} JOIN tab ON tab.id = signup.tab
     WHERE aside.endpoint = ${endpoint}`
  return {
    follow: `INSERT INTO endpoint (id, site, key, began, cursor, seen_at)
             SELECT coalesce(max(id), 0) + 1, $1, $2, ${lastPosition}, ${lastPosition}, $3
             FROM endpoint WHERE true
             ON CONFLICT (site, key) DO UPDATE SET seen_at = excluded.seen_at`,
    dropAside: `DELETE FROM aside WHERE endpoint IN (
                  SELECT id FROM endpoint WHERE site = $1 AND seen_at < $2)`,
    unfollow: 'DELETE FROM endpoint WHERE site = $1 AND seen_at < $2',
    dropFailed: `DELETE FROM aside WHERE next_at IS NULL AND at < $2
                 AND endpoint IN (SELECT id FROM endpoint WHERE site = $1)`,
    record: `SELECT cursor, failing_since AS "failingSince", halted_at AS "haltedAt",
               disabled_at AS "disabledAt", reason, (
                 SELECT count(*) FROM aside
                 WHERE endpoint = endpoint.id AND next_at IS NOT NULL AND tries > 0) AS aside
             FROM endpoint ${known}`,
    last: `SELECT ${lastPosition} AS last`,
    behind: `${behind(columns)} ORDER BY signup.position LIMIT ${readAtOnce}`,
    countBehind: behind('count(*) AS count, min(received_at) AS at'),
    move: `UPDATE endpoint SET cursor = $4 ${known} AND cursor = $3`,
    due: `${aside(`${columns}, aside.tries`)} AND next_at <= $3 ORDER BY next_at LIMIT ${dueAtOnce}`,
    end: `DELETE FROM aside WHERE endpoint = ${endpoint} AND position = $3 AND ($4 OR NOT is_erased)`,
    fail: `INSERT INTO aside (endpoint, position, tries, next_at, at, reason)
           SELECT id, $3, $5, $6, $7, $8 FROM endpoint ${known}
           ON CONFLICT (endpoint, position) DO UPDATE SET tries = excluded.tries,
             next_at = excluded.next_at, at = excluded.at, reason = excluded.reason
           WHERE $4 OR NOT aside.is_erased`,
    note: `UPDATE endpoint SET failing_since = $3, halted_at = $4, disabled_at = $5, reason = $6 ${known}`,
    failed: `${aside('aside.position, signup.id, tries, at, reason, is_erased AS "isErased"')}
             AND next_at IS NULL AND aside.position > $3 ORDER BY aside.position LIMIT ${failedAtOnce}`,
    passed: `SELECT signup.id FROM ${given('asked', '$3', { id: 'text' })}
             ${signupAt(`(SELECT position FROM signup WHERE signup.id = ${id('asked.id')})`)}
             JOIN tab ON tab.id = signup.tab JOIN endpoint ON endpoint.site = tab.site
             WHERE tab.site = $1 AND endpoint.key = $2 AND signup.position > began
               AND signup.position <= cursor AND ${counts} AND NOT ${isSilent} AND NOT EXISTS (
                 SELECT 1 FROM aside WHERE endpoint = endpoint.id AND aside.position = signup.position)`,
    replay: `INSERT INTO aside (endpoint, position, tries, next_at, at, reason, is_erased)
             SELECT ${endpoint}, signup.position, 0, 0, 0, '', ${isErased}
             FROM signup JOIN tab ON tab.id = signup.tab
             WHERE signup.id = ${id('$3')} AND tab.site = $1 AND ${counts} AND ${endpoint} IS NOT NULL
             ON CONFLICT (endpoint, position) DO UPDATE SET tries = 0, next_at = 0`,
    since: `SELECT min(signup.position) AS first FROM signup CROSS JOIN tab
            WHERE signup.position > $2 AND signup.position <= $3 AND tab.id = signup.tab
              AND tab.site = $1 AND coalesce(confirmed_at, received_at) >= $4`,
    hurry: `UPDATE aside SET next_at = 0 WHERE endpoint = ${endpoint} AND next_at > 0`,
    moveBack: `UPDATE endpoint SET cursor = $3, began = CASE WHEN began < $3 THEN began ELSE $3 END
               ${known} AND cursor > $3`,
    // What was given up behind the cursor is sent like all others, and set aside when it fails.
    dropGivenUp: `DELETE FROM aside WHERE endpoint = ${endpoint} AND position > $3 AND next_at IS NULL
                  AND position <= (SELECT cursor FROM endpoint WHERE id = ${endpoint})`,
    counts: `SELECT count(*) FILTER (WHERE next_at IS NULL) AS failed,
               count(*) FILTER (WHERE next_at IS NOT NULL) AS waiting,
               min(CASE WHEN next_at IS NOT NULL THEN position END) AS first
             FROM aside WHERE endpoint = ${endpoint}`,
    receivedAt: 'SELECT received_at AS at FROM signup WHERE position = $1',
  }
})

const telling = statementsOf('webhooks telling', ({ given, signupAt, lastPosition }) => ({
  // Also to endpoints that were never told of it: its id says nothing to them, and they may know it from elsewhere.
  tellErased: `INSERT INTO aside (endpoint, position, tries, next_at, at, reason, is_erased)
               SELECT endpoint.id, signup.position, 0, 0, 0, '', true
               FROM ${given('given', '$2', { position: 'number' })} ${signupAt('given.position')}
               JOIN tab ON tab.id = signup.tab JOIN endpoint ON endpoint.site = $1
               WHERE row_status <> ${rowStatus.none} AND NOT ${isHeldKey('tab.key')}
               ON CONFLICT (endpoint, position) DO UPDATE
               SET is_erased = true, tries = 0, next_at = 0, reason = ''`,
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

/** The webhooks of one site. */
export function webhooksOf(site: Pick<Site, 'db' | 'id'>): WebhookLog {
  const { db, id } = site
  const change = (...steps: readonly Step[]) => db.change([siteLock(id)], ...steps)
  // Signups would wait for the disk, and what it loses is sent once more.
  const soon = <T>(operation: () => Operation<T>) =>
    db.transact([siteLock(id)], operation, { isSynced: false })
  return {
    follow: async (endpoints, now) => {
      await db.change(
        [headLock, siteLock(id)],
        ...endpoints.map((key): Step => [sql.follow, id, key, now]),
        [sql.dropAside, id, now - unfollowedMs],
        [sql.unfollow, id, now - unfollowedMs],
        [sql.dropFailed, id, now - failedMs],
      )
    },
    endpoint: async (key) => {
      const [{ rows }] = await db.query([sql.record, id, key])
      return rows.map(toEndpoint)[0]
    },
    after: (key, position, max) => after(site, key, position, max),
    advance: (key, move) => soon(() => advancing(id, key, move)),
    due: async (key, now) => {
      const [{ rows }] = await db.query([sql.due, id, key, Math.min(now, Number.MAX_SAFE_INTEGER)])
      return rows.map((row): AsideMessage => ({ ...toMessage(row), tries: Number(row['tries']) }))
    },
    settle: async (key, outcomes) => {
      await soon(() => ask(...outcomes.map((one) => stepToSettle(id, key, one))))
    },
    note: async (key, { failingSince, haltedAt, disabledAt, reason }) => {
      const times = [failingSince ?? null, haltedAt ?? null, disabledAt ?? null] as const
      await change([sql.note, id, key, ...times, reason])
    },
    enable: async (key) => {
      await change([sql.note, id, key, null, null, null, ''], [sql.hurry, id, key])
    },
    failed: async (key, position) => {
      const [{ rows }] = await db.query([sql.failed, id, key, position])
      return rows.map((row) => ({ ...toFailed(row), type: typeOf(row) }))
    },
    passed: async (key, ids) => {
      const [{ rows }] = await db.query([sql.passed, id, key, givenRows(ids.map((id) => ({ id })))])
      return rows.map((row) => idOf(row['id']))
    },
    replay: async (key, signup) => {
      const [{ changes }] = await db.change([siteLock(id)], [sql.replay, id, key, signup])
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
  ...{ cursor: Number, aside: Number, reason: String },
  ...{ failingSince: numberOf, haltedAt: numberOf, disabledAt: numberOf },
})

const toFailed = rowReader({
  ...{ position: Number, id: idOf, tries: Number, at: Number, reason: String },
})

async function after(
  { db, id }: ReadSite,
  key: string,
  position: number,
  max: number,
): Promise<MessageSlice> {
  const end = position + readPositions
  const [last, { rows }] = await db.query([sql.last], [sql.behind, id, key, position, end])
  const messages = rows.slice(0, max).map(toMessage)
  const isAll = rows.length < readAtOnce && rows.length <= max
  const upto = Math.min(end, Math.max(position, Number(rowOf(last)['last'])))
  return { messages, upto: isAll ? upto : (messages.at(-1)?.position ?? position) }
}

/** When the signup was erased meanwhile, that is still to be told. */
function stepToSettle(id: number, key: string, one: AsideOutcome): Step {
  const which = [id, key, one.position, one.type === 'signup.erased'] as const
  if (one.isSent) return [sql.end, ...which]
  return [sql.fail, ...which, one.tries, one.nextAt ?? null, one.at, one.reason]
}

function* advancing(id: number, key: string, { from, to, aside }: CursorMove): Operation<boolean> {
  const [{ changes }] = yield* ask([sql.move, id, key, from, to])
  if (changes === 0) return false
  yield* ask(...aside.map((one) => stepToSettle(id, key, one)))
  return true
}

async function replaySince(
  { db, id }: Pick<Site, 'db' | 'id'>,
  key: string,
  since: Millis,
): Promise<number> {
  const [{ rows }, record] = await db.query([sql.last], [sql.record, id, key])
  const cursor = record.rows.map(toEndpoint)[0]?.cursor ?? 0
  const last = Math.min(cursor, Number(rowOf({ rows })['last']))
  for (let from = 0; from < last; from += searchedPositions) {
    const [found] = await db.query([sql.since, id, from, from + searchedPositions, since])
    const first = numberOf(rowOf(found)['first'])
    if (first === undefined) continue
    const [, { changes }] = await db.change(
      [siteLock(id)],
      [sql.dropGivenUp, id, key, first - 1],
      [sql.moveBack, id, key, first - 1],
    )
    return changes > 0 ? cursor - first + 1 : 0
  }
  return 0
}

/** As `WebhookLog.figures`. */
export async function webhookFigures(
  site: ReadSite,
  key: string,
): Promise<WebhookFigures | undefined> {
  const { db, id } = site
  const [{ rows }, asides, lasts] = await db.query(
    [sql.record, id, key],
    [sql.counts, id, key],
    [sql.last],
  )
  const [record] = rows.map(toEndpoint)
  if (!record) return undefined
  const { waiting, failed, first } = toCounts(rowOf(asides))
  const behind = Number(rowOf(lasts)['last']) - record.cursor
  const [counted, firstAside] = await db.query(
    [sql.countBehind, id, key, record.cursor, record.cursor + readPositions],
    [sql.receivedAt, first ?? 0],
  )
  const times = [...counted.rows, ...firstAside.rows].flatMap(({ at }) => numberOf(at) ?? [])
  return {
    ...record,
    failed,
    backlog: waiting + (behind > readPositions ? behind : Number(rowOf(counted)['count'])),
    oldest: times.length === 0 ? undefined : Math.min(...times),
  }
}

const toCounts = rowReader({ waiting: Number, failed: Number, first: numberOf })
