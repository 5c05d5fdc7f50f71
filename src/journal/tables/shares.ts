import { day } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Share } from '../contracts/reader.ts'
import {
  ask,
  type Database,
  type Lock,
  type Operation,
  reading,
  statementsOf,
  type Step,
} from '../sql.ts'
import { getFact, type ReadSite, setFact } from './facts.ts'
import { rowStatus } from './layout.ts'
import { findLast, positionIn } from './rows.ts'
import { adding, allTime } from './tally.ts'

/** How many positions one transaction counts. That stops SQLite's process for 2 ms, or 10 ms when all differ. */
const slicePositions = 1000
/** How many names a site keeps of a kind: the first ones. */
const namesMax = 100
/** Longer sources are counted as others, as are those that may be an address: nobody could have it forgotten. */
const sourceMax = 64

/** No site has the id 0. */
const [noSite, cursorFact] = [0, 'counted by day']
/** So that no two instances count the same signups. */
export const countLock: Lock = { of: 'account', account: 'counts by day' }

const kinds = ['tab', 'tab+', 'source', 'source+'] as const

const sql = statementsOf('shares', {
  // CROSS JOIN keeps the order of the tables, so SQLite reads by position and not by tab.
  count: adding(`
    WITH slice AS (
      SELECT tab.site, tab.name AS tab, source, received_at / ${day} * ${day} AS day, position
      FROM signup CROSS JOIN tab
      WHERE position > $1 AND position <= $2 AND tab.id = signup.tab
        AND row_status <> ${rowStatus.held}
    ), counted AS (
      SELECT site, 'tab' AS what, tab AS name, day, count(*) AS count, min(position) AS first
      FROM slice GROUP BY site, tab, day
      UNION ALL
      SELECT site, 'source', source, day, count(*), min(position) FROM slice GROUP BY site, source, day
    ), candidate AS (
      SELECT site, what, name, first FROM counted
      WHERE what = 'tab' OR (length(name) <= ${sourceMax} AND name NOT LIKE '%@%')
      UNION ALL
      SELECT site.id, what, tally.name, 0 FROM site CROSS JOIN tally
      WHERE tally.site = site.id AND what IN ('tab', 'source') AND slot = ${allTime}
    ), kept AS (
      SELECT site, what, name, row_number() OVER (PARTITION BY site, what ORDER BY min(first)) AS place
      FROM candidate GROUP BY site, what, name
    )
    SELECT counted.site, CASE WHEN kept.name IS NULL THEN counted.what || '+' ELSE counted.what END,
      CASE span WHEN 1 THEN day ELSE ${allTime} END, coalesce(kept.name, ''), sum(count)
    FROM counted CROSS JOIN (SELECT 1 AS span UNION ALL SELECT 2) AS spans
    LEFT JOIN kept ON kept.site = counted.site AND kept.what = counted.what AND kept.name = counted.name
      AND place <= ${namesMax}
    WHERE true GROUP BY 1, 2, 3, 4`),
  // By name only, as to sort by more takes twice as long: a view of 90 days adds up 18,000 counts.
  sums: `SELECT name, sum(count) AS count FROM tally
         WHERE site = $1 AND what = $2 AND slot BETWEEN $3 AND $4 GROUP BY name`,
})

/** As `OpenJournal.countNext`. What a crash takes back, the cursor included, is counted again. */
export async function countNext(db: Database): Promise<boolean> {
  const { after, end } = await reading(db, nextSlice())
  return after < end && (await db.transact([countLock], counting, { isSynced: false }))
}

function* nextSlice(): Operation<{ readonly after: number; readonly end: number }> {
  const [cursor, last] = yield* ask(getFact(noSite, cursorFact), findLast)
  return { after: Number(cursor.rows[0]?.['value'] ?? 0), end: positionIn(last) }
}

/** Counts signups that were released behind the cursor. It needs `countLock`. */
export function* countingReleased(positions: readonly number[]): Operation<void> {
  const { after } = yield* nextSlice()
  yield positions
    .filter((position) => position <= after)
    .map((position): Step => [sql.count, position - 1, position])
}

function* counting(): Operation<boolean> {
  const { after, end } = yield* nextSlice()
  const upto = Math.min(after + slicePositions, end)
  if (upto <= after) return false
  yield* ask([sql.count, after, upto], setFact(noSite, cursorFact, String(upto)))
  return upto < end
}

/** As `Reader.shares`. */
export async function sharesOf(
  { db, id }: ReadSite,
  from: Millis = allTime,
  to: Millis = allTime,
): Promise<readonly Share[]> {
  const begin = from === allTime ? from : from - (from % day)
  const answers = await db.query(...kinds.map((kind): Step => [sql.sums, id, kind, begin, to]))
  const shares = kinds.flatMap((what, index) => {
    const kind = what.startsWith('tab') ? 'tab' : 'source'
    return (answers[index]?.rows ?? []).map(({ name, count }): Share => {
      return { kind, name: what.endsWith('+') ? undefined : String(name), count: Number(count) }
    })
  })
  return shares.toSorted((one, other) => other.count - one.count)
}
