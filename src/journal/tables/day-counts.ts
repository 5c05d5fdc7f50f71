import { day } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Share } from '../contracts/reader.ts'
import { ask, type Database, type Lock, type Operation } from '../sql.ts'
import { rowOf, rowReader, statementsOf, textOf } from '../sql.ts'
import { getFact, type ReadSite, setFact } from './facts.ts'
import { allHours as allDays } from './layout.ts'
import { isHeldKey } from './tabs.ts'

/** How many positions one transaction counts. That stops SQLite's process for 2 ms, or 10 ms when all differ. */
const slicePositions = 1000
/** How many names a site keeps of a kind: the first ones. */
const namesMax = 100
/** Longer sources are counted as others, as are those that may be an address: nobody could have it forgotten. */
const sourceMax = 64

/** No site has the id 0. */
const [noSite, cursorFact] = [0, 'counted by day']
/** So that no two instances count the same signups. */
const countLock: Lock = { of: 'account', account: 'counts by day' }

const kinds = ['tab', 'tab+', 'source', 'source+'] as const
/** By name only: to sort by two texts takes twice as long. */
const sumsOf = (kind: (typeof kinds)[number]) =>
  `SELECT '${kind}' AS kind, name, sum(count) AS count FROM day_count
   WHERE site = $1 AND kind = '${kind}' AND day BETWEEN $2 AND $3 GROUP BY name`

const sql = statementsOf('day counts', ({ lastPosition }) => ({
  last: `SELECT ${lastPosition} AS position`,
  // CROSS JOIN keeps the order of the tables, so SQLite reads by position and not by tab.
  count: `
    WITH slice AS (
      SELECT tab.site, tab.id AS tab, source, received_at / ${day} AS day, position
      FROM signup CROSS JOIN tab
      WHERE position > $1 AND position <= $2 AND tab.id = signup.tab AND NOT ${isHeldKey('tab.key')}
    ), counted AS (
      SELECT site, 'tab' AS kind, CAST(tab AS text) AS name, day, count(*) AS count, min(position) AS first
      FROM slice GROUP BY site, tab, day
      UNION ALL
      SELECT site, 'source', source, day, count(*), min(position) FROM slice GROUP BY site, source, day
    ), candidate AS (
      SELECT site, kind, name, first FROM counted
      WHERE kind = 'tab' OR (length(name) <= ${sourceMax} AND name NOT LIKE '%@%')
      UNION ALL
      SELECT site.id, kind, day_count.name, 0 FROM site CROSS JOIN day_count
      WHERE day_count.site = site.id AND kind IN ('tab', 'source') AND day = ${allDays}
    ), kept AS (
      SELECT site, kind, name, row_number() OVER (PARTITION BY site, kind ORDER BY min(first)) AS place
      FROM candidate GROUP BY site, kind, name
    )
    INSERT INTO day_count AS known (site, kind, day, name, count)
    SELECT counted.site, CASE WHEN kept.name IS NULL THEN counted.kind || '+' ELSE counted.kind END,
      CASE span WHEN 1 THEN day ELSE ${allDays} END, coalesce(kept.name, '0'), sum(count)
    FROM counted CROSS JOIN (SELECT 1 AS span UNION ALL SELECT 2) AS spans
    LEFT JOIN kept ON kept.site = counted.site AND kept.kind = counted.kind AND kept.name = counted.name
      AND place <= ${namesMax}
    WHERE true GROUP BY 1, 2, 3, 4
    ON CONFLICT (site, kind, day, name) DO UPDATE SET count = known.count + excluded.count`,
  // The default tab may have got its name since it was counted. No tab has the id 0, which others have.
  shares: `SELECT kind, CASE kind WHEN 'source' THEN sums.name ELSE tab.name END AS name, count
           FROM (${kinds.map(sumsOf).join(' UNION ALL ')}) AS sums
           LEFT JOIN tab ON tab.id = CASE kind WHEN 'tab' THEN CAST(sums.name AS integer) END
           ORDER BY count DESC`,
}))

/** As `OpenJournal.countNext`. What a crash takes back, the cursor included, is counted again. */
export function countNext(db: Database): Promise<boolean> {
  return db.transact([countLock], counting, { isSynced: false })
}

function* counting(): Operation<boolean> {
  const [cursor, last] = yield* ask(getFact(noSite, cursorFact), [sql.last])
  const after = Number(cursor.rows[0]?.['value'] ?? 0)
  const end = Number(rowOf(last)['position'])
  const upto = Math.min(after + slicePositions, end)
  if (upto <= after) return false
  yield* ask([sql.count, after, upto], setFact(noSite, cursorFact, String(upto)))
  return upto < end
}

/** As `Reader.shares`. */
export async function sharesOf({ db, id }: ReadSite, from: Millis, to: Millis) {
  const [{ rows }] = await db.query([sql.shares, id, Math.floor(from / day), Math.floor(to / day)])
  return rows.map(toShare)
}

const toShare = rowReader({
  kind: (kind): Share['kind'] => (String(kind).startsWith('tab') ? 'tab' : 'source'),
  ...{ name: textOf, count: Number },
})
